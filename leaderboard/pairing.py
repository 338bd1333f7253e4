"""From jobs to pairs: the values of two or more models on the same units, for tests that need them side by side."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.errors import StoreError
from bench.leaderboard.records import JobRecord
from bench.spec import MetricInfo, TaskInfo
from bench.store import Store

SampleId = int | str
Unit = tuple[int, int]
RATIO_SETTING = "test_over_train"  # of a size: n_test / n_train where repeats resample one data set


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTable:
    """Per-sample scores of several models on the samples they share, in an order fixed by the data set's name.

    `scores` is float64[models, n] in the range of the metric.
    """

    ids: tuple[SampleId, ...]
    scores: npt.NDArray[np.float64]


def repeat_values(jobs: Sequence[JobRecord], metric: str, facet: str = "") -> dict[Unit, float]:
    """Unit -> value, for the repeats that have one."""
    found = {job.unit: job.measured(metric, facet) for job in jobs}
    return {unit: value for unit, value in found.items() if value is not None}


def repeat_table(
    groups: Sequence[Sequence[JobRecord]], metric: str, facet: str = ""
) -> npt.NDArray[np.float64]:
    """float64[models, units] over all units that any of the models has a job for; NaN where there is no value."""
    units = sorted({job.unit for jobs in groups for job in jobs})
    table = np.full((len(groups), len(units)), np.nan)
    for row, jobs in zip(table, groups, strict=True):
        values = repeat_values(jobs, metric, facet)
        row[:] = [values.get(unit, np.nan) for unit in units]
    return table


def resampling_ratio(info: TaskInfo, size: str, jobs: Sequence[JobRecord]) -> float:
    """n_test / n_train where the repeats of a task resample one data set, else 0.

    Declared in the settings of the size, or with the table a result was imported from.
    """
    declared = next((p.settings.get(RATIO_SETTING, 0.0) for s, p in info.sizes.items() if s == size), None)
    if declared is None and jobs:
        declared = jobs[0].imported.get(RATIO_SETTING, 0.0)
    ratio = float(declared) if isinstance(declared, (int, float)) else 0.0
    return ratio if math.isfinite(ratio) and ratio >= 0 else 0.0


def has_samples(metric: MetricInfo) -> bool:
    """Whether per-sample scores of this metric can be compared at any time: a mean of bounded scores."""
    return metric.kind == "sample_mean" and math.isfinite(metric.lo) and math.isfinite(metric.hi)


def sample_scores(jobs: Sequence[JobRecord], metric: str) -> dict[SampleId, float]:
    """Sample -> its score, averaged over repeats: values of one sample are not independent of each other.

    Empty if any repeat that ended well stored no scores: its samples would be missing unnoticed.
    """
    sums: dict[SampleId, list[float]] = {}
    for job in (j for j in jobs if j.ok):
        scores = _stored(job.store, job.run_id, job.job_key, job.attempt, metric) if job.n_samples else None
        if scores is None:
            return {}
        for sample, score in zip(*scores, strict=True):
            sums.setdefault(sample, []).append(score)
    return {sample: math.fsum(found) / len(found) for sample, found in sums.items()}


def sample_table(groups: Sequence[Sequence[JobRecord]], metric: MetricInfo, seed: str) -> SampleTable | None:
    """Scores of all models on the samples they have in common; None unless all have exactly the same.

    The order is a permutation drawn from `seed`, a text that does not depend on any value.
    """
    found = [sample_scores(jobs, metric.name) for jobs in groups]
    if not found or not found[0] or any(scores.keys() != found[0].keys() for scores in found):
        return None
    ids = ordered(list(found[0]), seed)
    scores = np.array([[scores[i] for i in ids] for scores in found])
    return SampleTable(ids=tuple(ids), scores=np.clip(scores, metric.lo, metric.hi))


def ordered(ids: Sequence[SampleId], seed: str) -> list[SampleId]:
    """`ids` in an order that depends on them and on `seed` only."""
    start = sorted(ids, key=repr)
    return [start[i] for i in np.random.default_rng(seed_number(seed)).permutation(len(start))]


def seed_number(seed: str) -> int:
    """A 63-bit seed from a text."""
    return int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1


@lru_cache(maxsize=4096)
def _stored(
    store: Path, run_id: str, job_key: str, attempt: int, metric: str
) -> tuple[list[SampleId], list[float]] | None:
    try:
        table = Store(store).samples(run_id, job_key, attempt)
    except (StoreError, OSError, ValueError):
        return None
    if table is None or metric not in table.column_names:
        return None
    scores = table[metric].to_pylist()
    ids = table["sample_id"].to_pylist()
    usable = all(s is not None and math.isfinite(s) for s in scores) and len(set(ids)) == len(ids)
    return (ids, scores) if usable else None
