"""Which models cannot be told apart from the best one on a task: paired tests over repeats or samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.leaderboard import pairing, tables
from bench.leaderboard.cells import Estimate
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.pairing import SampleTable
from bench.leaderboard.records import JobRecord
from bench.spec import MetricInfo
from bench.stats.groups import AnytimePairs, pairwise_anytime, pairwise_t

ALPHA = 0.05
MAX_LINES = 16  # pairs and evidence over samples are worked out among at most so many models
Jobs = Mapping[LineKey, Sequence[JobRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePairs:
    """Every pair of `lines` over the samples they share: valid however often anyone looks."""

    lines: tuple[Line, ...]
    samples: SampleTable
    pairs: AnytimePairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """The best contender of a column and those that no test tells apart from it.

    `basis` says which test; "" if none was possible, so that nothing is claimed.
    """

    basis: Literal["", "repeats", "samples"]
    tied: frozenset[LineKey]

    @property
    def words(self) -> str:
        if self.basis == "samples":
            return "≈ not separable from the best contender at any time (e-process over samples, Holm over all pairs)"
        if self.basis == "repeats":
            return "≈ does not differ from the best contender in this data (paired t over repeats, Holm over all pairs)"
        return "no test against the best is possible: too few complete repeats"


NONE = Separation(basis="", tied=frozenset())


def sample_pairs(metric: MetricInfo, shown: Sequence[Line], jobs: Jobs, seed: str) -> SamplePairs | None:
    """The pairs over per-sample scores; None where the metric or the stored results have none."""
    if not pairing.has_samples(metric):
        return None
    lines = [
        ln for ln in shown if ln.limit is None and any(j.ok and j.n_samples for j in jobs.get(ln.key, ()))
    ]
    lines = lines[:MAX_LINES]
    if len(lines) < 2:
        return None
    table = pairing.sample_table([jobs[line.key] for line in lines], metric, seed)
    if table is None:
        return None
    pairs = pairwise_anytime(table.scores, alpha=ALPHA, lo=metric.lo, hi=metric.hi)
    return SamplePairs(lines=tuple(lines), samples=table, pairs=pairs)


def separate(
    metric: MetricInfo,
    lines: Sequence[Line],
    jobs: Jobs,
    estimates: Mapping[LineKey, Estimate],
    *,
    facet: str = "",
    ratio: float = 0.0,
    found: SamplePairs | None = None,
) -> Separation:
    """The group of the best contender of one column."""
    if metric.direction == "none" and metric.target is None:
        return NONE
    rivals = [ln for ln in lines if ln.competes and estimates[ln.key].mean is not None]
    if len(rivals) < 2:
        return NONE
    best = max(range(len(rivals)), key=lambda i: _goodness(metric, estimates[rivals[i].key]))
    if found is not None and metric.target is None:
        adjusted = adjusted_between(found, rivals)
        basis: Literal["repeats", "samples"] = "samples"
    else:
        table = pairing.repeat_table([jobs[ln.key] for ln in rivals], metric.name, facet)
        if metric.target is not None:
            table = np.abs(table - metric.target)
        adjusted, basis = pairwise_t(table, test_over_train=ratio), "repeats"
    against = adjusted[best]
    if np.isnan(against).all():
        return NONE
    tied = {ln.key for ln, p in zip(rivals, against, strict=True) if p > ALPHA}
    return Separation(basis=basis, tied=frozenset(tied))


def _goodness(metric: MetricInfo, estimate: Estimate) -> float:
    return float("-inf") if estimate.mean is None else tables.goodness(metric, estimate.mean)


def adjusted_between(found: SamplePairs, rivals: Sequence[Line]) -> npt.NDArray[np.float64]:
    """Holm-adjusted p between `rivals`, float[k, k]; NaN for those without samples."""
    at = {line.key: i for i, line in enumerate(found.lines)}
    whole = np.full((len(found.lines),) * 2, np.nan)
    i, j = np.array(found.pairs.first), np.array(found.pairs.second)
    whole[i, j] = whole[j, i] = found.pairs.adjusted_p
    result = np.full((len(rivals),) * 2, np.nan)
    for a, left in enumerate(rivals):
        for b, right in enumerate(rivals):
            if left.key in at and right.key in at:
                result[a, b] = whole[at[left.key], at[right.key]]
    return result
