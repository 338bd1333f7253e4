"""Pairwise decisions on one task: a matrix of the best models with Holm-adjusted p for every pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.leaderboard import pairing, separation, tables, text
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import HEADLINE, DatasetView
from bench.spec import MetricInfo
from bench.stats.groups import pairwise_t

MOST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Row against column. `kind` chooses the look: better, worse, even, none."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The matrix, best model first; `basis` says in words what a decision means here."""

    lines: tuple[Line, ...]
    rows: tuple[tuple[Decision, ...], ...]
    basis: str
    left_out: int  # models beyond the best `MOST`


def decisions(dataset: DatasetView, metric: MetricInfo) -> Decisions | None:
    """None for fewer than two ranked models, or where no pair can be tested."""
    if metric.direction == "none" and metric.target is None:
        return None
    ranked = [
        (line, mean)
        for line in dataset.lines
        if line.limit is None
        and line.role != "bound"
        and (mean := dataset.estimate(line, metric.name).mean) is not None
    ]
    ranked.sort(key=lambda item: -tables.goodness(metric, item[1]))
    lines, means = [line for line, _ in ranked[:MOST]], [mean for _, mean in ranked[:MOST]]
    if len(lines) < 2:
        return None
    pairs = dataset.sample_pairs
    if pairs is not None and {ln.key for ln in lines} <= {ln.key for ln in pairs.lines}:
        adjusted = separation.adjusted_between(pairs, lines)
        basis = "Beats, valid at any time: an e-process over the samples all models share."
    else:
        adjusted = _over_repeats(dataset, metric, lines)
        test = "corrected t test (resampled splits)" if dataset.ratio else "paired t test"
        basis = f"Differs in this data: {test} over repeats, planned in advance."
    if np.isnan(adjusted).all():
        return None
    goodness = [tables.goodness(metric, mean) for mean in means]
    rows = tuple(
        tuple(_decision(float(adjusted[i, j]), goodness[i] - goodness[j], i == j) for j in range(len(lines)))
        for i in range(len(lines))
    )
    return Decisions(lines=tuple(lines), rows=rows, basis=basis, left_out=len(ranked) - len(lines))


def _over_repeats(dataset: DatasetView, metric: MetricInfo, lines: Sequence[Line]) -> npt.NDArray[np.float64]:
    table = pairing.repeat_table([dataset.jobs[ln.key] for ln in lines], metric.name, HEADLINE)
    if metric.target is not None:
        table = np.abs(table - metric.target)
    return pairwise_t(table, test_over_train=dataset.ratio)


def _decision(p: float, difference: float, same: bool) -> Decision:
    if same:
        return Decision(kind="none", text=text.DASH)
    if math.isnan(p):
        return Decision(kind="none", text="no test")
    shown = "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"
    if p > separation.ALPHA:
        return Decision(kind="even", text=f"≈ {shown}")
    return Decision(
        kind="better" if difference > 0 else "worse", text=f"{'▲' if difference > 0 else '▼'} {shown}"
    )
