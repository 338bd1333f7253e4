"""Columns as a few states each: categories as they are, numbers in bins of the real column, missing as a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.table import MISSING, EncodedTable, Numbers

Binning = Literal["width", "quantile"]
States = npt.NDArray[np.int64]
BINS = 10


@dataclass(frozen=True, eq=False)
class StateTable:
    """codes: int64 (columns, n), values 0..counts[j]-1; the last state of each column is "missing"."""

    codes: States
    counts: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes[0])


def states(table: EncodedTable, *, real: EncodedTable, binning: Binning, bins: int = BINS) -> StateTable:
    """Every column of `table` in the states that the real table defines.

    "width": `bins` equal-width bins of the real column; "quantile": bins at its quantiles, where a value that fills
    a whole bin gets a bin of its own. The outer bins are open, values on an edge belong to the bin above. Unseen
    categories are one state of their own.
    """
    codes = np.empty((len(table.columns), len(table)), dtype=np.int64)
    counts = []
    for j, column in enumerate(table.columns):
        values = table.values(j)
        if column.is_numeric:
            edges = inner_edges(real.values(j), binning=binning, bins=bins)
            codes[j], count = _binned(values, edges), len(edges) + 2
        else:
            codes[j], count = np.where(values == MISSING, column.levels + 1, values), column.levels + 2
        counts.append(count)
    return StateTable(codes, tuple(counts))


def inner_edges(values: Numbers, *, binning: Binning, bins: int = BINS) -> Numbers:
    """Ascending edges between the bins of a real column, infinite values do not move them."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.empty(0)
    low, high = finite.min(), finite.max()
    if low == high:
        return np.array([low, np.nextafter(low, np.inf)])
    if binning == "width":
        scale = 1.0 if np.isfinite(high - low) else 4.0  # the range itself may overflow
        return np.unique(np.linspace(low / scale, high / scale, bins + 1)[1:-1]) * scale
    edges, times = np.unique(np.quantile(finite, np.linspace(0, 1, bins + 1)), return_counts=True)
    # Merging equal edges alone would put a value held by most rows, such as 0, in one bin with all larger ones.
    atoms = np.nextafter(edges[times > 1], np.inf)
    return np.unique(np.concatenate([edges[1:-1], edges[times > 1], atoms]))


def _binned(values: Numbers, edges: Numbers) -> States:
    codes = np.searchsorted(edges, values, side="right")
    codes[np.isnan(values)] = len(edges) + 1
    return codes


def row_ids(*tables: EncodedTable) -> list[States]:
    """Whole numbers per table, equal exactly where encoded rows are equal; missing equals missing."""
    blocks = [_row_keys(table) for table in tables]
    _, inverse = np.unique(np.concatenate(blocks), return_inverse=True)
    return list(np.split(inverse, np.cumsum([len(b) for b in blocks])[:-1]))


def _row_keys(table: EncodedTable) -> npt.NDArray[Any]:
    """The bytes of each row, one bit pattern for each value."""
    numbers = table.numbers + 0.0  # turns -0.0 into 0.0
    numbers[np.isnan(numbers)] = np.nan
    raw = np.concatenate([_bytes_of(block) for block in (numbers, table.codes) if block.shape[1]], axis=1)
    return raw.view(np.dtype((np.void, raw.shape[1]))).ravel()


def _bytes_of(block: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(block).view(np.uint8)
