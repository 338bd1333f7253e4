"""The sweep over lambda: does a benchmark's score peak between classifier and generative model?

Each training of a model left bootstrap replicates of its headline, on the same resamples of items for every model.
The bootstrap here draws trainings with replacement (the same seeds for every lambda, as these begin alike) and takes
item replicates along; the share of draws whose best lambda is an inner one is P(peak inside).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.scatter import AxisOf
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.spec import MetricInfo

REPLICATES = "replicates"  # name of the exhibit
SURE = 0.95
LEAST_SEEDS = 3
_TAG = "lambda="
Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """Replicates of one benchmark's headline: (lambdas, trainings, replicates)."""

    title: str
    evidence: str
    metric: MetricInfo
    lambdas: tuple[float, ...]
    drawn: Float
    estimates: tuple[tuple[float, float | None, float | None], ...]  # mean, low, high by lambda

    @property
    def seeds(self) -> int:
        return int(self.drawn.shape[1])

    def seed_means(self) -> Float:
        """(lambdas, trainings): the value of each training, as the mean of its replicates."""
        return np.asarray(self.drawn.mean(axis=2))

    def best(self) -> float:
        """The lambda of the best mean."""
        means = np.array([mean for mean, _, _ in self.estimates])
        return self.lambdas[int(np.argmin(means) if self.metric.direction == "min" else np.argmax(means))]

    def inner(self) -> float:
        """P(peak inside): share of bootstrap draws whose best lambda is neither the first nor the last."""
        draws = resampled(self.drawn)
        best = draws.argmin(axis=0) if self.metric.direction == "min" else draws.argmax(axis=0)
        return float(((best > 0) & (best < len(self.lambdas) - 1)).mean())

    def verdict(self) -> str:
        """What may be said, in words."""
        if self.seeds < LEAST_SEEDS:
            return f"no claim: {self.seeds} training(s) for each lambda, {LEAST_SEEDS} are needed"
        p = self.inner()
        if p >= SURE:
            return f"a peak inside holds (P = {p:.2f})"
        if p <= 1 - SURE:
            return f"a peak inside does not hold (P = {p:.2f})"
        return f"undecided (P(peak inside) = {p:.2f})"


def resampled(drawn: Float, *, seed: int = 0) -> Float:
    """(lambdas, replicates): means over trainings drawn with replacement, the same ones for every lambda."""
    _, seeds, replicates = drawn.shape
    chosen = np.random.default_rng(seed).integers(0, seeds, size=(replicates, seeds))
    return np.asarray(drawn[:, chosen, np.arange(replicates)[:, None]].mean(axis=2))


def sweeps(tasks: Sequence[TaskView]) -> list[Sweep]:
    """The sweep of every task and data set that has at least three lambdas, with both ends."""
    found = (_sweep(task, dataset) for task in tasks for dataset in task.datasets)
    return [sweep for sweep in found if sweep is not None]


def _sweep(task: TaskView, dataset: DatasetView) -> Sweep | None:
    by_lambda: dict[float, Line] = {}
    for line in dataset.lines:
        value = _lambda(line)
        if value is not None and line.limit is None:
            by_lambda[value] = line
    rows, kept = [], []
    for value in sorted(by_lambda):
        table = _replicates(dataset, by_lambda[value])
        estimate = dataset.estimate(by_lambda[value], task.info.primary.name)
        if table is not None and estimate.mean is not None:
            rows.append((value, table))
            kept.append((estimate.mean, estimate.low, estimate.high))
    shapes = {table.shape for _, table in rows}
    if len(rows) < 3 or len(shapes) != 1 or (rows[0][0], rows[-1][0]) != (0.0, 1.0):
        return None
    return Sweep(
        title=f"{task.info.title}, {dataset.title}",
        evidence=text.visible(dataset.evidence.replace("_", " "), 40) or "not stated",
        metric=task.info.primary,
        lambdas=tuple(value for value, _ in rows),
        drawn=np.stack([table for _, table in rows]),
        estimates=tuple(kept),
    )


def _lambda(line: Line) -> float | None:
    for tag in line.tags:
        if tag.startswith(_TAG):
            try:
                return float(tag.removeprefix(_TAG))
            except ValueError:
                return None
    return None


def _replicates(dataset: DatasetView, line: Line) -> Float | None:
    """(trainings, replicates) from the exhibit; None if it is missing or odd."""
    content = exhibits.content(dataset.jobs[line.key], REPLICATES)
    if not isinstance(content, Mapping):
        return None
    runs, values = content.get("x"), content.get("y")
    if not isinstance(runs, list) or not isinstance(values, list) or len(runs) != len(values) or not runs:
        return None
    try:
        table = np.array([runs, values], dtype=np.float64)
    except (TypeError, ValueError):
        return None
    count = len(np.unique(table[0]))
    if not np.isfinite(table).all() or table.shape[1] % count or (np.diff(table[0]) < 0).any():
        return None
    return np.asarray(table[1].reshape(count, -1))


def report(found: Sequence[Sweep]) -> Figure | None:
    """One row per benchmark: where the peak is, and whether it can be said to be inside."""
    if not found:
        return None
    rows = tuple(
        (
            sweep.title,
            sweep.evidence,
            f"{sweep.metric.title or sweep.metric.name} ({'lower' if sweep.metric.direction == 'min' else 'higher'})",
            f"{sweep.best():g}",
            str(sweep.seeds),
            f"{sweep.inner():.2f}" if sweep.seeds >= LEAST_SEEDS else "not computed",
            sweep.verdict(),
        )
        for sweep in found
    )
    holds = sum(s.seeds >= LEAST_SEEDS and s.inner() >= SURE for s in found)
    fails = sum(s.seeds >= LEAST_SEEDS and s.inner() <= 1 - SURE for s in found)
    return Figure(
        id="sweep-verdicts",
        title=f"Does alignment peak between classifier and generative model? On {holds} of {len(found)} benchmarks",
        caption=f"The claim of an inner peak holds on {holds} of {len(found)} benchmarks, does not hold on {fails}, "
        f"and is undecided on the others. P is the share of bootstrap draws, over trainings and items, whose best "
        f"lambda is neither 0 nor 1; {SURE:.0%} is asked for. Small networks of one world, no verdict on large ones. "
        "Benchmarks with other evidence than answers of people to these images do not measure human alignment itself.",
        table=DataTable(
            head=(
                "Benchmark",
                "Evidence",
                "Score (better)",
                "Best lambda",
                "Trainings",
                "P inside",
                "Verdict",
            ),
            rows=rows,
        ),
    )


def panel(sweep: Sweep, number: int) -> Figure:
    """The score against lambda: mean with interval, and a point for each training."""
    axis = AxisOf(sweep.metric.name, sweep.metric.title or sweep.metric.name)
    means = [mean for mean, _, _ in sweep.estimates]
    spread = [
        (0.0, 0.0) if low is None or high is None else (high - mean, mean - low)
        for mean, low, high in sweep.estimates
    ]
    points = sweep.seed_means()
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "mean, 95 % interval",
            "x": list(sweep.lambdas),
            "y": means,
            "error_y": {"type": "data", "symmetric": False, "array": [u for u, _ in spread],
                        "arrayminus": [d for _, d in spread], "color": "--series-1"},
            "line": {"color": "--series-1"},
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "single trainings",
            "x": [value for value in sweep.lambdas for _ in range(sweep.seeds)],
            "y": [float(v) for v in points.ravel()],
            "marker": {"color": "--series-2", "size": 7, "symbol": "circle-open"},
        },
    ]  # fmt: skip
    return Figure(
        id=f"sweep-{number}",
        title=f"{sweep.title}: {sweep.verdict()}",
        caption="0 is a plain classifier, 1 a generative model without named classes (its readout is a probe). "
        + ("Lower is better." if sweep.metric.direction == "min" else "Higher is better."),
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "lambda"}},
            "yaxis": {"title": {"text": text.plotly(axis.title)}},
        },
        table=DataTable(
            head=("Lambda", axis.title, *(f"training {i}" for i in range(sweep.seeds))),
            rows=tuple(
                (f"{value:g}", f"{mean:.4f}", *(f"{v:.4f}" for v in row))
                for value, mean, row in zip(sweep.lambdas, means, points, strict=True)
            ),
        ),
    )


def overlay(found: Sequence[Sweep]) -> Figure | None:
    """All benchmarks in one picture, each from its worst lambda (0) to its best (1)."""
    if len(found) < 2:
        return None
    dashes = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
    traces = []
    for i, sweep in enumerate(found):
        means = np.array([mean for mean, _, _ in sweep.estimates])
        means = -means if sweep.metric.direction == "min" else means
        scaled = (means - means.min()) / (np.ptp(means) or 1.0)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": text.plotly(sweep.title),
                "x": list(sweep.lambdas),
                "y": scaled.tolist(),
                "line": {"color": f"--series-{i % 5 + 1}", "dash": dashes[i % len(dashes)]},
            }
        )
    return Figure(
        id="sweep-overlay",
        title="All benchmarks against lambda",
        caption="Each curve is scaled from its worst (0) to its best (1) lambda: where they peak can be compared, how "
        "much they move cannot.",
        traces=traces,
        layout={"xaxis": {"title": {"text": "lambda"}}, "yaxis": {"title": {"text": "worst to best"}}},
        elsewhere="the tables below the single curves",
    )
