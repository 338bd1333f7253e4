"""The graph that made a data set, and which of its statements a model's rows break."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bench.leaderboard import text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing, label_width, shorten
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView

NAME, HEIGHT, LAYER, GAP, TOP = 16, 22.0, 74.0, 12.0, 58.0
PER_ROW = 8  # nodes; wider layers take several rows
MOST_NODES, MOST_EDGES, MOST_FALSE = 80, 500, 15
BEND = 60.0  # pixels, of a curve at most; it rises half as far
Pair = tuple[str, str]
Place = tuple[float, float]
Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Graph:
    nodes: tuple[str, ...]
    edges: tuple[Pair, ...]

    def layers(self) -> list[list[str]]:
        """Nodes by the length of the longest path to them; a cycle, which no graph of ours has, ends after a while."""
        depth = dict.fromkeys(self.nodes, 0)
        for _ in self.nodes:
            deeper = {c: max(depth[c], depth[p] + 1) for p, c in self.edges if depth[p] + 1 > depth[c]}
            if not deeper or max(deeper.values()) >= len(self.nodes):
                break
            depth |= deeper
        found = [[n for n in self.nodes if depth[n] == d] for d in sorted(set(depth.values()))]
        return self._untangled(found)

    def _untangled(self, layers: list[list[str]]) -> list[list[str]]:
        """Each layer in the order of the mean place of its neighbours, there and back a few times."""
        parents: dict[str, list[str]] = {n: [] for n in self.nodes}
        children: dict[str, list[str]] = {n: [] for n in self.nodes}
        for parent, child in self.edges:
            parents[child].append(parent)
            children[parent].append(child)
        for sweep in range(4):
            near = parents if sweep % 2 == 0 else children
            place = {n: (i + 0.5) / len(layer) for layer in layers for i, n in enumerate(layer)}
            for layer in layers if sweep % 2 == 0 else reversed(layers):
                means = {n: _mean([place[m] for m in near[n]], place[n]) for n in layer}
                layer.sort(key=lambda n: means[n])
                place |= {n: (i + 0.5) / len(layer) for i, n in enumerate(layer)}
        return layers


def statements(dataset: DatasetView, line: Line, edges: Records, broken: Records) -> Figure | None:
    """The graph of `edges` with the statements in `broken` marked; None if the records hold no graph."""
    graph = _graph(edges)
    if not graph.edges or len(graph.nodes) > MOST_NODES or len(graph.edges) > MOST_EDGES:
        return None
    usable = [r for r in broken if {_name(r.get("first")), _name(r.get("second"))} <= set(graph.nodes)]
    lost = {_pair(r) for r in usable if r.get("kind") == "dependence"}
    false = [r for r in usable if r.get("kind") == "independence"]
    drawn = sorted(false, key=lambda r: float(r["p_value"]))[:MOST_FALSE]
    more = f" ({len(drawn)} clearest of them drawn)" if len(false) > len(drawn) else ""
    title = f"Statements of the graph broken by {line.title}, {dataset.title}"
    return Figure(
        id=f"graph-{dataset.slug}",
        title=title,
        caption=f"The graph that made the data, first repeat. Lost: {len(lost & set(graph.edges))} of "
        f"{len(graph.edges)} edges, whose dependence a test at level 0.01 does not find in the synthetic rows. "
        f"False: {len(false)} pairs of columns{more} that the graph makes independent, given the parents of the later "
        "one, and that the test finds dependent; in fresh real rows one pair in a hundred is.",
        svg=_draw(graph, lost, {_pair(r) for r in drawn}, title),
        table=DataTable(
            head=("Statement", "What is broken", "p"),
            rows=tuple(
                (text.visible(str(r.get("statement")), 200), _WORDS[str(r["kind"])], f"{r['p_value']:.3g}")
                for r in usable
                if r.get("kind") in _WORDS
            )[:200],
        ),
    )


_WORDS = {"dependence": "lost dependence", "independence": "false dependence"}


def _graph(records: Records) -> _Graph:
    pairs = [(r.get("parent"), r.get("child")) for r in records if r.get("child") is not None]
    edges = dict.fromkeys((_name(p), _name(c)) for p, c in pairs if p is not None and p != c)
    nodes = dict.fromkeys(_name(n) for pair in pairs for n in pair if n is not None)
    return _Graph(tuple(nodes), tuple(edges))


def _draw(graph: _Graph, lost: set[Pair], false: set[Pair], title: str) -> Markup:
    width = 1.15 * label_width([shorten(n, NAME) for n in graph.nodes]) + 16  # capitals are wide
    rows = [part for layer in graph.layers() for part in _split(layer)]
    across = max(760.0, max(map(len, rows)) * (width + GAP))
    at: dict[str, Place] = {}
    for i, row in enumerate(rows):
        for j, node in enumerate(row):
            at[node] = across * (j + 0.5) / len(row), TOP + i * LAYER + HEIGHT / 2
    drawing = Drawing(across, TOP + len(rows) * LAYER - (LAYER - HEIGHT) + 12, title)
    _legend(drawing)
    for first, second in sorted(false):
        drawing.path(_arc(at[first], at[second]), "c2")
    for parent, child in graph.edges:
        _arrow(drawing, at[parent], at[child], "target" if (parent, child) in lost else "lead")
    for node, (x, y) in at.items():
        drawing.rect(x - width / 2, y - HEIGHT / 2, width, HEIGHT, "node")
        drawing.label(x, y + 4.5, shorten(node, NAME), "", "middle")
    return drawing.finish()


def _legend(drawing: Drawing) -> None:
    for x, style, words in ((0, "lead", "kept"), (110, "target", "lost"), (220, "c2", "false dependence")):
        drawing.path(f"M{x} 12L{x + 34} 12", style)
        drawing.label(x + 42, 16, words, "soft")


def _arrow(drawing: Drawing, start: Place, end: Place, style: str) -> None:
    """From the lower edge of one box to the upper edge of another, with an open head."""
    (x1, y1), (x2, y2) = (start[0], start[1] + HEIGHT / 2), (end[0], end[1] - HEIGHT / 2)
    drawing.line(x1, y1, x2, y2, style)
    angle = math.atan2(y2 - y1, x2 - x1)
    for side in (-0.4, 0.4):
        drawing.line(x2, y2, x2 - 8 * math.cos(angle + side), y2 - 8 * math.sin(angle + side), style)


def _arc(start: Place, end: Place) -> str:
    """A curve that passes beside the straight edges."""
    (x1, y1), (x2, y2) = start, end
    dx, dy = x2 - x1, y2 - y1
    bend = min(0.3, BEND / max(1.0, math.hypot(dx, dy)))
    x, y = (x1 + x2) / 2 - bend * dy, (y1 + y2) / 2 + bend * dx
    return f"M{x1:.1f} {y1:.1f}Q{x:.1f} {y:.1f} {x2:.1f} {y2:.1f}"


def _split(layer: Sequence[str]) -> list[list[str]]:
    """A layer as rows of about equal length, neighbours kept near each other."""
    count = -(-len(layer) // PER_ROW)
    return [list(layer[i::count]) for i in range(count)]


def _name(value: Any) -> str:
    return text.visible(str(value), 40)


def _pair(record: Mapping[str, Any]) -> Pair:
    return _name(record.get("first")), _name(record.get("second"))


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default
