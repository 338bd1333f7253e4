"""What the models without training share: keeping the table, drawing rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._table import Codes, Table


class KeepsTable(TabularGenerator):
    """A generator whose `fit` only keeps the training table."""

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._table = Table(train, schema)


def rows_without_replacement(total: int, n: int, seed: int) -> Codes:
    """`n` row numbers below `total`, none more than once oftener than any other."""
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(total) for _ in range(-(-n // total))]
    return np.concatenate([np.empty(0, np.int64), *rounds])[:n]
