"""Gaussian copula: normal scores of every column, one correlation matrix, empirical quantiles back."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.covariance import ledoit_wolf

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._intervals import Intervals
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._table import Numbers, Table


class GaussianCopula(TabularGenerator):
    """Gaussian copula with rank-transformed margins and Ledoit-Wolf shrinkage.

    A category is an interval of the normal distribution as wide as its frequency, levels in descending
    order of frequency; a training row is somewhere in its interval, at random.
    """

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        rng = np.random.default_rng(seed)
        self._mixed = mixed = MixedTable(Table(train, schema), rng)
        self._intervals = Intervals(mixed.codes, mixed.levels)
        self._root = _root(np.hstack([mixed.numbers, self._intervals.scores(mixed.codes, rng)]))

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        scores = rng.standard_normal((n, len(self._root))) @ self._root.T
        p = self._mixed.numbers.shape[1]
        return self._mixed.restore(scores[:, :p], self._intervals.codes(scores[:, p:]), rng)


def _root(scores: Numbers) -> Numbers:
    """A root of the shrunk correlation matrix of `scores` (n, d)."""
    n, d = scores.shape
    if d == 0 or n < 2:
        return np.eye(d)
    covariance, _ = ledoit_wolf(scores)
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root: Numbers = vectors * np.sqrt(np.clip(values, 0.0, None))
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))
