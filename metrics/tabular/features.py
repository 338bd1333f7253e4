"""Tables as vectors: scaled numbers, one-hot categories, missing indicators; real and generated rows alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.bounds import bounded, finite_limits, fractions, spreads
from bench.metrics.tabular.table import MISSING, EncodedTable

Features = npt.NDArray[np.float64]
MAX_LEVELS = 256
"""Rarer levels of a column with more are one shared level, so that the width of the vectors stays bounded."""


class FeatureMap:
    """Vectors of tables, fixed by the real one.

    Numbers are min-max scaled by the real range (or standardised by real mean and deviation) with the real median in
    place of missing ones; categories are one-hot times `category_scale`, with unseen as one more level. Each column
    with a missing value in `tables` gets an indicator. Columns of zeros, which no distance or model can see, are
    left out for levels that occur in none of `tables`.
    """

    def __init__(
        self,
        real: EncodedTable,
        *tables: EncodedTable,
        standardise: bool = False,
        category_scale: float = 1.0,
    ) -> None:
        self._real, self._scale, self._standardise = real, category_scale, standardise
        self._columns = range(len(real.columns))
        everyone = (real, *tables)
        self._with_missing = {j for j in self._columns if any(t.missing(j).any() for t in everyone)}
        self._lookups = {
            j: _levels(real, everyone, j) for j in self._columns if not real.columns[j].is_numeric
        }
        self._low, high = finite_limits(real)
        self._middle, self._centre, self._deviation = _column_statistics(bounded(real, real=real).numbers)
        self._spread = np.where(high > self._low, spreads(self._low, high), 1.0)

    def __call__(self, table: EncodedTable) -> Features:
        """The vectors of a table, float64 (n, d) with d >= 1."""
        return joined(self.by_column(table), len(table))

    def by_column(self, table: EncodedTable) -> list[Features]:
        """The part of the vectors that each column fills, float64 (n, d_j) each."""
        limited = bounded(table, real=self._real)
        return [np.concatenate(list(self._of_column(limited, j)), axis=1) for j in self._columns]

    def _of_column(self, table: EncodedTable, j: int) -> Iterator[Features]:
        missing = table.missing(j)
        if self._real.columns[j].is_numeric:
            yield self._numbers(table, j, missing)[:, None]
        else:
            yield _one_hot(table.values(j), self._lookups[j]) * self._scale
        if j in self._with_missing:
            yield missing[:, None].astype(np.float64) * self._scale

    def _numbers(self, table: EncodedTable, j: int, missing: npt.NDArray[np.bool_]) -> Features:
        at = table.position(j)
        values = np.where(missing, self._middle[at], table.values(j))
        if self._standardise:
            return np.asarray((values - self._centre[at]) / self._deviation[at])
        return fractions(values, self._low[at], self._spread[at])


def _column_statistics(numbers: Features) -> tuple[Features, Features, Features]:
    """Median, mean and standard deviation of each column's present values; 0, 0 and 1 without any."""
    middle, centre, deviation = (np.full(numbers.shape[1], v) for v in (0.0, 0.0, 1.0))
    for at, column in enumerate(numbers.T):
        known = column[~np.isnan(column)]
        if len(known):
            middle[at], centre[at], deviation[at] = np.median(known), known.mean(), known.std() or 1.0
    return middle, centre, deviation


def joined(parts: Sequence[Features], rows: int) -> Features:
    """Parts side by side; one column of zeros if they have none."""
    vectors = np.concatenate([np.zeros((rows, 0)), *parts], axis=1)
    return vectors if vectors.shape[1] else np.zeros((rows, 1))


def _levels(real: EncodedTable, tables: tuple[EncodedTable, ...], j: int) -> npt.NDArray[np.int64]:
    """Position in the one-hot block of each code 0..K; -1 for levels that never occur."""
    size = real.columns[j].levels + 1
    counts = np.bincount(real.values(j)[real.values(j) != MISSING], minlength=size)
    seen = np.isin(np.arange(size), np.concatenate([t.values(j) for t in tables]))
    lookup = np.full(size, -1, dtype=np.int64)
    by_frequency = [c for c in np.argsort(-counts, kind="stable") if seen[c]]
    for position, code in enumerate(by_frequency):
        lookup[code] = min(position, MAX_LEVELS - 1)
    return lookup


def _one_hot(codes: npt.NDArray[np.int32], lookup: npt.NDArray[np.int64]) -> Features:
    block = np.zeros((len(codes), int(lookup.max(initial=-1)) + 1))
    positions = np.where(codes == MISSING, -1, lookup[codes])
    rows = np.flatnonzero(positions >= 0)
    block[rows, positions[rows]] = 1.0
    return block
