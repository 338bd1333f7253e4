"""What co-occurrence of concepts does to coders, and what it costs to keep their latents monosemantic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.leaderboard import text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.stats.intervals import mean_t

CO_OCCURRENCE = {"pairs-03": 0.03, "pairs-25": 0.25, "pairs-50": 0.5, "pairs-80": 0.8, "pairs-95": 0.95}
TRUTH, TRAINED = "frozen-truth", "sae-topk"  # what monosemanticity costs is their difference
SERIES = tuple(f"--series-{i}" for i in (1, 2, 3, 4, 5))
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_TICKS = [1, 1.2, 1.5, 2, 3, 5, 8, 12]


def against_co_occurrence(task: TaskView) -> Figure | None:
    """A line per model that has at least three worlds of pairs."""
    worlds = [(CO_OCCURRENCE[d.name], d) for d in task.datasets if d.name in CO_OCCURRENCE]
    worlds.sort(key=lambda item: item[0])
    curves = [(title_, points) for title_, points in _curves(worlds) if len(points) >= min(3, len(worlds))]
    if len(worlds) < 2 or not curves:
        return None
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": text.plotly(name),
            "x": [c for c, _ in points],
            "y": [e.mean for _, e in points],
            "error_y": _errors([e for _, e in points]),
            "line": {"color": SERIES[i % len(SERIES)], "dash": DASHES[i % len(DASHES)], "width": 2},
        }
        for i, (name, points) in enumerate(curves[:6])
    ]
    rows = tuple((name, f"{c:g}", f"{e.mean:.4g}", _spread(e)) for name, points in curves for c, e in points)
    return Figure(
        id="co-occurrence",
        title="Polysemanticity against co-occurrence",
        caption="The more often two concepts come together, the more a coder that is trained to reconstruct merges "
        "them, "
        "while the same measure stays at 1 for the true concepts. Bars: 95 % intervals over repeats.",
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "probability of the partner, given a concept"}, "range": [-0.02, 1]},
            "yaxis": {
                "title": {"text": "polysemanticity (log)"},
                "type": "log",
                "tickmode": "array",
                "tickvals": _TICKS,
            },
        },
        table=DataTable(head=("Model", "Co-occurrence", "Polysemanticity", "Interval"), rows=rows),
    )


def _curves(
    worlds: Sequence[tuple[float, DatasetView]],
) -> list[tuple[str, list[tuple[float, Estimate]]]]:
    found: dict[str, tuple[str, list[tuple[float, Estimate]]]] = {}
    for c, dataset in worlds:
        for line in dataset.lines:
            estimate = dataset.estimate(line, "poly")
            if line.limit is None and estimate.mean is not None:
                found.setdefault(line.model, (line.title, []))[1].append((c, estimate))
    return list(found.values())


def _errors(estimates: Sequence[Estimate]) -> dict[str, Any]:
    def reach(e: Estimate, end: float | None) -> float:
        return abs(end - e.mean) if end is not None and e.mean is not None else 0.0

    return {
        "type": "data",
        "symmetric": False,
        "array": [reach(e, e.high) for e in estimates],
        "arrayminus": [reach(e, e.low) for e in estimates],
        "thickness": 1.2,
        "width": 3,
    }


def _spread(e: Estimate) -> str:
    return f"{e.low:.4g} to {e.high:.4g}" if e.low is not None and e.high is not None else "no interval"


def price(task: TaskView) -> Figure | None:
    """What the true, monosemantic atoms lose against atoms that were learned, at the same sparsity."""
    rows = []
    for dataset in task.datasets:
        if dataset.name not in CO_OCCURRENCE:
            continue
        by_model = {line.model: line for line in dataset.lines if line.limit is None}
        if TRUTH not in by_model or TRAINED not in by_model:
            continue
        truth, trained = by_model[TRUTH], by_model[TRAINED]
        shown = [
            _difference(_paired(dataset, truth, metric), _paired(dataset, trained, metric))
            for metric in ("fvu", "bits")
        ]
        rows.append((f"{CO_OCCURRENCE[dataset.name]:g}", *shown))
    if not rows:
        return None
    return Figure(
        id="tax",
        title="The price of monosemanticity",
        caption="The coder with the true concepts as atoms and a learned encoder, less the TopK coder at the same "
        "number of "
        "latents and the same sparsity, paired by repeat; 95 % t interval. Above 0: forcing latents to be monosemantic "
        "costs reconstruction or bits.",
        table=DataTable(
            head=("Co-occurrence", "Unexplained variance, difference", "Bits, difference"),
            rows=tuple(sorted(rows)),
        ),
    )


def _paired(dataset: DatasetView, line: Line, metric: str) -> dict[int, float]:
    return {
        job.repeat: found.value
        for job in dataset.jobs[line.key]
        if job.ok and (found := job.values.get("", {}).get(metric)) is not None and found.value is not None
    }


def _difference(first: dict[int, float], second: dict[int, float]) -> str:
    common = sorted(first.keys() & second.keys())
    if not common:
        return "not measured"
    gaps = [first[r] - second[r] for r in common]
    if len(gaps) < 2:
        return f"{gaps[0]:+.4f} (one repeat)"
    interval = mean_t(gaps)
    return f"{sum(gaps) / len(gaps):+.4f} ({interval.low:+.4f} to {interval.high:+.4f}, {len(gaps)} repeats)"
