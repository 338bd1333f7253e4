"""Kernel distance with a Gaussian kernel on directions (CMMD)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.images._inputs import Features, feature_pair
from bench.metrics.images._pairs import distance_tiles


@dataclass(frozen=True)
class RbfDistance:
    """mmd2: 1000 times the squared maximum mean discrepancy, >= 0 up to rounding, lower better, 0 for equal sets."""

    mmd2: float
    sigma: float
    normalized: bool


def rbf_mmd(
    *, real: Features, generated: Features, sigma: float = 10.0, normalize: bool = True
) -> RbfDistance:
    """1000 MMD^2 with the kernel exp(-|x - y|^2 / (2 sigma^2)), as V-statistic (each set with its diagonal).

    `normalize` divides every row by its length, as CMMD does with CLIP features; a row of zeros stays.

    real: (n, d), generated: (m, d), numpy or torch. Float64 over blocks of pairs. Raises ValueError for bad
    features or sigma.

    Jayasumana, Ramalingam, Veit, Glasner, Chakrabarti, Kumar, "Rethinking FID: Towards a Better Evaluation Metric
    for Image Generation", CVPR 2024.

    >>> import numpy as np
    >>> one, two = np.array([[1.0, 0.0]]), np.array([[0.0, 5.0]])
    >>> round(rbf_mmd(real=one, generated=two).mmd2, 6)  # 2000 (1 - exp(-2 / 200))
    19.900333
    """
    if not sigma > 0:
        raise ValueError(f"sigma must be positive, got {sigma}")
    x, y = feature_pair(real=real, generated=generated)
    if normalize:
        x, y = (torch.nn.functional.normalize(points.double(), dim=1) for points in (x, y))
    # The ones of the three means cancel: sums of k - 1 keep the digits that matter.
    within = _mean_below_one(x, x, sigma) + _mean_below_one(y, y, sigma)
    return RbfDistance(1000 * (within - 2 * _mean_below_one(x, y, sigma)), sigma, normalize)


def _mean_below_one(x: Tensor, y: Tensor, sigma: float) -> float:
    """Mean of kernel - 1 over all pairs."""
    total = 0.0
    for _, _, tile in distance_tiles(x, y):
        total += float(torch.expm1(tile.square_() / (-2 * sigma**2)).sum())
    return total / (len(x) * len(y))
