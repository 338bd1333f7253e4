"""Chamfer distances: one-sided mean nearest-neighbour distances, read against what real samples give."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from bench.metrics.images._inputs import Features
from bench.metrics.images._neighborhood import DEGENERATE_REFERENCE, Neighborhood, neighborhood

UNEQUAL_SIZES = "unequal-sizes"
CONTRACTION = "contraction"
BELOW_REAL = "below-real"

_CONTRACTED = 0.97
_STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class Chamfer:
    """One-sided distances, their ratios to the real baseline, and how to read them.

    r2g: mean distance from a real point to its k nearest generated ones (coverage side), >= 0, lower better.
    g2r: mean distance from a generated point to its k nearest real ones (fidelity side), >= 0, lower better.
    chamfer: half their sum.
    baseline: mean distance from a real point to its k nearest other real ones.
    r2g_ratio, g2r_ratio: value / baseline; 1 means as near as another real sample.
    self_ratio: mean distance among generated points / baseline; < 1 concentration or duplicates, > 1 noise.
    deviation: |ln r2g_ratio| + |ln g2r_ratio| + |ln self_ratio|, 0 is best; infinite when a ratio is 0.
    fidelity, coverage: min(1, 1 / g2r_ratio) and min(1, 1 / r2g_ratio), in (0, 1], higher better.
    r2g_ratio_se, g2r_ratio_se: standard errors of the two ratios over the points.
    flags: "degenerate-reference" (baseline 0: ratios and what follows from them are nan), "unequal-sizes" (the
    baseline is made for n = m), and for a ratio below 1 by more than three standard errors, which is not better
    than real: "contraction" (self_ratio < .97) or "below-real".
    """

    r2g: float
    g2r: float
    chamfer: float
    baseline: float
    r2g_ratio: float
    g2r_ratio: float
    self_ratio: float
    deviation: float
    fidelity: float
    coverage: float
    r2g_ratio_se: float
    g2r_ratio_se: float
    k: int
    squared: bool
    flags: tuple[str, ...]


def chamfer(*, real: Features, generated: Features, k: int = 1, squared: bool = False) -> Chamfer:
    """Chamfer distances between two sets of features, with the ratios to a leave-one-out real baseline.

    Squared distances are averaged when `squared` is set. The definitions are this project's own reading of
    one-sided nearest-neighbour evaluation. Ratios compare a real-to-generated distance over m points with a
    real-to-real one over n - 1: call `equalise` first when n != m, or the result is flagged.

    real: (n, d), generated: (m, d), numpy or torch, n, m > k. Exact to float64. Raises ValueError for bad features
    or k.

    >>> import numpy as np
    >>> real, generated = np.array([[0.0], [1], [3], [7], [20]]), np.array([[0.5], [2], [10], [11]])
    >>> result = chamfer(real=real, generated=generated)
    >>> result.r2g, result.g2r, result.baseline
    (2.8, 2.125, 4.2)
    """
    return chamfer_of(neighborhood(real=real, generated=generated, distance_ks=(k,)), k, squared=squared)


def chamfer_of(hood: Neighborhood, k: int, *, squared: bool = False) -> Chamfer:
    """Chamfer distances from neighbours already measured."""
    tables = (
        hood.cross.real_to_generated.distances,
        hood.cross.generated_to_real.distances,
        hood.real_self.distances,
        hood.generated_self.distances,
    )
    r2g, g2r, base, own = (_per_point(table, k, squared) for table in tables)
    baseline = float(base.mean())
    r2g_ratio, g2r_ratio, self_ratio = (_ratio(float(values.mean()), baseline) for values in (r2g, g2r, own))
    errors = _ratio_error(r2g, base), _ratio_error(g2r, base)
    return Chamfer(
        r2g=float(r2g.mean()),
        g2r=float(g2r.mean()),
        chamfer=(float(r2g.mean()) + float(g2r.mean())) / 2,
        baseline=baseline,
        r2g_ratio=r2g_ratio,
        g2r_ratio=g2r_ratio,
        self_ratio=self_ratio,
        deviation=sum(_distance_from_one(ratio) for ratio in (r2g_ratio, g2r_ratio, self_ratio)),
        fidelity=_bounded(g2r_ratio),
        coverage=_bounded(r2g_ratio),
        r2g_ratio_se=errors[0],
        g2r_ratio_se=errors[1],
        k=k,
        squared=squared,
        flags=_flags((r2g_ratio, g2r_ratio), errors, self_ratio, equal=len(base) == len(own)),
    )


def _per_point(distances: Tensor, k: int, squared: bool) -> Tensor:
    nearest = distances[:, :k]
    return (nearest.square() if squared else nearest).mean(1)


def _ratio(value: float, baseline: float) -> float:
    return value / baseline if baseline > 0 else math.nan


def _ratio_error(values: Tensor, base: Tensor) -> float:
    """Standard error of mean(values) / mean(base), the two taken as independent (first order)."""
    mean, reference = float(values.mean()), float(base.mean())
    if reference == 0:
        return math.nan
    variance = float(values.var()) / len(values) + (mean / reference) ** 2 * float(base.var()) / len(base)
    return math.sqrt(variance) / reference


def _distance_from_one(ratio: float) -> float:
    return math.inf if ratio == 0 else abs(math.log(ratio))


def _bounded(ratio: float) -> float:
    return 1.0 if ratio <= 1 else 1 / ratio


def _flags(
    ratios: tuple[float, float], errors: tuple[float, float], self_ratio: float, *, equal: bool
) -> tuple[str, ...]:
    flags = [] if equal else [UNEQUAL_SIZES]
    if math.isnan(self_ratio):
        flags.append(DEGENERATE_REFERENCE)
    if any(1 - ratio > _STANDARD_ERRORS * error for ratio, error in zip(ratios, errors, strict=True)):
        flags.append(CONTRACTION if self_ratio < _CONTRACTED else BELOW_REAL)
    return tuple(flags)
