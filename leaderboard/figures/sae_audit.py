"""The audit of proxies: verdicts by condition, and each proxy against the truth."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

CONDITIONS = {
    "c1": "extremes", "c2": "invariance", "c3": "merging", "c4": "duplicates", "c5": "confounding",
    "c6": "sensitivity", "c7": "monotone", "c8": "reliability",
}  # fmt: skip
_VERDICTS = {"pass": ("v-right", "yes"), "fail": ("v-fooled", "no"), "n/a": ("grid", "n/a")}
LEFT, CELL, ROW, TOP = 250.0, 78.0, 26.0, 34.0
PANEL, GAP, ACROSS = 200.0, 30.0, 4
Record = dict[str, Any]


def audit_figures(task: TaskView) -> list[Figure]:
    """For every data set the verdicts and the small multiples."""
    found: list[Figure] = []
    for dataset in task.datasets:
        lines = [line for line in dataset.lines if line.limit is None]
        lines.sort(key=lambda line: -(_mean(dataset, line) if _mean(dataset, line) is not None else -2.0))  # type: ignore[operator]
        made = (_verdicts(dataset, lines), _against_truth(dataset, lines))
        found += [figure for figure in made if figure is not None]
    return found


def _mean(dataset: DatasetView, line: Line) -> float | None:
    return dataset.estimate(line, "trained").mean


def _verdict(dataset: DatasetView, line: Line, condition: str) -> str:
    value = dataset.estimate(line, condition).mean
    return "n/a" if value is None else "pass" if value >= 0.5 else "fail"


def _verdicts(dataset: DatasetView, lines: list[Line]) -> Figure | None:
    if not lines:
        return None
    table = [(line, [_verdict(dataset, line, c) for c in CONDITIONS], _mean(dataset, line)) for line in lines]
    rows = tuple(
        (line.title, *verdicts, "not measured" if agreement is None else f"{agreement:+.2f}")
        for line, verdicts, agreement in table
    )
    title = "Which proxies may be believed"
    return Figure(
        id=f"verdicts-{dataset.slug}",
        title=title,
        caption="Conditions that follow from what polysemanticity is, and in the last column the rank correlation "
        "with the "
        "truth over trained coders. A proxy with a negative value orders trained coders the wrong way round.",
        svg=_grid(table, title),
        table=DataTable(head=("Proxy", *CONDITIONS.values(), "Agreement, trained"), rows=rows),
    )


def _grid(table: list[tuple[Line, list[str], float | None]], title: str) -> Markup:
    drawing = Drawing(LEFT + CELL * (len(CONDITIONS) + 1), TOP + ROW * len(table) + 4, title)
    for i, name in enumerate((*CONDITIONS.values(), "agreement")):
        drawing.label(LEFT + i * CELL + CELL / 2, TOP - 10, name, "soft", "middle")
    for j, (line, verdicts, agreement) in enumerate(table):
        y = TOP + j * ROW
        drawing.label(LEFT - 10, y + 17, line.title, "", "end")
        for i, verdict in enumerate(verdicts):
            style, word = _VERDICTS[verdict]
            if verdict != "n/a":
                drawing.rect(LEFT + i * CELL + 2, y + 2, CELL - 4, ROW - 4, style)
            mark = "v-mark" if verdict == "fail" else "soft" if verdict == "n/a" else ""
            drawing.label(LEFT + i * CELL + CELL / 2, y + 17, word, mark, "middle")
        shown = "n/a" if agreement is None else f"{agreement:+.2f}".replace("-", text.MINUS)
        drawing.label(LEFT + len(verdicts) * CELL + CELL / 2, y + 17, shown, "", "middle")
    return drawing.finish()


def _points(dataset: DatasetView, line: Line) -> list[Record]:
    for job in sorted(dataset.jobs[line.key], key=lambda j: j.repeat):
        for exhibit in job.exhibits if job.ok else ():
            path = exhibits.source_path(job, exhibit) if exhibit.name == "points" else None
            if path is None:
                continue
            try:
                found = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError, RecursionError):
                continue
            rows = [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []
            return [r for r in rows if all(exhibits.is_number(r.get(k)) for k in ("truth", "proxy"))]
    return []


def _against_truth(dataset: DatasetView, lines: list[Line]) -> Figure | None:
    """Small multiples: truth to the right, proxy upwards; filled: trained coders, open: controls."""
    panels = [(line, points) for line in lines if len(points := _points(dataset, line)) >= 3]
    if not panels:
        return None
    title = "Proxies against the truth"
    rows = tuple(
        (line.title, text.visible(str(p.get("coder")), 40), f"{p['truth']:.4g}", f"{p['proxy']:.4g}")
        for line, points in panels
        for p in points
    )
    return Figure(
        id=f"proxies-{dataset.slug}",
        title=title,
        caption="One point a coder: to the right its polysemanticity (logarithmic), upwards the proxy; filled: "
        "trained coders, "
        "open: controls such as the true concepts and random atoms. A useful proxy is a line.",
        svg=_panels(dataset, panels, title),
        table=DataTable(head=("Proxy", "Coder", "Polysemanticity", "Value"), rows=rows),
    )


def _panels(dataset: DatasetView, panels: list[tuple[Line, list[Record]]], title: str) -> Markup:
    down = -(-len(panels) // ACROSS)
    drawing = Drawing(ACROSS * (PANEL + GAP), down * (PANEL * 0.75 + 52), title)
    for i, (line, points) in enumerate(panels):
        left, top = (i % ACROSS) * (PANEL + GAP), (i // ACROSS) * (PANEL * 0.75 + 52)
        agreement = _mean(dataset, line)
        shown = "" if agreement is None else f" ({agreement:+.2f})".replace("-", text.MINUS)
        drawing.label(left, top + 14, line.title + shown)
        _panel(drawing, left, top + 22, points)
    return drawing.finish()


def _panel(drawing: Drawing, left: float, top: float, points: list[Record]) -> None:
    height = PANEL * 0.75
    drawing.line(left, top + height, left + PANEL, top + height, "axis")
    drawing.line(left, top, left, top + height, "axis")
    xs, ys = [max(1e-9, float(p["truth"])) for p in points], [float(p["proxy"]) for p in points]
    for p, x, y in zip(points, _placed(xs, log=True), _placed(ys), strict=True):
        style = "d1" if p.get("trained") is True else "d2"
        drawing.dot(left + 6 + x * (PANEL - 12), top + height - 6 - y * (height - 12), 3.2, style)
    drawing.label(left, top + height + 14, f"{min(xs):.3g}", "soft")
    drawing.label(left + PANEL, top + height + 14, f"{max(xs):.3g}", "soft", "end")


def _placed(values: list[float], *, log: bool = False) -> list[float]:
    """Positions in [0, 1]."""
    from math import log10

    shown = [log10(v) for v in values] if log else values
    low, high = min(shown), max(shown)
    return [(v - low) / (high - low) if high > low else 0.5 for v in shown]
