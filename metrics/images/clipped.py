"""Clipped density and coverage: bounded, robust to outliers, calibrated to fall linearly with bad samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln
from torch import Tensor

from bench.metrics.images._inputs import Features, check_k, feature_pair
from bench.metrics.images._neighborhood import DEGENERATE_REFERENCE
from bench.metrics.neighbors import Balls, nearest_between, nearest_others


@dataclass(frozen=True)
class ClippedDensityCoverage:
    """Both in [0, 1], higher better, 1 expected of real samples.

    flags: "degenerate-reference" when every real ball has radius 0, so that neither says anything.
    """

    density: float
    coverage: float
    k: int
    flags: tuple[str, ...] = ()


def clipped_density_coverage(*, real: Features, generated: Features, k: int = 5) -> ClippedDensityCoverage:
    """Clipped density and clipped coverage of Salvy et al. 2026.

    Density: balls reach to the k-th nearest other real point but no farther than the median of these radii; a
    generated point counts the balls that hold it, at most k, over k. The mean is divided by that of real points
    (each without its own ball) and capped at 1. Coverage: each real point counts the generated points in its
    unclipped ball, at most k, over k; the mean is turned into the share of good generated samples that is expected
    to give it. As published, balls are closed in the density and open in the coverage, whose calibration supposes so.

    real: (n, d), generated: (m, d), numpy or torch, n, m > k. Raises ValueError for bad features or k.

    Salvy, Talbot, Thirion, "Enhanced Generative Model Evaluation with Clipped Density and Coverage", 2026.

    >>> import numpy as np
    >>> real = np.random.default_rng(0).normal(size=(100, 2))
    >>> clipped_density_coverage(real=real, generated=real + 50.0)
    ClippedDensityCoverage(density=0.0, coverage=0.0, k=5, flags=())
    """
    x, y = feature_pair(real=real, generated=generated)
    check_k(k, real=x, generated=y)
    radii = nearest_others(points=x, k=k).distances[:, k - 1]
    clipped = Balls(radii.clamp(max=float(radii.quantile(0.5)))[:, None])
    cross = nearest_between(real=x, generated=y, k=k, real_balls=clipped)
    around_real = nearest_between(real=x, generated=x, k=1, real_balls=clipped).real_balls_holding
    assert cross.real_balls_holding is not None
    assert around_real is not None
    # Every point is in its own ball; without it one is left at least, for each has a k-th neighbour.
    expected = _mean_depth(around_real - 1, k)
    density = min(1.0, _mean_depth(cross.real_balls_holding, k) / expected) if expected > 0 else math.nan
    inside = cross.real_to_generated.distances < radii[:, None]
    coverage = _calibrated(int(inside.sum()) / inside.numel(), n=len(x), m=len(y), k=k)
    flags = () if bool((radii > 0).any()) else (DEGENERATE_REFERENCE,)
    return ClippedDensityCoverage(density, coverage, k, flags)


def _mean_depth(holding: Tensor, k: int) -> float:
    return float(holding.clamp(max=k).double().mean())


def _calibrated(reached: float, *, n: int, m: int, k: int) -> float:
    """Share of the sizes M in 0..m whose expected coverage lies below `reached`."""
    return float((expected_reach(n=n, m=m, k=k) < reached).sum()) / (m + 1)


def expected_reach(*, n: int, m: int, k: int) -> np.ndarray:
    """Expected mean of min(k, points in a ball) / k with M = 0..m points of the real distribution, float64 (m + 1,).

    The number J of M points in the ball to the k-th of n - 1 others is beta-binomial, so with
    P(J = j) = C(M, j) B(k + j, n - k + M - j) / B(k, n - k) the mean is 1 - sum_{j < k} (1 - j / k) P(J = j). The
    published form is 0 for M < k.
    """
    sizes = np.arange(m + 1, dtype=float)[:, None]
    j = np.arange(k, dtype=float)
    with np.errstate(invalid="ignore"):  # j > M: not possible, made 0 below
        logs = gammaln(sizes + 1) - gammaln(j + 1) - gammaln(sizes - j + 1)
        logs += betaln(k + j, n - k + sizes - j) - betaln(k, n - k)
    missing = (np.where(j <= sizes, np.exp(logs), 0.0) * (1 - j / k)).sum(1)
    return np.where(sizes[:, 0] >= k, 1 - missing, 0.0)
