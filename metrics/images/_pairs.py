"""Distances of all pairs in float64, a tile at a time: for metrics that need every pair, not only the nearest."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from bench.metrics.neighbors import matmul_transposed, pair_distances

_ROWS, _COLUMNS = 1024, 2048
_NEAR = 1e-6
"""Below this share of |x|^2 + |y|^2 a squared distance is cancellation: it is computed directly instead."""

Tile = tuple[slice, slice, Tensor]


def distance_tiles(first: Tensor, second: Tensor) -> Iterator[Tile]:
    """Rows, columns and distances float64 (rows, columns) of every tile of first (n, d) x second (m, d).

    Distances have a relative error below 1e-7, those of equal rows are exactly 0.
    """
    centre = first.mean(dim=0, dtype=torch.float64)
    for rows in _spans(len(first), _ROWS):
        left = first[rows].double() - centre
        left_norms = left.square().sum(1)
        for columns in _spans(len(second), _COLUMNS):
            right = second[columns].double() - centre
            norms = left_norms[:, None] + right.square().sum(1)
            squared = norms - 2 * matmul_transposed(left, right)
            near = (squared <= _NEAR * norms).nonzero(as_tuple=True)
            tile = squared.clamp_(min=0).sqrt_()
            if len(near[0]):
                found = (near[0] + rows.start, near[1] + columns.start)
                tile[near] = pair_distances(first, second, *found)
            yield rows, columns, tile


def _spans(count: int, size: int) -> list[slice]:
    return [slice(start, min(count, start + size)) for start in range(0, count, size)]
