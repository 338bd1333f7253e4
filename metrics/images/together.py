"""All neighbour metrics of the family from one pass, and sets of equal size for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from bench.metrics.images._inputs import Ball, Features, feature_set
from bench.metrics.images._neighborhood import Neighborhood, neighborhood
from bench.metrics.images.chamfer import Chamfer, chamfer_of
from bench.metrics.images.density_coverage import DensityCoverage, density_coverage_of
from bench.metrics.images.precision_recall import PrecisionRecall, precision_recall_of
from bench.metrics.neighbors import distinct_rows

Rows = TypeVar("Rows", npt.NDArray[Any], torch.Tensor)


@dataclass(frozen=True)
class NeighborMetrics:
    """Results by k, and the neighbours they were made of (for example to show the farthest samples).

    distinct_real: number of different rows among the real samples.
    """

    chamfer: Mapping[int, Chamfer]
    precision_recall: Mapping[int, PrecisionRecall]
    density_coverage: Mapping[int, DensityCoverage]
    distinct_real: int
    neighborhood: Neighborhood


def neighbor_metrics(
    *,
    real: Features,
    generated: Features,
    ks: Sequence[int] = (1, 5),
    ball_ks: Sequence[int] = (5,),
    ball: Ball = "closed",
) -> NeighborMetrics:
    """Chamfer distances for `ks` and ball metrics for `ball_ks`, with every pair of points looked at once.

    The values equal those of chamfer, precision_recall and density_coverage, which see the same neighbours.

    real: (n, d), generated: (m, d), numpy or torch, n, m > every k. Raises ValueError for bad features or k.
    """
    hood = neighborhood(real=real, generated=generated, distance_ks=ks, ball_ks=ball_ks, ball=ball)
    return NeighborMetrics(
        chamfer={k: chamfer_of(hood, k) for k in ks},
        precision_recall={k: precision_recall_of(hood, k) for k in ball_ks},
        density_coverage={k: density_coverage_of(hood, k) for k in ball_ks},
        distinct_real=_distinct(real, hood),
        neighborhood=hood,
    )


def equalise(real: Rows, generated: Rows, *, seed: int) -> tuple[Rows, Rows]:
    """Both sets with the size of the smaller: a seeded random subset of the larger, in the original order.

    Works on anything with rows (features, images). Sets of equal size are returned as they are.
    """
    size = min(len(real), len(generated))
    return _subset(real, size, seed), _subset(generated, size, seed)


def _subset(rows: Rows, size: int, seed: int) -> Rows:
    if len(rows) == size:
        return rows
    chosen = np.sort(np.random.default_rng(seed).choice(len(rows), size=size, replace=False))
    if isinstance(rows, torch.Tensor):
        return rows[torch.from_numpy(chosen).to(rows.device)]
    return rows[chosen]


def _distinct(real: Features, hood: Neighborhood) -> int:
    nearest = hood.real_self.distances[:, 0]
    if bool((nearest > 0).all()):
        return len(nearest)
    return len(torch.unique(distinct_rows(feature_set(real, "real"))))
