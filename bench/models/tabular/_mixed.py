"""The training table without gaps: every number present, missingness as categories of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.models.tabular._normal import NormalScores
from bench.models.tabular._table import Codes, Numbers, Table


class MixedTable:
    """Normal scores (n, p) of all numeric columns and codes (n, c).

    The codes are those of the table, followed by one column "missing or not" for each numeric column with
    gaps. Gaps are filled with the scores of values drawn from the column, so that they carry no
    information. Columns of one value only are left out and come back on the way to a frame.
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
        self.numbers: Numbers = np.empty((table.n, len(self._kept)))
        for i, j in enumerate(self._kept):
            filled = np.where(missing[:, j], rng.choice(present[j], table.n), table.numbers[:, j])
            self.numbers[:, i] = self._maps[j].scores(filled, rng)
        indicators = missing[:, self._gappy].astype(np.int64)
        self.codes: Codes = np.hstack([table.codes[:, self._coded], indicators])
        self.levels = [*(table.levels[j] for j in self._coded), *([2] * len(self._gappy))]

    def restore(self, numbers: Numbers, codes: Codes) -> pd.DataFrame:
        """The frame of `numbers` (m, p) and `codes` (m, c)."""
        m, table = len(numbers), self.table
        full = np.tile(np.array(self._constant, dtype=np.float64), (m, 1))
        for i, j in enumerate(self._kept):
            full[:, j] = self._maps[j].values(numbers[:, i])
        for i, j in enumerate(self._gappy):
            full[codes[:, len(self._coded) + i] == 1, j] = np.nan
        levels = np.zeros((m, len(table.levels)), dtype=np.int64)
        levels[:, self._coded] = codes[:, : len(self._coded)]
        return table.assemble(full, levels)
