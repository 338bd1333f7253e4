"""Density and coverage: how deep are generated points in the real manifold, and how much of it do they reach?"""

from __future__ import annotations

from dataclasses import dataclass

from bench.metrics.images._inputs import Ball, Features
from bench.metrics.images._neighborhood import DEGENERATE_REFERENCE, Neighborhood, neighborhood, share


@dataclass(frozen=True)
class DensityCoverage:
    """density in [0, n/k], 1 expected for equal distributions; coverage in [0, 1]; higher is better.

    flags: "degenerate-reference" when every real ball has radius 0, so that density says nothing.
    """

    density: float
    coverage: float
    k: int
    flags: tuple[str, ...] = ()


def density_coverage(
    *, real: Features, generated: Features, k: int = 5, ball: Ball = "closed"
) -> DensityCoverage:
    """Density and coverage of Naeem et al. 2020.

    density = mean over generated points of (real balls that hold the point) / k; coverage = share of real points
    whose ball holds a generated point. Balls reach to the k-th nearest other real point. `ball="closed"` counts
    points at exactly the radius; "open" does not, as the authors' package prdc does.

    real: (n, d), generated: (m, d), numpy or torch, n, m > k. Raises ValueError for bad features or k.

    Naeem, Oh, Uh, Choi, Yoo, "Reliable Fidelity and Diversity Metrics for Generative Models", ICML 2020.

    >>> import numpy as np
    >>> real, generated = np.array([[0.0], [1], [3], [7], [20]]), np.array([[0.5], [2], [10], [11]])
    >>> density_coverage(real=real, generated=generated, k=1, ball="open")
    DensityCoverage(density=1.5, coverage=1.0, k=1, flags=())
    """
    return density_coverage_of(neighborhood(real=real, generated=generated, ball_ks=(k,), ball=ball), k)


def density_coverage_of(hood: Neighborhood, k: int) -> DensityCoverage:
    """Density and coverage from neighbours already measured."""
    holding, _ = hood.holding(k)
    radii = hood.real_self.distances[:, k - 1]
    nearest = hood.cross.real_to_generated.distances[:, 0]
    covered = nearest <= radii if hood.closed else nearest < radii
    flags = () if bool((radii > 0).any()) else (DEGENERATE_REFERENCE,)
    return DensityCoverage(int(holding.sum()) / (k * len(holding)), share(covered), k, flags)


def expected_coverage(*, n: int, m: int, k: int = 5) -> float:
    """Coverage expected of n real and m generated points of one continuous distribution.

    1 - prod_{i=1..k} (n - i) / (m + n - i), in [0, 1] (Naeem et al. 2020, Lemma 2).

    >>> round(expected_coverage(n=3000, m=3000, k=5), 5)
    0.96883
    """
    missed = 1.0
    for i in range(1, k + 1):
        missed *= (n - i) / (m + n - i)
    return 1 - missed
