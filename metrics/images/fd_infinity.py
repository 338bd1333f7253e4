"""Frechet distance extrapolated to infinitely many generated samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bench.metrics.images._inputs import Features, feature_pair
from bench.metrics.images.frechet import feature_statistics, frechet_distance, frechet_from_statistics

EXTRAPOLATED = "extrapolation from n<d"
SMALLEST = 500
_STEPS = 15


@dataclass(frozen=True)
class FrechetInfinity:
    """Intercept of the line through the Frechet distances over 1 / size.

    distance: the intercept; lower better, may fall below 0 by chance.
    standard_error: of the intercept, from the residuals of the 15 points; it knows nothing of the real samples.
    slope: per 1 / size, the bias of a finite sample.
    sizes, distances: the points of the line.
    flags: "extrapolation from n<d" when the smallest subsets have fewer samples than features.
    """

    distance: float
    standard_error: float
    slope: float
    sizes: tuple[int, ...]
    distances: tuple[float, ...]
    flags: tuple[str, ...] = ()


def frechet_infinity(*, real: Features, generated: Features, seed: int = 0) -> FrechetInfinity:
    """Extrapolate the Frechet distance in the number of generated samples (Chong & Forsyth 2020).

    Distances from all real samples to seeded subsets of the generated ones, drawn without replacement, of 15 sizes
    from m / 10 to m; least squares on 1 / size. The bias of the real samples stays.

    real: (n, d), generated: (m, d), numpy or torch, n >= 2, m >= 500. Raises ValueError for bad features or fewer.

    Chong, Forsyth, "Effectively Unbiased FID and Inception Score and Where to Find Them", CVPR 2020.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = frechet_infinity(real=rng.normal(size=(5000, 8)), generated=rng.normal(size=(5000, 8)))
    >>> found.sizes[0], found.sizes[-1], abs(found.distance) < found.distances[-1]
    (500, 5000, True)
    """
    x, y = feature_pair(real=real, generated=generated, minimum=2)
    if len(y) < SMALLEST:
        raise ValueError(f"generated: the extrapolation needs at least {SMALLEST} samples, got {len(y)}")
    sizes = np.linspace(len(y) / 10, len(y), _STEPS).astype(int)
    distances = _distances(x, y, sizes.tolist(), np.random.default_rng(seed))
    intercept, slope, error = _line(1 / sizes, np.array(distances))
    flags = (EXTRAPOLATED,) if sizes[0] < x.shape[1] else ()
    return FrechetInfinity(intercept, error, slope, tuple(sizes.tolist()), tuple(distances), flags)


def _distances(x: Tensor, y: Tensor, sizes: list[int], rng: np.random.Generator) -> list[float]:
    """Samples go in where there are few, statistics where there are many: those of x are computed once."""
    many = feature_statistics(x) if len(x) > x.shape[1] else None
    found = []
    for size in sizes:
        rows = torch.from_numpy(rng.choice(len(y), size, replace=False)).to(y.device)
        if many is not None and size > y.shape[1]:
            result = frechet_from_statistics(real=many, generated=feature_statistics(y[rows]))
        else:
            result = frechet_distance(real=x, generated=y[rows])
        found.append(result.distance)
    return found


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Intercept, slope and standard error of the intercept by least squares."""
    centre = x.mean()
    spread = float(((x - centre) ** 2).sum())
    slope = float(((x - centre) * y).sum()) / spread
    intercept = float(y.mean() - slope * centre)
    variance = float(((y - intercept - slope * x) ** 2).sum()) / (len(x) - 2)
    return intercept, slope, float(np.sqrt(variance * (1 / len(x) + centre**2 / spread)))
