"""Running lists of the most promising candidates of each row."""

from __future__ import annotations

import torch
from torch import Tensor

from bench.metrics.neighbors._tiles import Hits


class Shortlist:
    """For each row the `size` candidates with the smallest lower bounds seen so far.

    Whatever is not on the list has a bound at least as large as the largest one on it.
    """

    def __init__(self, rows: int, size: int, *, dtype: torch.dtype, device: torch.device) -> None:
        self.values = torch.full((rows, size), float("inf"), dtype=dtype, device=device)
        self.indices = torch.zeros((rows, size), dtype=torch.int64, device=device)

    def worst(self, start: int, stop: int) -> Tensor:
        return self.values[start:stop].amax(1)

    def is_full(self, start: int, stop: int) -> bool:
        return bool(torch.isfinite(self.values[start:stop]).all())

    def fill(self, tile: Tensor, start: int, stop: int, offset: int) -> None:
        """Take the best of a whole tile; for the first tiles, when nearly everything is an improvement."""
        size = self.values.shape[1]
        values, columns = (
            tile[: stop - start].contiguous().topk(min(size, tile.shape[1]), dim=1, largest=False)
        )
        values = torch.cat([self.values[start:stop], values], dim=1)
        indices = torch.cat([self.indices[start:stop], columns + offset], dim=1)
        self.values[start:stop], order = values.topk(size, dim=1, largest=False)
        self.indices[start:stop] = indices.gather(1, order)

    def merge(self, found: Hits, start: int, offset: int) -> None:
        """Take improvements found in a tile that begins at row `start` and column `offset`."""
        size = self.values.shape[1]
        better = found.values < self.values.amax(1)[found.rows + start]
        new_rows = found.rows[better] + start
        if not len(new_rows):
            return
        touched = torch.unique(new_rows)
        rows = torch.cat([touched.repeat_interleave(size), new_rows])
        values = torch.cat([self.values[touched].flatten(), found.values[better]])
        indices = torch.cat([self.indices[touched].flatten(), found.columns[better] + offset])
        keep = smallest_per_row(rows, values, size)
        self.values[touched] = values[keep].view(-1, size)
        self.indices[touched] = indices[keep].view(-1, size)


def smallest_per_row(rows: Tensor, values: Tensor, size: int) -> Tensor:
    """Positions of the `size` smallest values of every row, by row and then ascending (stable for ties)."""
    order = values.argsort(stable=True)
    order = order[rows[order].argsort(stable=True)]
    sorted_rows = rows[order]
    starts = torch.searchsorted(sorted_rows, sorted_rows)
    rank = torch.arange(len(order), device=order.device) - starts
    return order[rank < size]
