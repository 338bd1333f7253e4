"""SMOTE for mixed columns, used as a generator: interpolation between neighbouring training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._table import Codes, Numbers, Table

_MAX_ONE_HOT = 50  # levels of a column that count in the distance


class SmoteNC(TabularGenerator):
    """SMOTE-NC (Chawla et al. 2002) without classes.

    A sample starts at a random training row, moves a uniform share of the way to one of its `neighbors`
    nearest rows in every number, and takes in each category the most frequent level among the neighbours
    (ties at random). Distances are Euclidean on numbers in standard deviations; two levels differ by the
    median standard deviation of the numbers, 1. Missing numbers are levels of their own and are
    interpolated only between rows that both have the number.
    """

    def __init__(self, *, neighbors: int = 5) -> None:
        if neighbors < 1:
            raise ValueError(f"neighbors must be at least 1, got {neighbors}")
        self.neighbors = neighbors

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._table = Table(train, schema)
        k = min(self.neighbors, self._table.n - 1)
        features = _features(self._table)
        if k == 0:
            self._near = np.zeros((1, 1), dtype=np.int64)
            return
        search = NearestNeighbors(n_neighbors=k, algorithm="brute" if features.shape[1] > 15 else "auto")
        self._near = search.fit(features).kneighbors(return_distance=False).astype(np.int64)

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        table = self._table
        start = rng.integers(0, table.n, n)
        near = self._near[start]
        end = near[np.arange(n), rng.integers(0, near.shape[1], n)]
        first, last = table.numbers[start], table.numbers[end]
        numbers = first + rng.random((n, 1)) * (last - first)
        numbers = np.where(np.isnan(numbers), np.where(rng.random((n, 1)) < 0.5, first, last), numbers)
        codes = np.empty((n, table.codes.shape[1]), dtype=np.int64)
        for j in range(codes.shape[1]):
            codes[:, j] = _most_frequent(table.codes[near, j], rng)
        return table.assemble(numbers, codes)


def _features(table: Table) -> Numbers:
    """Rows of which squared Euclidean distances are those of SMOTE-NC; a constant where nothing varies."""
    missing = np.isnan(table.numbers)
    counts = np.maximum((~missing).sum(axis=0), 1)
    means = np.nansum(table.numbers, axis=0) / counts
    spread = np.sqrt(np.nansum((table.numbers - means) ** 2, axis=0) / counts)
    scaled = np.where(missing, 0.0, (table.numbers - means) / np.where(spread > 0, spread, 1.0))
    blocks = [scaled, missing / np.sqrt(2.0), np.zeros((table.n, 1))]
    for j, count in enumerate(table.levels):
        common = np.argsort(-np.bincount(table.codes[:, j], minlength=count), kind="stable")[:_MAX_ONE_HOT]
        blocks.append((table.codes[:, [j]] == common) / np.sqrt(2.0))
    return np.hstack(blocks)


def _most_frequent(codes: Codes, rng: np.random.Generator) -> Codes:
    """The most frequent of each row's codes (m, k), ties at random."""
    counts = (codes[:, :, None] == codes[:, None, :]).sum(axis=2) + rng.random(codes.shape)
    return np.asarray(codes[np.arange(len(codes)), counts.argmax(axis=1)])
