"""Curves of an audit: how metrics move with k, with the number of images, and with the severity of a damage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView

CURVES, HELD_OUT = "curves", "held_out"
_COLOURS = tuple(f"--series-{i}" for i in (1, 2, 3, 4, 5))
_DASHES = ("solid", "dash", "dot")
Record = dict[str, Any]

#: What must not matter: id -> (scenario, title, axis, what it shows, metrics).
_INVARIANT = {
    "k-curves": (
        "k",
        "Does k matter?",
        "k, the number of neighbours",
        "The same two sets of real images, seen with more and more neighbours. A metric that means something by itself "
        "stays on the line at 1: ratios do, shares of balls do not.",
        ("r2g_ratio", "g2r_ratio", "precision", "recall", "density", "coverage"),
    ),
    "n-curves": (
        "sample_size",
        "Does the number of images matter?",
        "images, relative to the protocol",
        "The same real images against the same real images, in many small sets or few large ones; means over the sets, "
        "relative to held-out draws. What is left is the effect of the number alone.",
        ("r2g_ratio", "g2r_ratio", "precision", "recall", "density", "coverage"),
    ),
    "n-distances": (
        "sample_size",
        "Distances and the number of images:",
        "images, relative to the protocol",
        "As before. A distance that falls with the number of images can only be compared at the same number.",
        ("chamfer_dev", "fd", "sw2", "rbf_mmd"),
    ),
}
#: Damages whose curves are drawn: scenario -> (title, axis, metrics).
_DAMAGE = {
    "blur": ("Blur", "standard deviation, pixels", ("chamfer_dev", "fd", "precision", "recall", "g2r_ratio")),
    "mean_image": ("Mean image", "share", ("chamfer_dev", "fd", "precision", "density", "g2r_ratio")),
    "contraction": (
        "Contraction",
        "distances kept",
        ("g2r_ratio", "r2g_ratio", "self_ratio", "chamfer_dev", "precision"),
    ),
    "class_drop": ("Classes dropped", "classes", ("r2g_ratio", "recall", "coverage", "precision", "fd")),
    "memorised": (
        "Training images",
        "share",
        ("memorisation_ratio", "authenticity", "copying_z", "fd", "chamfer_dev"),
    ),
    "real_outlier": (
        "An outlier among real",
        "distance from the centre",
        ("g2r_ratio", "g2r_median", "chamfer_dev", "fd", "precision"),
    ),
}


def curve_figures(dataset: DatasetView, line: Line, titles: Mapping[str, str]) -> list[Figure]:
    """Sensitivity to what must not matter, then the damages, of a line's first repeat."""
    found = [
        record
        for record in exhibits.records(dataset.jobs[line.key], CURVES)
        if isinstance(record.get("scenario"), str) and exhibits.is_number(record.get("severity"))
    ]
    draws = [record for record in found if record["scenario"] == HELD_OUT]
    if len(draws) < 2:
        return []
    figures = [_invariant(name, dataset, line, titles, found, draws) for name in _INVARIANT]
    figures += [_damage(name, dataset, line, titles, found, draws) for name in _DAMAGE]
    return [figure for figure in figures if figure is not None]


def _invariant(
    name: str,
    dataset: DatasetView,
    line: Line,
    titles: Mapping[str, str],
    found: Sequence[Record],
    draws: Sequence[Record],
) -> Figure | None:
    scenario, title, axis, caption, metrics = _INVARIANT[name]
    rows = [record for record in found if record["scenario"] == scenario]
    means = {metric: _moments(draws, metric)[0] for metric in metrics}
    curves = {
        metric: [
            (r["severity"], r[metric] / means[metric]) for r in rows if exhibits.is_number(r.get(metric))
        ]
        for metric in metrics
        if means[metric]
    }
    return _figure(
        f"{name}-{dataset.slug}",
        f"{title} {dataset.title}, {line.title}",
        caption,
        curves,
        titles,
        rows,
        axes=(axis, "value, relative to held-out draws"),
        log=True,
    )


def _damage(
    scenario: str,
    dataset: DatasetView,
    line: Line,
    titles: Mapping[str, str],
    found: Sequence[Record],
    draws: Sequence[Record],
) -> Figure | None:
    title, axis, metrics = _DAMAGE[scenario]
    rows = [record for record in found if record["scenario"] == scenario]
    curves = {}
    for metric in metrics:
        mean, spread = _moments(draws, metric)
        if spread > 0:
            points = [(n, r[metric]) for n, r in enumerate(rows) if exhibits.is_number(r.get(metric))]
            curves[metric] = [(n, _compressed((value - mean) / spread)) for n, value in points]
    return _figure(
        f"curve-{scenario}-{dataset.slug}",
        f"{title}: {dataset.title}, {line.title}",
        "Distance from held-out draws in their standard deviations, up where the value is larger, compressed: 1 is 9, "
        "2 is 99, -1 is -9. Between the dotted lines is chance.",
        curves,
        titles,
        rows,
        axes=(axis, "± log₁₀(1 + |z|)"),
    )


def _figure(
    figure_id: str,
    title: str,
    caption: str,
    curves: Mapping[str, Sequence[tuple[float, float]]],
    titles: Mapping[str, str],
    rows: Sequence[Record],
    *,
    axes: tuple[str, str],
    log: bool = False,
) -> Figure | None:
    """Curves over the severities of `rows`: at their values on a logarithmic axis, or one beside the other."""
    shown = {metric: points for metric, points in curves.items() if points and metric in titles}
    if not shown:
        return None
    levels = [row["severity"] for row in rows]
    places = levels if log else list(range(len(rows)))
    bounds = (1.0,) if log else (_compressed(3.0), _compressed(-3.0))
    xaxis: dict[str, Any] = {
        "title": {"text": axes[0]},
        "tickvals": places,
        "ticktext": [f"{level:g}" for level in levels],
    }
    return Figure(
        id=figure_id,
        title=title,
        caption=caption,
        traces=[*(_chance((min(places), max(places)), bound) for bound in bounds), *_traces(shown, titles)],
        layout={
            "xaxis": {**xaxis, "type": "log"} if log else xaxis,
            "yaxis": {"title": {"text": axes[1]}},
        },
        table=_table(shown, titles, rows),
    )


def _traces(
    shown: Mapping[str, Sequence[tuple[float, float]]], titles: Mapping[str, str]
) -> Iterable[dict[str, Any]]:
    for i, (metric, points) in enumerate(shown.items()):
        yield {
            "type": "scatter",
            "mode": "lines+markers",
            "name": text.plotly(titles[metric]),
            "x": [x for x, _ in points],
            "y": [y for _, y in points],
            "line": {"color": _COLOURS[i % 5], "dash": _DASHES[i // 5 % 3], "width": 2},
        }


def _table(metrics: Iterable[str], titles: Mapping[str, str], rows: Sequence[Record]) -> DataTable:
    found = (
        (f"{row['severity']:g}", titles[metric], f"{row[metric]:.5g}")
        for metric in metrics
        for row in rows
        if exhibits.is_number(row.get(metric))
    )
    return DataTable(head=("Severity", "Metric", "Value"), rows=tuple(found))


def _chance(ends: tuple[float, float], height: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "held-out images",
        "showlegend": False,
        "hoverinfo": "skip",
        "x": list(ends),
        "y": [height, height],
        "line": {"color": "--soft", "dash": "dot", "width": 1},
    }


def _moments(draws: Sequence[Record], metric: str) -> tuple[float, float]:
    """Mean and standard deviation over the draws; 0 and 0 where they are not all numbers."""
    values = [float(draw[metric]) for draw in draws if exhibits.is_number(draw.get(metric))]
    if len(values) < len(draws):
        return 0.0, 0.0
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _compressed(z: float) -> float:
    return math.copysign(math.log10(1 + abs(z)), z)
