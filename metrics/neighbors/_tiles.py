"""Tiles of lower bounds of squared distances, and the search for the few small entries in each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

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


def blocks(count: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(count, start + size)) for start in range(0, count, size)]


def lower_bounds(rows: Panel, columns: Panel) -> Tensor:
    """Lower bounds of the squared distances of all row points to all column points, (rows, columns)."""
    with _full_precision(rows.values):
        tile = torch.addmm(columns.low, rows.values, columns.values.T, alpha=-2)
    return tile.add_(rows.low[:, None])


def hits(tile: Tensor, limits: Tensor) -> Iterator[Hits]:
    """All entries <= limits[row], in portions; `tile` may be a transposed view, its width a multiple of GROUP.

    Minima over groups of columns are cheap and rule out nearly everything; only groups that can hold a hit are
    looked at again.
    """
    grouped = torch.unflatten(tile, 1, (-1, GROUP))
    rows, groups = (grouped.amin(2) <= limits[:, None]).nonzero(as_tuple=True)
    portion = _GROUPS_AT_ONCE.get(tile.device.type, 1 << 15)
    for some_rows, some_groups in zip(rows.split(portion), groups.split(portion), strict=True):
        values = grouped[some_rows, some_groups]
        inside = values <= limits[some_rows, None]
        which, lane = inside.nonzero(as_tuple=True)
        yield Hits(some_rows[which], some_groups[which] * GROUP + lane, values[inside])


@contextlib.contextmanager
def _full_precision(values: Tensor) -> Iterator[None]:
    """Products without TF32: the rounding bound holds for float32 only."""
    if values.device.type != "cuda":
        yield
        return
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
