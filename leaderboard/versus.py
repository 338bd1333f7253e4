"""What `compare.html` needs to compare any two models in the browser.

The page holds the value of every repeat of the primary metrics, some 25 kB for 40 models and 20 tasks, and
works out the paired test itself: results of all pairs would be ten times as much. Evidence over samples
cannot be worked out from these, so that it is computed here, for the pairs of the best models of a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.leaderboard import pairing, rankings
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.spec import MetricInfo

ALPHA = 0.05


def island(tasks: Sequence[TaskView]) -> dict[str, Any]:
    """JSON-ready: models, and for each task and data set the values of each model that has any."""
    lines: dict[str, Line] = {}
    for task in (t for t in tasks if not t.retired):
        for dataset in task.datasets:
            for line in dataset.lines:
                if line.limit is None:
                    lines.setdefault(line.model, line)
    number = {model: i for i, model in enumerate(sorted(lines, key=lambda m: (lines[m].title.lower(), m)))}
    return {
        "alpha": ALPHA,
        "models": [{"id": lines[m].slug, "title": lines[m].title, "role": lines[m].role} for m in number],
        "tasks": [
            _task(task, dataset, metric, number)
            for task in tasks
            if not task.retired
            for dataset in task.datasets
            if (metric := rankings.primary(task)) is not None
            and (metric.direction != "none" or metric.target is not None)
        ],
    }


def _task(task: TaskView, dataset: DatasetView, metric: MetricInfo, number: dict[str, int]) -> dict[str, Any]:
    lines = [ln for ln in dataset.lines if ln.limit is None]
    units = sorted({job.unit for ln in lines for job in dataset.jobs[ln.key]})
    found: dict[str, Any] = {
        "title": task.info.title + (f", {dataset.title}" if len(task.datasets) > 1 else ""),
        "family": task.info.family,
        "href": f"task/{task.slug}.html#d-{dataset.slug}",
        "metric": metric.title or metric.name,
        "better": metric.direction,
        "values": {},
    }
    if metric.target is not None:
        found["target"] = metric.target
    if dataset.ratio:
        found["ratio"] = dataset.ratio
    for line in lines:
        values = pairing.repeat_values(dataset.jobs[line.key], metric.name)
        found["values"][str(number[line.model])] = [_short(values.get(unit)) for unit in units]
    if dataset.sample_pairs is not None:
        found["pairs"], found["samples"] = _pairs(dataset, number), len(dataset.sample_pairs.samples.ids)
    return found


def _pairs(dataset: DatasetView, number: dict[str, int]) -> list[list[float]]:
    """[A, B, difference, low, high, ln E] of every pair with evidence over samples."""
    found = dataset.sample_pairs
    assert found is not None
    at = [number[line.model] for line in found.lines]
    p = found.pairs
    rows = zip(p.first, p.second, p.difference, p.low, p.high, p.log_e, strict=True)
    return [[at[i], at[j], *(_short(float(v)) or 0.0 for v in numbers)] for i, j, *numbers in rows]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
