"""Exact nearest neighbours under Gower's distance, in tiles: the core of every distance-based privacy metric.

d(a, b) is the mean over columns of min(|a - b| / real range, 1) for numbers and of 0 (equal) or 1 for categories;
two missing values are 0 apart, a missing and a present one 1.

All arithmetic is float64 with one fixed order of columns, so that the distance of a pair never depends on the tile
it fell into and ties are ties. Numbers are subtracted column by column in tiles that stay in the cache; categories
with few levels are compared for all pairs at once by a product of indicator matrices, which is exact in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.metrics.tabular.bounds import bounded, finite_limits, fractions, spreads
from bench.metrics.tabular.table import EncodedTable

DEFAULT_MEMORY_BYTES = 1 << 30
_BLOCK = {"cpu": (256, 2048), "cuda": (4096, 16384)}
_BYTES_PER_PAIR = 40
_FEW_LEVELS = 32
"""An indicator of more levels costs more in the product than a comparison of the codes."""
_FAR = 1e6
"""Scaled place of a missing number: one range or more from every present one, which lie within 11 ranges."""
_MISSING_CONSTANT = -np.inf


@dataclass(frozen=True, eq=False)
class GowerNeighbors:
    """The k nearest rows of each query, nearest first, equal distances by index: float64 and int64 (n, k)."""

    distances: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Points:
    scaled: Tensor  # float64 (numeric columns, n)
    labels: Tensor  # float64 (columns compared for equality, n)
    indicators: Tensor  # float32 (n, levels of the remaining columns)

    def __len__(self) -> int:
        return len(self.indicators)


class GowerSpace:
    """Gower's distance on some columns, with the ranges of one real table.

    real: the table whose ranges scale the numbers. columns: which columns count, all by default.
    memory_bytes: limit of the work space beside inputs and outputs. device: a torch device.
    """

    def __init__(
        self,
        real: EncodedTable,
        *,
        columns: Sequence[int] | None = None,
        device: str = "cpu",
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
    ) -> None:
        chosen = range(len(real.columns)) if columns is None else columns
        if not len(chosen):
            raise ValueError("Gower's distance needs at least one column")
        low, high = finite_limits(real)
        self._real, self._device, self._memory = real, torch.device(device), memory_bytes
        numeric = [j for j in chosen if real.columns[j].is_numeric]
        coded = [j for j in chosen if not real.columns[j].is_numeric]
        self._low, self._spread = low, spreads(low, high)
        self._varying = [j for j in numeric if self._spread[real.position(j)] > 0]
        self._constant = [j for j in numeric if j not in self._varying]
        self._few = [j for j in coded if real.columns[j].levels <= _FEW_LEVELS]
        self._many = [j for j in coded if j not in self._few]
        self.width = len(chosen)

    def nearest(
        self, queries: EncodedTable, others: EncodedTable | None = None, *, k: int = 1
    ) -> GowerNeighbors:
        """The k nearest rows of `others` for each query; without `others`, of the queries without the row itself.

        Raises ValueError when there are fewer than k rows to choose from.
        """
        same = others is None
        available = len(queries) - 1 if others is None else len(others)
        if not 1 <= k <= available:
            raise ValueError(f"k must lie in 1..{available}, the number of rows to choose from, got {k}")
        first = self._place(queries)
        second = first if others is None else self._place(others)
        rows, columns = self._block()
        found = [
            self._nearest_of(first, second, start, min(start + rows, len(first)), columns, k, same)
            for start in range(0, len(first), rows)
        ]
        distances, indices = (torch.cat(parts).cpu().numpy() for parts in zip(*found, strict=True))
        return GowerNeighbors(distances, indices)

    def _block(self) -> tuple[int, int]:
        rows, columns = _BLOCK.get(self._device.type, _BLOCK["cpu"])
        while rows * columns * _BYTES_PER_PAIR > self._memory and rows > 16:
            rows //= 2
        return rows, columns

    def _place(self, table: EncodedTable) -> _Points:
        limited = bounded(table, real=self._real)
        scaled = np.empty((len(self._varying), len(table)))
        for slot, j in enumerate(self._varying):
            at = table.position(j)
            scaled[slot] = fractions(limited.numbers[:, at], self._low[at], self._spread[at])
        scaled[np.isnan(scaled)] = _FAR
        values = [limited.values(j) for j in self._constant]
        labels = [np.where(np.isnan(v), _MISSING_CONSTANT, v) for v in values]
        labels += [table.values(j).astype(np.float64) for j in self._many]
        return _Points(
            torch.from_numpy(scaled).to(self._device),
            torch.from_numpy(np.array(labels).reshape(len(labels), len(table))).to(self._device),
            self._indicators(table).to(self._device),
        )

    def _indicators(self, table: EncodedTable) -> Tensor:
        offsets = np.cumsum([0] + [table.columns[j].levels + 2 for j in self._few])
        indicators = torch.zeros((len(table), int(offsets[-1])), dtype=torch.float32)
        rows = torch.arange(len(table))
        for slot, j in enumerate(self._few):
            indicators[rows, torch.from_numpy(table.values(j).astype(np.int64)) + int(offsets[slot]) + 1] = 1
        return indicators

    def _nearest_of(
        self, first: _Points, second: _Points, start: int, stop: int, step: int, k: int, same: bool
    ) -> tuple[Tensor, Tensor]:
        rows = stop - start
        best = torch.full((rows, k), float("inf"), dtype=torch.float64, device=self._device)
        where = torch.full((rows, k), -1, dtype=torch.int64, device=self._device)
        tile = torch.empty((2, rows, step), dtype=torch.float64, device=self._device)
        for left in range(0, len(second), step):
            right = min(left + step, len(second))
            distances = self._tile(first, second, (start, stop), (left, right), tile)
            if same and max(start, left) < min(stop, right):
                own = torch.arange(max(start, left), min(stop, right), device=self._device)
                distances[own - start, own - left] = float("inf")
            _keep_nearest(distances, left, best, where)
        return best / self.width, where

    def _tile(
        self, first: _Points, second: _Points, rows: tuple[int, int], columns: tuple[int, int], tile: Tensor
    ) -> Tensor:
        """Sums over columns of the distances of a block of pairs, (rows, columns); a view of `tile`."""
        total, part = tile[0, :, : columns[1] - columns[0]], tile[1, :, : columns[1] - columns[0]]
        a, b = slice(*rows), slice(*columns)
        total.zero_()
        for x, y in zip(first.scaled, second.scaled, strict=True):
            torch.sub(x[a, None], y[None, b], out=part)
            total.add_(part.abs_().clamp_(max=1))
        for x, y in zip(first.labels, second.labels, strict=True):
            total.add_(x[a, None] != y[None, b])
        if self._few:
            total.add_(len(self._few) - first.indicators[a] @ second.indicators[b].T)
        return total


def _keep_nearest(distances: Tensor, offset: int, best: Tensor, where: Tensor) -> None:
    """Merge a tile into the k nearest so far, in place; an equal distance keeps the earlier index."""
    rows = (distances.amin(1) < best[:, -1]).nonzero().squeeze(1)
    if not len(rows):
        return
    candidates = distances[rows]
    k = best.shape[1]
    values, indices = [best[rows]], [where[rows]]
    lane = torch.arange(len(rows), device=rows.device)
    for _ in range(min(k, candidates.shape[1])):
        smallest = candidates.amin(1, keepdim=True)
        place = (candidates == smallest).to(torch.int8).argmax(1)
        values.append(smallest)
        indices.append(place[:, None] + offset)
        candidates[lane, place] = float("inf")
    merged, order = torch.cat(values, 1).sort(dim=1, stable=True)
    best[rows] = merged[:, :k]
    where[rows] = torch.cat(indices, 1).gather(1, order)[:, :k]
