"""Gaussian copula: normal scores of every column, one correlation matrix, empirical quantiles back."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from sklearn.covariance import ledoit_wolf

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._table import Codes, Numbers, Table


class GaussianCopula(TabularGenerator):
    """Gaussian copula with rank-transformed margins and Ledoit-Wolf shrinkage.

    A category is an interval of the normal distribution as wide as its frequency, levels in descending
    order of frequency; a training row is somewhere in its interval, at random.
    """

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        rng = np.random.default_rng(seed)
        self._mixed = MixedTable(Table(train, schema), rng)
        codes = self._mixed.codes
        counts = [np.bincount(codes[:, j], minlength=k) for j, k in enumerate(self._mixed.levels)]
        self._orders = [np.argsort(-count, kind="stable") for count in counts]
        self._edges = [
            np.concatenate([[0.0], np.cumsum(count[order])]) / len(codes)
            for count, order in zip(counts, self._orders, strict=True)
        ]
        scores = np.hstack([self._mixed.numbers, self._scores(codes, rng)])
        self._root = _root(scores)

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        scores = rng.standard_normal((n, len(self._root))) @ self._root.T
        p = self._mixed.numbers.shape[1]
        codes = np.empty((n, len(self._orders)), dtype=np.int64)
        for j, (order, edges) in enumerate(zip(self._orders, self._edges, strict=True)):
            place = np.searchsorted(edges[1:-1], ndtr(scores[:, p + j]), side="right")
            codes[:, j] = order[place]
        return self._mixed.restore(scores[:, :p], codes, rng)

    def _scores(self, codes: Codes, rng: np.random.Generator) -> Numbers:
        """Normal scores (n, c) of categories."""
        columns = []
        for j, (order, edges) in enumerate(zip(self._orders, self._edges, strict=True)):
            place = np.argsort(order)[codes[:, j]]
            level = edges[place] + rng.random(len(codes)) * (edges[place + 1] - edges[place])
            columns.append(ndtri(np.clip(level, 1e-9, 1 - 1e-9)))
        return np.column_stack(columns) if columns else np.empty((len(codes), 0))


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
