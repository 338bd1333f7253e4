"""A set of points prepared for matrix products with a known rounding error.

For rows x, y shifted by a common vector, |x - y|^2 = |x|^2 + |y|^2 - 2 x.y. Computed in a floating-point type of
unit roundoff u, this is off by at most (d + 16) u (|x|^2 + |y|^2):
    d u          the product x.y, whatever the order of summation (2 |x||y| <= |x|^2 + |y|^2),
    4 u          rounding the shifted inputs,
    12 u         forming, storing and comparing the sum.
The bound is a worst case and splits into a row part and a column part. So (1 - slack) |x|^2 + (1 - slack) |y|^2
- 2 x.y is a lower bound of the true squared distance that costs no more than the plain expansion.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

GROUP = 32
"""Columns whose minimum is taken together when a tile is searched; panels are padded to multiples of it."""

_LARGEST_NORM = 2.0**40
"""Norms are brought below this by a power of two, so that float32 squares neither overflow nor vanish."""

_CHUNK_ELEMENTS = 1 << 18


class Panel(NamedTuple):
    """Consecutive rows of a frame: (b, d) values and (b,) row parts of the bound; padding has an infinite part."""

    values: Tensor
    low: Tensor

    def part(self, start: int, stop: int) -> Panel:
        """Rows start..stop of the panel; the part keeps the padding that it needs."""
        stop += -(stop - start) % GROUP
        return Panel(self.values[start:stop], self.low[start:stop])


class Frame:
    """Rows of `points`, shifted and scaled on demand: no copy of the whole set is held.

    norms: float64 (n,), squared norms of the shifted and scaled rows.
    """

    def __init__(
        self,
        points: Tensor,
        norms: Tensor,
        *,
        shift: Tensor,
        scale: float,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.points = points
        self.norms = norms
        self.shift = shift
        self.scale = scale
        self.dtype = dtype
        self.slack = (points.shape[1] + 16) * torch.finfo(dtype).eps / 2

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def in_double(self, rows: Tensor | None = None) -> Frame:
        """The same points, or the listed ones, for products in float64."""
        points = self.points if rows is None else self.points[rows]
        norms = self.norms if rows is None else self.norms[rows]
        return Frame(points, norms, shift=self.shift, scale=self.scale, dtype=torch.float64)

    def panel(self, start: int, stop: int) -> Panel:
        """Rows start..stop, padded with rows that nothing can be near to."""
        points = self.points[start:stop]
        wide = points.to(torch.promote_types(points.dtype, self.dtype))
        values = ((wide - self.shift.to(wide.dtype)).mul_(self.scale)).to(self.dtype)
        low = ((1 - self.slack) * self.norms[start:stop]).to(self.dtype)
        padding = -(stop - start) % GROUP
        if padding:
            values = torch.nn.functional.pad(values, (0, 0, 0, padding))
            low = torch.nn.functional.pad(low, (0, padding), value=float("inf"))
        return Panel(values, low)


def frames(*sets: Tensor) -> tuple[Frame, ...]:
    """One frame for each set, all with the shift that suits the first set and the scale that suits the largest norm."""
    first = sets[0]
    shift = _mean(first).to(first.dtype)
    norms = [_squared_norms(points, shift) for points in sets]
    largest = max(float(values.max()) for values in norms) ** 0.5
    scale = _LARGEST_NORM / 2.0 ** math.ceil(math.log2(largest)) if largest > 0 else 1.0
    return tuple(
        Frame(points, values * scale**2, shift=shift, scale=scale)
        for points, values in zip(sets, norms, strict=True)
    )


def distinct_rows(points: Tensor) -> Tensor:
    """Index of a row equal to each row, the same one for all equal rows: int64 (n,).

    Rows are grouped by an integer hash of their bits and then compared, so the answer is exact. The number of
    distinct rows is the number of distinct entries.
    """
    identity = torch.arange(len(points), device=points.device)
    _, group = torch.unique(_hashes(points), return_inverse=True)
    first = torch.full_like(identity, len(points)).scatter_reduce_(0, group, identity, "amin")
    candidates = first[group]
    repeated = (candidates != identity).nonzero().squeeze(1)
    for start, stop in _row_chunks(len(repeated), points.shape[1]):
        rows = repeated[start:stop]
        equal = (points[rows] == points[candidates[rows]]).all(1)
        candidates[rows[~equal]] = rows[~equal]
    return candidates


def _hashes(points: Tensor) -> Tensor:
    bits = torch.int32 if points.dtype == torch.float32 else torch.int64
    generator = torch.Generator().manual_seed(0x5EED)
    factors = torch.randint(-(2**62), 2**62, (points.shape[1],), generator=generator).to(points.device) | 1
    chunks = _row_chunks(len(points), points.shape[1])
    # Adding zero turns -0.0 into 0.0, which equals it but has other bits.
    return torch.cat([((points[a:b] + 0.0).view(bits).long() * factors).sum(1) for a, b in chunks])


def _mean(points: Tensor) -> Tensor:
    """Mean in float64, without a float64 copy of all points."""
    chunks = _row_chunks(len(points), points.shape[1])
    return torch.stack([points[a:b].sum(dim=0, dtype=torch.float64) for a, b in chunks]).sum(0) / len(points)


def _squared_norms(points: Tensor, shift: Tensor) -> Tensor:
    chunks = _row_chunks(len(points), points.shape[1])
    return torch.cat([(points[a:b].double() - shift.double()).square_().sum(1) for a, b in chunks])


def _row_chunks(count: int, width: int) -> list[tuple[int, int]]:
    step = max(1, _CHUNK_ELEMENTS // max(1, width))
    return [(start, min(count, start + step)) for start in range(0, count, step)]
