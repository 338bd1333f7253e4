"""A collapsed model: one row, again and again."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.models.tabular._simple import KeepsTable


class Collapsed(KeepsTable):
    """Every number at its mean, every category at its most frequent level."""

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        table = self._table
        counts = (~np.isnan(table.numbers)).sum(axis=0)
        means = np.where(counts > 0, np.nansum(table.numbers, axis=0) / np.maximum(counts, 1), np.nan)
        modes = [np.bincount(table.codes[:, j]).argmax() for j in range(table.codes.shape[1])]
        return table.assemble(np.tile(means, (n, 1)), np.tile(np.array(modes, dtype=np.int64), (n, 1)))
