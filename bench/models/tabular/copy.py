"""A perfect memoriser."""

from __future__ import annotations

import pandas as pd

from bench.models.tabular._simple import KeepsTable, rows_without_replacement


class Copy(KeepsTable):
    """Returns the training rows in random order; all of them before any is repeated."""

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        return self._table.from_rows(rows_without_replacement(self._table.n, n, seed))
