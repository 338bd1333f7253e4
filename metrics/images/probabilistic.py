"""Probabilistic precision and recall: soft balls instead of hard ones."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.images._inputs import Features, check_k, feature_pair
from bench.metrics.images._pairs import distance_tiles
from bench.metrics.neighbors import nearest_others


@dataclass(frozen=True)
class ProbabilisticPrecisionRecall:
    """Mean probability that a point of one set belongs to the other's support. Both in [0, 1], higher better."""

    precision: float
    recall: float
    k: int
    scale: float


def probabilistic_precision_recall(
    *, real: Features, generated: Features, k: int = 4, scale: float = 1.2
) -> ProbabilisticPrecisionRecall:
    """P-precision and P-recall of Park & Kim 2023.

    With r the mean distance to the k-th nearest other point of the supporting set, a point at distance d of a
    supporting one belongs to it with probability 1 - min(1, d / (scale r)), independently for all of them.

    real: (n, d), generated: (m, d), numpy or torch, n, m > k. Float64 over blocks of pairs. Raises ValueError for
    bad features, k or scale.

    Park, Kim, "Probabilistic Precision and Recall Towards Reliable Evaluation of Generative Models", ICCV 2023.

    >>> import numpy as np
    >>> real, generated = np.array([[0.0], [1], [2]]), np.array([[0.0], [1.5], [9]])
    >>> probabilistic_precision_recall(real=real, generated=generated, k=1, scale=1).precision  # (1 + .75 + 0) / 3
    0.5833333333333334
    """
    if not scale > 0:
        raise ValueError(f"scale must be positive, got {scale}")
    x, y = feature_pair(real=real, generated=generated)
    check_k(k, real=x, generated=y)
    reach_x, reach_y = (
        scale * float(nearest_others(points=points, k=k).distances[:, k - 1].mean()) for points in (x, y)
    )
    outside_x = torch.ones(len(y), dtype=torch.float64, device=y.device)
    outside_y = torch.ones(len(x), dtype=torch.float64, device=x.device)
    for rows, columns, tile in distance_tiles(x, y):
        outside_x[columns] *= _outside(tile, reach_x).prod(0)
        outside_y[rows] *= _outside(tile, reach_y).prod(1)
    return ProbabilisticPrecisionRecall(
        float((1 - outside_x).mean()), float((1 - outside_y).mean()), k, scale
    )


def _outside(distances: Tensor, reach: float) -> Tensor:
    """min(1, d / reach); with no reach only a point at distance 0 is inside."""
    return (distances / reach).clamp_(max=1) if reach > 0 else (distances > 0).double()
