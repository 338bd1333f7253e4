"""Figures of what lies behind the means: every repeat, every version, the evidence sample by sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.leaderboard import pairing, tables, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import shorten
from bench.leaderboard.lines import Line
from bench.leaderboard.past import Version
from bench.leaderboard.separation import ALPHA, SamplePairs
from bench.leaderboard.task_view import DatasetView
from bench.spec import MetricInfo
from bench.stats.eprocess import decide

RIVALS, POINTS = 5, 240
_COLOURS = ("--series-1", "--series-2", "--series-3", "--series-4", "--series-5")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def seed_scatter(dataset: DatasetView, metric: MetricInfo) -> Figure | None:
    """Every repeat of every model as a point; None if no model has more than one."""
    rows = [row for row in dataset.headline.everyone if row.line.limit is None]
    values = {row.line.key: pairing.repeat_values(dataset.jobs[row.line.key], metric.name) for row in rows}
    shown = [row.line for row in rows if values[row.line.key]]
    if not any(len(found) > 1 for found in values.values()):
        return None
    points = [(line, unit, value) for line in shown for unit, value in values[line.key].items()]
    label = metric.title or metric.name
    return Figure(
        id=f"seeds-{dataset.slug}",
        title=f"Every repeat: {label}, {dataset.title}",
        caption="One point per repeat. The same repeat has the same seed, and so the same data, for every model: "
        "points of one repeat may be compared pair by pair.",
        traces=[_repeat_trace(unit, shown, points) for unit in sorted({unit for _, unit, _ in points})],
        layout={
            "xaxis": {
                "tickvals": list(range(len(shown))),
                "ticktext": [text.plotly(shorten(line.title, 28)) for line in shown],
                "tickangle": -35,
            },
            "yaxis": {"title": {"text": label}, "type": _scale([v for _, _, v in points])},
            "margin": {"b": 130},
        },
        elsewhere="“Every repeat” above",
    )


def _repeat_trace(
    unit: pairing.Unit, shown: Sequence[Line], points: Sequence[tuple[Line, pairing.Unit, float]]
) -> dict[str, Any]:
    place = {line.key: i for i, line in enumerate(shown)}
    mine = [(place[line.key], value) for line, u, value in points if u == unit]
    index = unit[1]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"repeat {index}" + (f", seed {unit[0]}" if unit[0] else ""),
        "x": [at for at, _ in mine],
        "y": [value for _, value in mine],
        "marker": {"size": 8, "opacity": 0.8, "color": _COLOURS[index % 5], "symbol": index % 5},
    }


def _scale(values: Sequence[float]) -> str:
    return "log" if min(values) > 0 and max(values) / min(values) > 100 else "linear"


def history(
    dataset: DatasetView, metric: MetricInfo, versions: Mapping[str, Sequence[Version]]
) -> Figure | None:
    """How values moved from version to version; None if nothing has more than one."""
    titles = {line.model: line.title for line in dataset.lines}
    known = {model: found for model, found in versions.items() if model in titles}
    if not known:
        return None
    label = metric.title or metric.name
    rows = tuple(
        (titles[model], v.day.isoformat(), v.label, f"{v.mean:.5g}", str(v.n))
        for model, found in known.items()
        for v in found
    )
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": text.plotly(shorten(titles[model])),
            "x": [v.day.isoformat() for v in found],
            "y": [v.mean for v in found],
            "hovertext": [text.plotly(v.label) for v in found],
            "line": {"color": _COLOURS[i % 5], "dash": _DASHES[i // 5 % 5]},
        }
        for i, (model, found) in enumerate(known.items())
    ]
    return Figure(
        id=f"history-{dataset.slug}",
        title=f"History over versions: {label}, {dataset.title}",
        caption="Means of earlier and present versions of models and task. Values across task versions are not "
        "comparable; only the newest stand in the tables.",
        traces=traces,
        layout={"xaxis": {"type": "date"}, "yaxis": {"title": {"text": label}}},
        table=DataTable(head=("Model", "Newest result", "Version", "Mean", "Repeats"), rows=rows),
    )


def evidence_path(dataset: DatasetView, metric: MetricInfo) -> Figure | None:
    """ln E over the samples for the best model against the next ones; None without per-sample scores."""
    found = dataset.sample_pairs
    if found is None:
        return None
    order = _by_mean(found, metric)
    best, rivals = order[0], order[1 : 1 + RIVALS]
    paths = {found.lines[i].title: _log_e(found, metric, best, i) for i in rivals}
    n = len(found.samples.ids)
    threshold = math.log(2 / ALPHA)
    at = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int))
    name = found.lines[best].title
    return Figure(
        id=f"evidence-{dataset.slug}",
        title=f"Evidence, sample by sample, {dataset.title}",
        caption=f"ln E for “{name} is better” against each rival. A path that reaches the line ln(2/α) decides the "
        "pair alone, and the decision stays valid however often anyone looked; the marks in the table hold for "
        "all pairs together (Holm).",
        traces=[*(_path(t, p, at, i) for i, (t, p) in enumerate(paths.items())), _threshold(n, threshold)],
        layout={"xaxis": {"title": {"text": "samples"}}, "yaxis": {"title": {"text": "ln E"}}},
        table=DataTable(
            head=("Rival", "Largest ln E", "Decided after", "Samples"),
            rows=tuple(_outcome(title, path, threshold) for title, path in paths.items()),
        ),
    )


def _by_mean(found: SamplePairs, metric: MetricInfo) -> list[int]:
    means = found.samples.scores.mean(axis=1)
    return sorted(range(len(found.lines)), key=lambda i: -tables.goodness(metric, float(means[i])))


def _log_e(found: SamplePairs, metric: MetricInfo, best: int, rival: int) -> Any:
    a, b = found.samples.scores[best], found.samples.scores[rival]
    decision = decide(a, b, alpha=ALPHA, lo=metric.lo, hi=metric.hi)
    return decision.log_e_a if metric.direction == "max" else decision.log_e_b


def _path(title: str, path: Any, at: Any, i: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text.plotly(shorten(title)),
        "x": (at + 1).tolist(),
        "y": path[at].tolist(),
        "line": {"color": _COLOURS[i % 5], "dash": _DASHES[i % 5]},
    }


def _threshold(n: int, level: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "ln(2/α), α = 0.05",
        "x": [1, n],
        "y": [level, level],
        "line": {"color": "--fail", "width": 1.5, "dash": "dash"},
        "hoverinfo": "name",
    }


def _outcome(title: str, path: Any, threshold: float) -> tuple[str, ...]:
    crossed = np.flatnonzero(path >= threshold)
    after = f"{crossed[0] + 1} samples" if crossed.size else "undecided"
    return title, f"{path.max():.3g}", after, str(path.size)
