"""Figures of the few-step task: every metric against the number of evaluations, and the images themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.spec import MetricInfo

STEPS = "steps"  # name of the exhibit
_NFE = re.compile(r"nfe=(\d{1,6})\Z")
_COLOURS = tuple(f"--series-{i}" for i in (1, 2, 3, 4, 5))
_DASHES = ("solid", "dash")
Point = tuple[int, float, float, float]  # evaluations, mean, low, high
_LOGARITHMIC = ("chamfer_dev", "fd")
_DRAWN = {
    "chamfer_dev": "Lower is better; the dotted line is where held-out real images lie.",
    "r2g_ratio": "1 is as near as another real image; above, parts of the real images are not reached.",
    "fd": "Lower is better.",
    "precision": "Higher is said to be better; but images of one step are blurred means, and inside the balls.",
    "memorisation_ratio": "1 is clean, 0 are copies of training images. What looks best elsewhere may be found here.",
    "authenticity": "About one half for real images, 0 for copies of training images.",
}


def figures(task: TaskView) -> list[Figure]:
    """For each data set a curve for each metric, then the images at every number of evaluations."""
    metrics = {metric.name: metric for metric in task.info.metrics}
    found: list[Figure | None] = []
    for dataset in task.datasets:
        found += [_curves(dataset, metrics[name], note) for name, note in _DRAWN.items() if name in metrics]
        found.append(_sheets(dataset))
    return [figure for figure in found if figure is not None]


def evaluations(dataset: DatasetView) -> list[int]:
    """The numbers of evaluations that have a facet."""
    return sorted(int(found[1]) for facet in dataset.facets if (found := _NFE.match(facet.facet)))


def _curves(dataset: DatasetView, metric: MetricInfo, note: str) -> Figure | None:
    numbers = evaluations(dataset)
    lines = [row.line for row in dataset.headline.everyone if row.line.limit is None]
    found = {line: points for line in lines if (points := _points(dataset, line, metric.name, numbers))}
    contenders = [line for line in found if line.role != "bound"]
    if not contenders:
        return None
    label = metric.title or metric.name
    return Figure(
        id=f"nfe-{text.slug(metric.name)}-{dataset.slug}",
        title=f"{label} by evaluations, {dataset.title}",
        caption=f"{note} Whiskers: 95 % over repeats, each with its own training, noise and reference images.",
        traces=[
            _trace(line, points, contenders.index(line) if line in contenders else None)
            for line, points in found.items()
        ],
        layout={
            "xaxis": {
                "type": "log",
                "title": {"text": "function evaluations"},
                "tickvals": numbers,
                "ticktext": [str(nfe) for nfe in numbers],
            },
            "yaxis": {
                "title": {"text": label},
                "type": "log" if metric.name in _LOGARITHMIC else "linear",
            },
        },
        table=_table(found),
    )


def _table(found: Mapping[Line, Sequence[Point]]) -> DataTable:
    return DataTable(
        head=("Model", "Evaluations", "Mean", "95 % interval"),
        rows=tuple(
            (line.title, str(nfe), f"{mean:.4g}", f"{low:.4g} to {high:.4g}" if low != high else "not given")
            for line, points in found.items()
            for nfe, mean, low, high in points
        ),
    )


def _points(dataset: DatasetView, line: Line, metric: str, numbers: Sequence[int]) -> list[Point]:
    """A point wherever there is a value; without an interval its ends are the mean."""
    found = []
    for nfe in numbers:
        estimate = dataset.estimate(line, metric, f"nfe={nfe}")
        if estimate.mean is not None:
            low = estimate.mean if estimate.low is None else estimate.low
            high = estimate.mean if estimate.high is None else estimate.high
            found.append((nfe, estimate.mean, low, high))
    return found


def _trace(line: Line, points: Sequence[Point], place: int | None) -> dict[str, Any]:
    """`place` chooses colour and dashes; an upper bound has none and is a dotted line without marks."""
    return {
        "type": "scatter",
        "mode": "lines" if place is None else "lines+markers",
        "name": text.plotly(line.title),
        "x": [nfe for nfe, _, _, _ in points],
        "y": [mean for _, mean, _, _ in points],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [high - mean for _, mean, _, high in points],
            "arrayminus": [mean - low for _, mean, low, _ in points],
            "thickness": 1.2,
            "width": 3,
        },
        "line": {"color": "--soft", "dash": "dot", "width": 2}
        if place is None
        else {"color": _COLOURS[place % 5], "dash": _DASHES[place // 5 % 2], "width": 2},
    }


def _sheets(dataset: DatasetView) -> Figure | None:
    pictures = []
    for row in dataset.headline.everyone:
        jobs = dataset.jobs[row.line.key]
        found = next((f for f in exhibits.images(jobs) if f[1].name == STEPS), None)
        if found is None:
            continue
        alt = f"Samples of {row.line.title} on {dataset.title} by number of evaluations"
        shown = exhibits.picture(*found, label=row.line.title, href=f"model/{row.line.slug}.html", alt=alt)
        pictures += [shown] if shown else []
    if not pictures:
        return None
    numbers = ", ".join(map(str, evaluations(dataset)))
    return Figure(
        id=f"steps-{dataset.slug}",
        title=f"More steps, {dataset.title}",
        caption=f"A column is one noise; rows have {numbers} evaluations, from above. First repeat of each model.",
        pictures=tuple(pictures),
    )
