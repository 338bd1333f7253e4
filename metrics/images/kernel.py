"""Kernel distance: unbiased squared maximum mean discrepancy with the cubic kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bench.metrics.images._inputs import Features, feature_pair

_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class Subsets:
    """Settings of the published protocol: averages over random subsets instead of all samples."""

    count: int = 100
    size: int = 1000
    seed: int = 2020


@dataclass(frozen=True)
class KernelDistance:
    """mmd2: unbiased, so values below 0 are possible for equal distributions; lower better.

    deviation: standard deviation over the subsets (nan when all samples were used).
    """

    mmd2: float
    deviation: float


def kernel_distance(*, real: Features, generated: Features, subsets: Subsets | None = None) -> KernelDistance:
    """Unbiased MMD^2 with the kernel (x.y / d + 1)^3 over all samples.

    `subsets` gives the mean over random subsets as published implementations do, drawn by numpy's RandomState in
    the order real, generated for each subset: noisier, only for comparison with published values.

    real: (n, d), generated: (m, d), numpy or torch, n, m >= 2 (subsets: >= size). In float64.
    Raises ValueError for bad features or subsets larger than a set.

    Binkowski, Sutherland, Arbel, Gretton, "Demystifying MMD GANs", ICLR 2018.

    >>> import numpy as np
    >>> kernel_distance(real=np.array([[0.0], [1]]), generated=np.array([[1.0], [2]])).mmd2
    9.5
    """
    x, y = feature_pair(real=real, generated=generated, minimum=2)
    if subsets is None:
        return KernelDistance(_mmd2(x, y), float("nan"))
    _check_subsets(subsets, real=x, generated=y)
    draw = np.random.RandomState(subsets.seed)
    values = []
    for _ in range(subsets.count):
        rows = torch.from_numpy(draw.choice(len(x), subsets.size, replace=False)).to(x.device)
        others = torch.from_numpy(draw.choice(len(y), subsets.size, replace=False)).to(x.device)
        values.append(_mmd2(x[rows], y[others]))
    return KernelDistance(float(np.mean(values)), float(np.std(values)))


def _mmd2(x: Tensor, y: Tensor) -> float:
    n, m = len(x), len(y)
    within_x, within_y = _sum_within(x) / (n * (n - 1)), _sum_within(y) / (m * (m - 1))
    return within_x + within_y - 2 * _sum_between(x, y) / (n * m)


def _sum_within(points: Tensor) -> float:
    """Sum of the kernel over ordered pairs of different rows; a block above the diagonal counts twice."""
    total = 0.0
    for start in range(0, len(points), _BLOCK_ROWS):
        rows, later = points[start : start + _BLOCK_ROWS], points[start + _BLOCK_ROWS :]
        own = _kernel(rows.double(), rows.double())
        total += float(own.sum() - own.diagonal().sum()) + 2 * _sum_between(rows, later)
    return total


def _sum_between(x: Tensor, y: Tensor) -> float:
    total = 0.0
    for start in range(0, len(x), _BLOCK_ROWS):
        rows = x[start : start + _BLOCK_ROWS].double()
        for left in range(0, len(y), _BLOCK_ROWS):
            total += float(_kernel(rows, y[left : left + _BLOCK_ROWS].double()).sum())
    return total


def _kernel(rows: Tensor, columns: Tensor) -> Tensor:
    base = (rows @ columns.T).div_(rows.shape[1]).add_(1)
    return base.square().mul_(base)


def _check_subsets(subsets: Subsets, *, real: Tensor, generated: Tensor) -> None:
    if subsets.count < 1 or subsets.size < 2:
        raise ValueError(f"subsets need count >= 1 and size >= 2, got {subsets}")
    for name, points in (("real", real), ("generated", generated)):
        if len(points) < subsets.size:
            raise ValueError(
                f"{name}: subsets of {subsets.size} need at least {subsets.size} samples, got {len(points)}"
            )
