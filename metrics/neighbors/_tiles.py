"""Tiles of lower bounds of squared distances, and the search for the few small entries in each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bench.metrics.neighbors._frame import GROUP, Panel

DEFAULT_LIMIT_BYTES = 256 << 20
_LARGEST_BLOCK = {"cpu": 2048, "cuda": 8192}
_GROUPS_AT_ONCE = {"cpu": 1 << 15, "cuda": 1 << 20}


class Hits(NamedTuple):
    """Entries of a tile at or below their row's limit: row and column in the tile, and the bound there."""

    rows: Tensor
    columns: Tensor
    values: Tensor


def block_size(dimension: int, *, device: torch.device, limit_bytes: int, itemsize: int = 4) -> int:
    """Largest block, a multiple of GROUP, whose tile, two panels and work space stay within the limit."""
    block = _LARGEST_BLOCK.get(device.type, 2048)
    while block > GROUP and itemsize * block * (2 * block + 4 * dimension) > limit_bytes:
        block //= 2
    return block


def blocks(count: int, size: int, *, first: int = 0) -> list[tuple[int, int]]:
    """Spans (start, stop) of at most `size` that cover first..count."""
    return [(start, min(count, start + size)) for start in range(first, count, size)]


def lower_bounds(rows: Panel, columns: Panel) -> Tensor:
    """Lower bounds of the squared distances of all row points to all column points, (rows, columns)."""
    tile = matmul_transposed(rows.values, columns.values)
    return tile.mul_(-2).add_(columns.low).add_(rows.low[:, None])


def hits(tile: Tensor, limits: Tensor) -> Iterator[Hits]:
    """All entries <= limits[row], in portions; `tile` may be a transposed view, its width a multiple of GROUP.

    Minima over groups of columns are cheap and rule out nearly everything; only groups that can hold a hit are
    looked at again.
    """
    grouped = torch.unflatten(tile, 1, (-1, GROUP))
    rows, groups = (_group_minima(tile) <= limits[:, None]).nonzero(as_tuple=True)
    portion = _GROUPS_AT_ONCE.get(tile.device.type, 1 << 15)
    for some_rows, some_groups in zip(torch.split(rows, portion), torch.split(groups, portion), strict=True):
        values = grouped[some_rows, some_groups]
        inside = values <= limits[some_rows, None]
        which, lane = inside.nonzero(as_tuple=True)
        yield Hits(some_rows[which], some_groups[which] * GROUP + lane, values[inside])


def _group_minima(tile: Tensor) -> Tensor:
    """Minimum of each row over each group of columns, (rows, groups)."""
    if tile.is_contiguous():
        return torch.unflatten(tile, 1, (-1, GROUP)).amin(2)
    # A transposed view: reducing the middle of the original is many times faster than its strided last axis.
    return torch.unflatten(tile.T, 0, (-1, GROUP)).amin(1).T


def matmul_transposed(rows: Tensor, columns: Tensor) -> Tensor:
    """rows columns^T in the full precision of its type, never TF32.

    On the CPU numpy's product is used, which is about a tenth faster there than torch's.
    """
    if rows.device.type == "cpu":
        return torch.from_numpy(np.dot(rows.numpy(), columns.numpy().T))
    with _without_tf32():
        return rows @ columns.T


@contextlib.contextmanager
def _without_tf32() -> Iterator[None]:
    """The rounding bound holds for float32 only."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
