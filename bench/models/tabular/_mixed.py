"""The training table without gaps: every number present, missingness as categories of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.models.tabular._normal import NormalScores
from bench.models.tabular._table import Codes, Numbers, Table

MAX_LEVELS = 1_000  # of a category; of more, all but the most frequent 999 count as one


class MixedTable:
    """Normal scores (n, p) of all numeric columns and codes (n, c).

    The codes are those of the table, followed by one column "missing or not" for each numeric column with
    gaps. Gaps are filled with values drawn from the column, so that they carry no information. Columns of
    one value only are left out and come back on the way to a frame.
    """

    def __init__(self, table: Table, rng: np.random.Generator) -> None:
        self.table = table
        missing = np.isnan(table.numbers)
        present = [table.numbers[~missing[:, j], j] for j in range(table.numbers.shape[1])]
        self._kept = [j for j, values in enumerate(present) if len(np.unique(values)) > 1]
        self._constant = [values[0] if len(values) else np.nan for values in present]
        self._gappy = [j for j, values in enumerate(present) if 0 < len(values) < table.n]
        self._coded = [j for j, count in enumerate(table.levels) if count > 1]
        self._maps = {j: NormalScores(present[j]) for j in self._kept}
        filled = [
            np.where(missing[:, j], rng.choice(present[j], table.n), table.numbers[:, j]) for j in self._kept
        ]
        scores = [self._maps[j].scores(values, rng) for j, values in zip(self._kept, filled, strict=True)]
        self.filled: Numbers = _columns(filled, table.n)  # numbers themselves, gaps filled
        self.numbers: Numbers = _columns(scores, table.n)
        self._merged = [_Merged(table.codes[:, j], table.levels[j]) for j in self._coded]
        codes = [merged.codes for merged in self._merged]
        indicators = [missing[:, j].astype(np.int64) for j in self._gappy]
        self.codes: Codes = _columns([*codes, *indicators], table.n).astype(np.int64)
        self.levels = [*(merged.levels for merged in self._merged), *([2] * len(self._gappy))]

    def restore(self, numbers: Numbers, codes: Codes, rng: np.random.Generator) -> pd.DataFrame:
        """The frame of normal scores `numbers` (m, p) and `codes` (m, c)."""
        values = [self._maps[j].values(numbers[:, i]) for i, j in enumerate(self._kept)]
        return self.restore_values(_columns(values, len(numbers)), codes, rng)

    def restore_values(self, values: Numbers, codes: Codes, rng: np.random.Generator) -> pd.DataFrame:
        """The frame of `values` (m, p) on the scale of the table and `codes` (m, c).

        `rng` chooses among levels that count as one.
        """
        m, table = len(values), self.table
        full = np.tile(np.array(self._constant, dtype=np.float64), (m, 1))
        full[:, self._kept] = values
        for i, j in enumerate(self._gappy):
            full[codes[:, len(self._coded) + i] == 1, j] = np.nan
        levels = np.zeros((m, len(table.levels)), dtype=np.int64)
        for i, (j, merged) in enumerate(zip(self._coded, self._merged, strict=True)):
            levels[:, j] = merged.split(codes[:, i], rng)
        return table.assemble(full, levels)


class _Merged:
    """Codes of one category with its rare levels, beyond the first 999 by frequency, as one."""

    def __init__(self, codes: Codes, levels: int) -> None:
        self.codes, self.levels = codes, levels
        self._common: Codes | None = None
        if levels <= MAX_LEVELS:
            return
        order = np.argsort(-np.bincount(codes, minlength=levels), kind="stable")
        self._common = order[: MAX_LEVELS - 1]
        place = np.full(levels, MAX_LEVELS - 1, dtype=np.int64)
        place[self._common] = np.arange(MAX_LEVELS - 1)
        self.codes, self.levels = place[codes], MAX_LEVELS
        self._rare = codes[self.codes == MAX_LEVELS - 1]

    def split(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Codes of the table; a merged level becomes one of the rare ones, by frequency."""
        if self._common is None:
            return codes
        rare = self._rare[rng.integers(0, len(self._rare), len(codes))]
        return np.where(codes == MAX_LEVELS - 1, rare, self._common[np.minimum(codes, MAX_LEVELS - 2)])


def _columns(parts: list[Numbers] | list[Codes], rows: int) -> Numbers:
    return np.column_stack(parts) if parts else np.empty((rows, 0))
