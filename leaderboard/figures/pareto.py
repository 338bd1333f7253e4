"""Pareto fronts: what a better value costs in time or memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.leaderboard import tables, text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.figures import Figure
from bench.leaderboard.lines import Line, LineKey, Role
from bench.leaderboard.tables import Cost
from bench.leaderboard.task_view import DatasetView
from bench.spec import MetricInfo

WIDE = 100.0
_STYLES: dict[Role, tuple[str, str, str]] = {
    "contender": ("models", "--series-1", "circle"),
    "baseline": ("baselines", "--series-2", "diamond"),
    "bound": ("upper bounds", "--series-3", "square"),
}


@dataclass(frozen=True, slots=True)
class Price:
    """What is paid: `of` reads it from a row's cost, `show` writes it for people."""

    name: str
    unit: str
    of: Callable[[Cost], float | None]
    show: Callable[[float | None], str]


TIME = Price("time", "s a job", lambda cost: cost.seconds, text.seconds)
MEMORY = Price("memory", "MiB, peak", lambda cost: cost.peak_rss_mb, text.megabytes)


@dataclass(frozen=True, slots=True)
class _Point:
    line: Line
    price: float
    estimate: Estimate
    goodness: float


def pareto(dataset: DatasetView, metric: MetricInfo, price: Price) -> Figure | None:
    """The figure; None unless three models have value and price, and the prices differ."""
    points = [
        _Point(row.line, paid, e, tables.goodness(metric, e.mean))
        for row in dataset.headline.everyone
        if row.line.limit is None
        and (paid := price.of(row.cost)) is not None
        and (e := dataset.estimate(row.line, metric.name)).mean is not None
    ]
    if (
        len(points) < 3
        or len({p.price for p in points}) < 2
        or (metric.direction == "none" and metric.target is None)
    ):
        return None
    ranked = [p for p in points if p.line.role != "bound"]
    front = [ranked[i] for i in pareto_front([(p.price, p.goodness) for p in ranked])]
    label = metric.title or metric.name
    wish = {"min": "lower is better", "max": "higher is better"}.get(metric.direction, "")
    better = f"{label}: {wish}" if metric.target is None else f"{label}: best at {metric.target:g}"
    return Figure(
        id=f"pareto-{price.name}-{dataset.slug}",
        title=f"{label} against {price.name}, {dataset.title}",
        caption=f"{better}. On the front, with no model but upper bounds both cheaper and better: "
        f"{', '.join(p.line.title for p in front)}.",
        traces=[_line(front), *_marks(points, {p.line.key for p in front}, price)],
        layout={
            "xaxis": _axis(f"{price.name}, {price.unit}", [p.price for p in points]),
            "yaxis": _axis(label, [p.estimate.mean or 0.0 for p in points]),
        },
        elsewhere="the table above",
    )


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of (price, goodness) that no other point dominates, cheapest first; of equals the first."""
    front: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1], i)):
        if not front or points[i][1] > points[front[-1]][1]:
            front.append(i)
    return front


def _line(front: Sequence[_Point]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "Pareto front",
        "x": [p.price for p in front],
        "y": [p.estimate.mean for p in front],
        "line": {"color": "--accent", "width": 2, "shape": "hv", "dash": "dot"},
        "hoverinfo": "skip",
    }


def _marks(points: Sequence[_Point], best: set[LineKey], price: Price) -> list[dict[str, Any]]:
    """One trace per role, and one for the points of the front, which have a rim and a name."""
    front = [p for p in points if p.line.key in best]
    traces = [
        _points(name, mine, price, {"symbol": symbol, "color": colour, "size": 7})
        for role, (name, colour, symbol) in _STYLES.items()
        if (mine := [p for p in points if p.line.role == role and p.line.key not in best])
    ]
    rim = {"size": 11, "color": "--series-1", "line": {"width": 2, "color": "--ink"}}
    names = [text.plotly(p.line.title) for p in front]
    symbols = [_STYLES[p.line.role][2] for p in front]
    named = {"mode": "markers+text", "text": names, "textposition": "top center", "textfont": {"size": 11}}
    return [*traces, {**_points("on the front", front, price, {**rim, "symbol": symbols}), **named}]


def _points(name: str, mine: Sequence[_Point], price: Price, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [p.price for p in mine],
        "y": [p.estimate.mean for p in mine],
        "hovertext": [
            text.plotly(f"{p.line.title}: {p.estimate.mean:.4g}, {price.show(p.price)}") for p in mine
        ],
        "hoverinfo": "text",
        "marker": marker,
    }


def _axis(title: str, values: Sequence[float]) -> dict[str, Any]:
    wide = min(values) > 0 and max(values) / min(values) > WIDE
    return {"title": {"text": title + (" (log)" if wide else "")}, "type": "log" if wide else "linear"}
