"""Dot plot: the mean and interval of every model in one metric, best on top."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from bench.leaderboard import cells, tables
from bench.leaderboard.cells import Estimate
from bench.leaderboard.figures import Figure
from bench.leaderboard.figures.drawing import (
    Drawing,
    label_width,
    log_ticks,
    nice_ticks,
    shorten,
    tick_text,
)
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView
from bench.leaderboard.whisker import Axis
from bench.spec import MetricInfo

ROW, WIDTH = 21.0, 720.0
_MARKS = {"contender": "d1", "baseline": "d2", "bound": "d3"}


def dot_plot(dataset: DatasetView, metric: MetricInfo) -> Figure | None:
    """The figure; None for fewer than two models with a value."""
    found = [(ln, dataset.estimate(ln, metric.name)) for ln in dataset.lines if ln.limit is None]
    shown = [(line, e) for line, e in found if e.mean is not None]
    axis = cells.axis_of(e for _, e in shown)
    if len(shown) < 2 or axis is None or axis.high <= axis.low:
        return None
    shown.sort(key=lambda item: -tables.goodness(metric, item[1].mean or 0.0))
    if metric.direction == "none" and metric.target is None:
        shown.sort(key=lambda item: item[0].title)
    title = metric.title or metric.name
    return Figure(
        id=f"dots-{dataset.slug}",
        title=f"{title}, {dataset.title}",
        caption="Means with 95 % intervals, best on top. Filled: contenders; hollow: baselines; square: upper bounds."
        + (" The axis is logarithmic." if axis.log else ""),
        svg=_draw(shown, axis, f"{title} of {len(shown)} models on {dataset.title}", metric.target),
        elsewhere="the table above",
    )


def _draw(shown: Sequence[tuple[Line, Estimate]], axis: Axis, title: str, target: float | None) -> Markup:
    left = label_width([shorten(line.title) for line, _ in shown]) + 16
    inner = WIDTH - left - 24
    drawing = Drawing(WIDTH, len(shown) * ROW + 34, title)
    bottom = len(shown) * ROW + 6

    def x(value: float) -> float:
        return left + axis.x(value, inner)

    ticks = log_ticks(axis.low, axis.high) if axis.log else nice_ticks(axis.low, axis.high)
    for tick in ticks:
        drawing.line(x(tick), 2, x(tick), bottom, "grid")
        drawing.label(x(tick), bottom + 18, tick_text(tick), "soft", "middle")
    if target is not None and axis.low <= target <= axis.high:
        drawing.line(x(target), 2, x(target), bottom, "target")
    for i, (line, e) in enumerate(shown):
        y = i * ROW + ROW / 2 + 3
        mark = _MARKS[line.role]
        drawing.label(left - 10, y + 4, shorten(line.title), "", "end")
        if e.low is not None and e.high is not None:
            drawing.line(x(e.low), y, x(e.high), y, mark)
        middle = x(e.mean if e.mean is not None else math.nan)
        if line.role == "bound":
            drawing.rect(middle - 4, y - 4, 8, 8, mark)
        else:
            drawing.dot(middle, y, 4.5, mark)
    return drawing.finish()
