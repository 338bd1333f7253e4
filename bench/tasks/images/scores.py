"""All numbers of image fidelity for one pair of feature sets, with their intervals and flags."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor

from bench.metrics.images import (
    NeighborMetrics,
    frechet_distance,
    kernel_distance,
    neighbor_metrics,
)
from bench.spec import Measure
from bench.tasks.images import spread
from bench.tasks.images.deviation import bounded_deviation

BALL: Literal["closed"] = "closed"
CHAMFER_K, BALL_K = 1, 5
SECOND_CHAMFER_K, SECOND_BALL_K = 5, 3
TOO_FEW = "no interval: too few images, or a part of them is degenerate"
OTHER_ENCODER = "no interval: computed with the data set's default encoder only"
DEGENERATE = "degenerate-reference: all reference features are equal, so there is no distance to compare with"

Key = tuple[str, str]  # facet ("" for the task's own value), metric


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityScores:
    """`measures[facet][metric]`, the badges that go with them, and the number of different real rows."""

    measures: Mapping[str, Mapping[str, Measure]]
    flags: tuple[str, ...]
    distinct_real: int


def fidelity_scores(real: Tensor, generated: Tensor, *, seed: int, intervals: bool = True) -> FidelityScores:
    """Score `generated` against `real`, both float32 (n, d) of one device with n >= 6.

    Without `intervals`, which take most of the time, every value says that only another encoder has them. Facet ""
    has every metric, "k=3" the ball metrics and "k=5" the Chamfer metrics at those k.
    """
    neighbors = _neighbors(real, generated)
    frechet = frechet_distance(real=real, generated=generated)
    values = {**_neighbor_values(neighbors), **_moment_values(real, generated, frechet.distance)}
    errors = _standard_errors(real, generated, seed) if intervals else {}
    missing = TOO_FEW if intervals else OTHER_ENCODER
    measures: dict[str, dict[str, Measure]] = {}
    for (facet, metric), value in values.items():
        error = errors.get((facet, metric))
        measures.setdefault(facet, {})[metric] = _measure(metric, value, error, len(generated), missing)
    flags = (
        *neighbors.chamfer[CHAMFER_K].flags,
        *neighbors.density_coverage[BALL_K].flags,
        *(flag.replace("n<d", "n below d") for flag in frechet.flags),
    )
    return FidelityScores(
        measures=measures, flags=tuple(dict.fromkeys(flags)), distinct_real=neighbors.distinct_real
    )


def _neighbors(real: Tensor, generated: Tensor) -> NeighborMetrics:
    return neighbor_metrics(
        real=real,
        generated=generated,
        ks=(CHAMFER_K, SECOND_CHAMFER_K),
        ball_ks=(BALL_K, SECOND_BALL_K),
        ball=BALL,
    )


def _neighbor_values(found: NeighborMetrics) -> dict[Key, float]:
    values: dict[Key, float] = {}
    for facet, k in (("", CHAMFER_K), (f"k={SECOND_CHAMFER_K}", SECOND_CHAMFER_K)):
        result = found.chamfer[k]
        values[facet, "chamfer_dev"] = bounded_deviation(result)
        values[facet, "r2g_ratio"] = result.r2g_ratio
        values[facet, "g2r_ratio"] = result.g2r_ratio
        values[facet, "self_ratio"] = result.self_ratio
        values[facet, "chamfer"] = result.chamfer
        values[facet, "chamfer_r2g"] = result.r2g
        values[facet, "chamfer_g2r"] = result.g2r
    for facet, k in (("", BALL_K), (f"k={SECOND_BALL_K}", SECOND_BALL_K)):
        values[facet, "precision"] = found.precision_recall[k].precision
        values[facet, "recall"] = found.precision_recall[k].recall
        values[facet, "density"] = found.density_coverage[k].density
        values[facet, "coverage"] = found.density_coverage[k].coverage
    return values


def _moment_values(real: Tensor, generated: Tensor, fd: float) -> dict[Key, float]:
    return {("", "fd"): fd, ("", "kid"): 1000 * kernel_distance(real=real, generated=generated).mmd2}


def _standard_errors(real: Tensor, generated: Tensor, seed: int) -> dict[Key, float]:
    """Standard errors of what can have one at this size."""
    rng = np.random.default_rng(seed)
    errors: dict[Key, float] = {}
    if len(real) >= 2 * (SECOND_CHAMFER_K + 1):
        errors |= spread.half_errors(
            lambda x, y: _neighbor_values(_neighbors(x, y)), real, generated, rng=rng
        )
    if len(real) >= 2 * spread.BLOCKS:
        errors |= spread.block_errors(
            lambda x, y: _moment_values(x, y, frechet_distance(real=x, generated=y).distance),
            real,
            generated,
            rng=rng,
        )
    return errors


def _measure(metric: str, value: float, error: float | None, n: int, missing: str) -> Measure:
    if math.isnan(value):
        return Measure(value=None, n=n, reason=DEGENERATE)
    if error is None:
        return Measure(value=value, n=n, reason=missing)
    if metric in ("fd", "kid"):
        method, reach = spread.BLOCK_METHOD, spread.BLOCK_QUANTILE * error
    else:
        method, reach = spread.HALF_METHOD, spread.HALF_QUANTILE * error
    low = value - reach if metric == "kid" else max(0.0, value - reach)
    high = min(1.0, value + reach) if metric in ("precision", "recall", "coverage") else value + reach
    return Measure(value=value, ci_low=low, ci_high=high, ci_method=method, n=n)
