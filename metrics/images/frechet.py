"""Frechet distance between the Gaussians fitted to two sets of features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from bench.metrics.images import _linalg
from bench.metrics.images._inputs import Features, feature_pair, feature_set

FEWER_THAN_DIMENSIONS = "n<d"

_ROUNDING = 1e-6
"""Results in [-_ROUNDING * (tr Sx + tr Sy), 0] are rounding of 0."""

_TOLERANCE = 1e-6
"""Relative asymmetry and negative eigenvalues of a given covariance that pass as rounding."""


@dataclass(frozen=True)
class FrechetDistance:
    """distance >= 0, lower better, 0 for equal moments; mean_term + covariance_term up to the clamp at 0.

    flags: "n<d" when a set has fewer samples than features, so that its covariance is singular.
    """

    distance: float
    mean_term: float
    covariance_term: float
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class GaussianStatistics:
    """Mean (d,) and unbiased covariance (d, d), both float64; `count` is None when unknown.

    `factor` is computed once and kept: hold on to the statistics of a reference that is used again and again.
    """

    mean: Tensor
    covariance: Tensor
    count: int | None = None

    @cached_property
    def factor(self) -> _linalg.Factor:
        """The covariance as L L^T."""
        return _linalg.factorise(self.covariance)


def frechet_distance(*, real: Features, generated: Features) -> FrechetDistance:
    """Frechet distance |mu_x - mu_y|^2 + tr(Sx + Sy - 2 (Sx Sy)^(1/2)) between two sets of features.

    real: (n, d), generated: (m, d), numpy or torch, n, m >= 2; the numbers may differ. All statistics in float64.
    When a set has no more samples than features, so that its covariance is singular, the trace of the root comes from
    the samples themselves (exact and fast), otherwise from the covariances. Raises ValueError for bad features.

    Heusel, Ramsauer, Unterthiner, Nessler, Hochreiter, "GANs Trained by a Two Time-Scale Update Rule Converge to a
    Local Nash Equilibrium", NeurIPS 2017.

    >>> import numpy as np
    >>> real = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> round(frechet_distance(real=real, generated=real + [3.0, 4.0]).distance, 9)
    25.0
    """
    x, y = feature_pair(real=real, generated=generated, minimum=2)
    dimensions = x.shape[1]
    if min(len(x), len(y)) > dimensions:
        return frechet_from_statistics(real=_statistics(x), generated=_statistics(y))
    (mean_x, rows_x), (mean_y, rows_y) = _centred(x), _centred(y)
    total = float(rows_x.square().sum() + rows_y.square().sum())
    root = float(torch.linalg.svdvals(rows_x @ rows_y.T).sum())
    return _assemble(mean_x - mean_y, total, root, _size_flags(dimensions, len(x), len(y)))


def statistics_from_moments(
    *, mean: Features, covariance: Features, count: int | None = None
) -> GaussianStatistics:
    """Statistics that came from elsewhere, for example a published file of (mu, sigma), checked.

    mean: (d,), covariance: (d, d), finite, symmetric and positive semidefinite up to rounding.
    Raises ValueError otherwise, with the smallest eigenvalue when that is the reason.
    """
    centre, spread = (torch.as_tensor(part).to(torch.float64) for part in (mean, covariance))
    if centre.ndim != 1 or spread.shape != (len(centre), len(centre)) or not len(centre):
        raise ValueError(
            f"mean must be (d,) and covariance (d, d), got {tuple(centre.shape)} and {tuple(spread.shape)}"
        )
    if not (bool(centre.isfinite().all()) and bool(spread.isfinite().all())):
        raise ValueError("mean and covariance must be finite; compute the statistics again")
    largest = float(spread.abs().max())
    if float((spread - spread.T).abs().max()) > _TOLERANCE * largest:
        raise ValueError("covariance must be symmetric; compute the statistics again")
    statistics = GaussianStatistics(centre, (spread + spread.T) / 2, count)
    if not statistics.factor.triangular:
        smallest = float(torch.linalg.eigvalsh(statistics.covariance)[0])
        if smallest < -_TOLERANCE * largest:
            raise ValueError(
                f"covariance must be positive semidefinite, its smallest eigenvalue is {smallest:.6g}; "
                "compute the statistics again"
            )
    return statistics


def feature_statistics(features: Features) -> GaussianStatistics:
    """Mean and unbiased covariance of features (n, d), n >= 2, in float64, from one pass over blocks of rows."""
    return _statistics(feature_set(features, "features", minimum=2))


def frechet_from_statistics(*, real: GaussianStatistics, generated: GaussianStatistics) -> FrechetDistance:
    """Frechet distance between two Gaussians; the factor of `real` is computed once per object.

    Raises ValueError when the shapes do not fit.
    """
    shapes = [
        tuple(part.shape) for part in (real.mean, real.covariance, generated.mean, generated.covariance)
    ]
    dimensions = real.mean.shape[0] if real.mean.ndim == 1 else 0
    if not dimensions or shapes != [(dimensions,), (dimensions, dimensions)] * 2:
        raise ValueError(
            "means must be (d,) and covariances (d, d) with one d, "
            f"got real {shapes[0]} and {shapes[1]}, generated {shapes[2]} and {shapes[3]}"
        )
    root = _linalg.trace_of_root(real.factor, generated.covariance)
    total = float(real.covariance.trace() + generated.covariance.trace())
    flags = _size_flags(dimensions, real.count, generated.count)
    return _assemble(real.mean - generated.mean, total, root, flags)


def _size_flags(dimensions: int, *counts: int | None) -> tuple[str, ...]:
    fewer = any(count is not None and count < dimensions for count in counts)
    return (FEWER_THAN_DIMENSIONS,) if fewer else ()


def _assemble(shift: Tensor, total: float, root: float, flags: tuple[str, ...]) -> FrechetDistance:
    mean_term, covariance_term = float(shift.square().sum()), total - 2 * root
    distance = mean_term + covariance_term
    if -_ROUNDING * total <= distance < 0:
        distance = 0.0
    return FrechetDistance(distance, mean_term, covariance_term, flags)


def _centred(features: Tensor) -> tuple[Tensor, Tensor]:
    """Mean, and rows A with A^T A the unbiased covariance."""
    centre = _linalg.mean(features)
    return centre, (features.double() - centre) / (len(features) - 1) ** 0.5


def _statistics(features: Tensor) -> GaussianStatistics:
    centre = _linalg.mean(features)
    return GaussianStatistics(centre, _linalg.covariance(features, centre), len(features))
