"""A scatter of models: two metrics, intervals both ways, a name beside every point that has room for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.leaderboard import cells, text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line, Role
from bench.leaderboard.task_view import DatasetView

WIDTH, HEIGHT = 900.0, 360.0  # assumed size of the drawing in pixels, for placing names
_CHAR, _LINE = 6.5, 15.0
WIDE = 100.0  # an axis whose values range over more than this factor is compressed
_STYLES: dict[Role, tuple[str, str, str]] = {
    "contender": ("models", "--series-1", "circle"),
    "baseline": ("baselines", "--series-2", "diamond"),
    "bound": ("upper bound", "--series-3", "square"),
}


@dataclass(frozen=True, slots=True)
class AxisOf:
    """A metric on an axis."""

    metric: str
    title: str


@dataclass(frozen=True, slots=True)
class Point:
    """A model between two metrics; both estimates have a mean."""

    line: Line
    x: Estimate
    y: Estimate


@dataclass(frozen=True, slots=True)
class _Scale:
    """Positions on an axis: v itself, or log10(1 + v / unit), which keeps 0 on the page."""

    unit: float = 0.0

    def at(self, value: float) -> float:
        return math.log10(1 + max(0.0, value) / self.unit) if self.unit else value

    def ticks(self, values: Sequence[float]) -> dict[str, Any]:
        if not self.unit:
            return {}
        top = math.ceil(math.log10(max(values)))
        shown = [0.0, *(10.0**e for e in range(math.floor(math.log10(self.unit)), top + 1))]
        return {"tickvals": [self.at(v) for v in shown], "ticktext": [f"{v:g}" for v in shown]}


def scatter(
    dataset: DatasetView,
    *,
    figure_id: str,
    title: str,
    caption: str,
    x: AxisOf,
    y: AxisOf,
    target: tuple[float, float] | None = None,
) -> Figure | None:
    """The figure; None if no model has both metrics. `target` is marked with a cross."""
    points = [
        Point(line, x_estimate, y_estimate)
        for line in dataset.lines
        if line.limit is None
        and (x_estimate := dataset.estimate(line, x.metric)).mean is not None
        and (y_estimate := dataset.estimate(line, y.metric)).mean is not None
    ]
    return scatter_of(points, figure_id=figure_id, title=title, caption=caption, x=x, y=y, target=target)


def scatter_of(
    points: Sequence[Point],
    *,
    figure_id: str,
    title: str,
    caption: str,
    x: AxisOf,
    y: AxisOf,
    target: tuple[float, float] | None = None,
) -> Figure | None:
    """The figure of points that may come from different tasks; None without any."""
    if not points:
        return None
    scales = _scale([p.x for p in points]), _scale([p.y for p in points])
    traces = list(_traces(points, scales))
    if target is not None:
        traces.append(_target(target, scales))
    return Figure(
        id=figure_id,
        title=title,
        caption=caption,
        traces=traces,
        layout={
            "xaxis": _axis(x, scales[0], [p.x for p in points]),
            "yaxis": _axis(y, scales[1], [p.y for p in points]),
        },
        table=_table(points, x.title, y.title),
    )


def _means(estimates: Iterable[Estimate]) -> list[float]:
    return [e.mean for e in estimates if e.mean is not None]


def _scale(estimates: Sequence[Estimate]) -> _Scale:
    values = _means(estimates)
    positive = sorted(v for v in values if v > 0)
    if min(values) < 0 or not positive or positive[-1] / positive[0] <= WIDE:
        return _Scale()
    return _Scale(unit=10.0 ** math.floor(math.log10(positive[len(positive) // 4])))


def _axis(axis: AxisOf, scale: _Scale, estimates: Sequence[Estimate]) -> dict[str, Any]:
    note = " (logarithmic above the first step)" if scale.unit else ""
    return {"title": {"text": axis.title + note}, **scale.ticks(_means(estimates))}


def _traces(points: Sequence[Point], scales: tuple[_Scale, _Scale]) -> Iterable[dict[str, Any]]:
    where = {p.line.key: (scales[0].at(p.x.mean or 0.0), scales[1].at(p.y.mean or 0.0)) for p in points}
    places = _place_names([(p.line.title, *where[p.line.key]) for p in points])
    named = dict(zip(where, places, strict=True))
    for role, (name, colour, symbol) in _STYLES.items():
        mine = [p for p in points if p.line.role == role]
        if mine:
            yield {
                "type": "scatter",
                "mode": "markers+text",
                "name": name,
                "x": [where[p.line.key][0] for p in mine],
                "y": [where[p.line.key][1] for p in mine],
                "error_x": _errors([p.x for p in mine], scales[0], colour),
                "error_y": _errors([p.y for p in mine], scales[1], colour),
                "text": [text.plotly(p.line.title) if named[p.line.key] else "" for p in mine],
                "textposition": [named[p.line.key] or "top center" for p in mine],
                "textfont": {"size": 11},
                "hovertext": [text.plotly(_hover(p)) for p in mine],
                "hoverinfo": "text",
                "marker": {"size": 9, "symbol": symbol, "color": colour},
            }


def _hover(point: Point) -> str:
    return f"{point.line.title}: {point.x.mean:.4g}, {point.y.mean:.4g}"


def _errors(estimates: Sequence[Estimate], scale: _Scale, colour: str) -> dict[str, Any]:
    def reach(e: Estimate, end: float | None) -> float:
        return abs(scale.at(end) - scale.at(e.mean)) if end is not None and e.mean is not None else 0.0

    return {
        "type": "data",
        "symmetric": False,
        "array": [reach(e, e.high) for e in estimates],
        "arrayminus": [reach(e, e.low) for e in estimates],
        "color": colour,
        "thickness": 1.2,
        "width": 3,
    }


def _target(point: tuple[float, float], scales: tuple[_Scale, _Scale]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "target",
        "hoverinfo": "name",
        "x": [scales[0].at(point[0])],
        "y": [scales[1].at(point[1])],
        "marker": {
            "size": 16,
            "symbol": "cross-thin",
            "color": "--ink",
            "line": {"width": 2, "color": "--ink"},
        },
    }


def _table(points: Sequence[Point], x_title: str, y_title: str) -> DataTable:
    columns = [[p.x for p in points], [p.y for p in points]]
    shown = [_texts(column) for column in columns]
    rows = [(p.line.title, shown[0][i], shown[1][i]) for i, p in enumerate(points)]
    return DataTable(head=("Model", x_title, y_title), rows=tuple(rows))


def _texts(estimates: Sequence[Estimate]) -> list[str]:
    decimals = cells.decimals_of(estimates)
    shown = [cells.present(e, None, decimals) for e in estimates]
    return [f"{cell.text} ({cell.spread})" for cell in shown]


_SPOTS = {"top center": (-0.5, 1.0), "bottom center": (-0.5, -2.0), "middle right": (0.06, -0.5),
          "middle left": (-1.06, -0.5), "top right": (0.04, 0.6), "bottom right": (0.04, -1.6),
          "top left": (-1.04, 0.6), "bottom left": (-1.04, -1.6)}  # fmt: skip
_Box = tuple[float, float, float, float]


def _place_names(points: Sequence[tuple[str, float, float]]) -> list[str]:
    """For each (name, x, y) the side where the name covers no point and no other name; "" if there is none."""
    xs, ys = [x for _, x, _ in points], [y for _, _, y in points]
    spots = [(_pixel(x, xs, WIDTH), _pixel(y, ys, HEIGHT)) for _, x, y in points]
    taken: list[_Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    chosen = []
    for (name, _, _), (x, y) in zip(points, spots, strict=True):
        width = _CHAR * len(name) + 12
        for side, (dx, dy) in _SPOTS.items():
            left, low = x + dx * width, y + dy * _LINE
            box = (left, low, left + width, low + _LINE)
            own = (x - 5, y - 5, x + 5, y + 5)
            if (
                left > -40
                and left + width < WIDTH + 40
                and not any(_overlap(box, t) for t in taken if t != own)
            ):
                taken.append(box)
                chosen.append(side)
                break
        else:
            chosen.append("")
    return chosen


def _pixel(value: float, values: Sequence[float], length: float) -> float:
    low, high = min(values), max(values)
    return length * (0.05 + 0.9 * (value - low) / (high - low)) if high > low else length / 2


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
