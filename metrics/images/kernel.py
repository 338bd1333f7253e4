"""Kernel distance: unbiased squared maximum mean discrepancy with the cubic kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bench.metrics.images._inputs import Features, feature_pair
from bench.metrics.neighbors import matmul_transposed

_BLOCK_ROWS = 2048
_BLOCK_COLUMNS = 512
_HEAVY = 1 << 33
"""Multiplications between the two sets from which products are taken in float32."""


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

    real: (n, d), generated: (m, d), numpy or torch, n, m >= 2 (subsets: >= size). In float64, except that sets of more
    than 2^33 multiplications use float32 for the products of centred features (measured: 4e-10 of the kernel values).
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
    kernel = _CubicKernel(x, y)
    within_x, within_y = kernel.sum_within(x) / (n * (n - 1)), kernel.sum_within(y) / (m * (m - 1))
    return within_x + within_y - 2 * kernel.sum_between(x, y) / (n * m)


class _CubicKernel:
    """Sums of (x.y / d + 1)^3 over blocks of pairs, with x.y written around a centre c shared by both sets.

    x.y = |c|^2 + c.(x - c) + c.(y - c) + (x - c).(y - c): the first three parts are always float64. The last one is
    small and is taken in float32 where it costs much: its rounding is unbiased and there are millions of pairs.
    """

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self._dimensions = x.shape[1]
        self._centre = x.mean(dim=0)
        self._constant = float(self._centre.double().square().sum()) / self._dimensions + 1
        heavy = len(x) * len(y) * self._dimensions > _HEAVY
        self._dtype = torch.float32 if heavy else torch.float64

    def sum_within(self, points: Tensor) -> float:
        """Over ordered pairs of different rows: what lies above the diagonal counts twice."""
        total = 0.0
        for start in range(0, len(points), _BLOCK_ROWS):
            rows, later = points[start : start + _BLOCK_ROWS], points[start + _BLOCK_ROWS :]
            block = self._block(rows)
            total += self._triangle(block) + 2 * self._against(block, later)
        return total

    def sum_between(self, x: Tensor, y: Tensor) -> float:
        """Over all pairs of a row of x and a row of y."""
        starts = range(0, len(x), _BLOCK_ROWS)
        return sum((self._against(self._block(x[start : start + _BLOCK_ROWS]), y) for start in starts), 0.0)

    def _triangle(self, block: _Block) -> float:
        total = 0.0
        for start in range(0, len(block.values), _BLOCK_COLUMNS):
            part = block.part(start, start + _BLOCK_COLUMNS)
            own = self._base(part, part)
            total += _sum_of_cubes(own) - _sum_of_cubes(own.diagonal())
            total += 2 * _sum_of_cubes(self._base(block.part(0, start), part))
        return total

    def _against(self, block: _Block, others: Tensor) -> float:
        starts = range(0, len(others), _BLOCK_COLUMNS)
        parts = (self._block(others[start : start + _BLOCK_COLUMNS]) for start in starts)
        return sum((_sum_of_cubes(self._base(block, part)) for part in parts), 0.0)

    def _block(self, points: Tensor) -> _Block:
        exact = points.double() - self._centre.double()
        along = exact @ self._centre.double() / self._dimensions
        return _Block(exact.div_(self._dimensions**0.5).to(self._dtype), along)

    def _base(self, rows: _Block, columns: _Block) -> Tensor:
        """x.y / d + 1, float64 (rows, columns)."""
        base = matmul_transposed(rows.values, columns.values).double()
        return base.add_(columns.along + self._constant).add_(rows.along[:, None])


class _Block(NamedTuple):
    """Rows minus the centre over sqrt(d), and their float64 products with the centre over d."""

    values: Tensor
    along: Tensor

    def part(self, start: int, stop: int) -> _Block:
        return _Block(self.values[start:stop], self.along[start:stop])


def _sum_of_cubes(values: Tensor) -> float:
    flat = values.flatten()
    return float(torch.dot(flat.square(), flat))


def _check_subsets(subsets: Subsets, *, real: Tensor, generated: Tensor) -> None:
    if subsets.count < 1 or subsets.size < 2:
        raise ValueError(f"subsets need count >= 1 and size >= 2, got {subsets}")
    for name, points in (("real", real), ("generated", generated)):
        if len(points) < subsets.size:
            raise ValueError(
                f"{name}: subsets of {subsets.size} need at least {subsets.size} samples, got {len(points)}"
            )
