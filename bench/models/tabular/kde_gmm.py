"""Mixtures: clusters of categories, in each of them a Gaussian mixture of the numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._table import Codes, Numbers, Table
from bench.spec import Context

_MAX_ONE_HOT = 30
_ROWS_PER_CLUSTER = 40
_ROWS_PER_COMPONENT = 30
_ITERATIONS = {"tiny": 5, "small": 20, "full": 100}


@dataclass(frozen=True)
class _Cluster:
    share: float
    levels: list[Numbers]  # frequencies of the levels of each category
    weights: Numbers
    means: Numbers
    roots: Numbers


class ClusteredMixture(TabularGenerator):
    """K-means clusters on one-hot categories; in a cluster categories are independent, numbers a mixture.

    Numbers are normal scores; a cluster's mixture has full covariances and up to `components` components,
    each of at least 30 rows. At most `clusters` clusters, each of about 40 rows or more; without
    categories there is one.
    """

    def __init__(self, *, clusters: int = 40, components: int = 10) -> None:
        self.clusters = clusters
        self.components = components
        self._iterations = _ITERATIONS["small"]

    def setup(self, ctx: Context) -> None:
        self._iterations = _ITERATIONS[ctx.size]

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._mixed = mixed = MixedTable(Table(train, schema), np.random.default_rng(seed))
        labels = self._labels(mixed, seed % 2**32)
        self._clusters = [self._cluster(labels == label, seed % 2**32) for label in np.unique(labels)]

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        shares = np.array([cluster.share for cluster in self._clusters])
        chosen = rng.choice(len(shares), size=n, p=shares)
        numbers = np.zeros((n, self._mixed.numbers.shape[1]))
        codes = np.zeros((n, len(self._mixed.levels)), dtype=np.int64)
        for label, cluster in enumerate(self._clusters):
            rows = np.flatnonzero(chosen == label)
            for j, frequencies in enumerate(cluster.levels):
                codes[rows, j] = rng.choice(len(frequencies), size=len(rows), p=frequencies)
            numbers[rows] = _draw(cluster, len(rows), rng)
        return self._mixed.restore(numbers, codes, rng)

    def _labels(self, mixed: MixedTable, seed: int) -> Codes:
        n = len(mixed.codes)
        count = min(self.clusters, n // _ROWS_PER_CLUSTER)
        if not mixed.levels or count < 2:
            return np.zeros(n, dtype=np.int64)
        blocks = []
        for j, levels in enumerate(mixed.levels):
            common = np.argsort(-np.bincount(mixed.codes[:, j], minlength=levels), kind="stable")[
                :_MAX_ONE_HOT
            ]
            blocks.append((mixed.codes[:, [j]] == common).astype(np.float64))
        means = KMeans(count, n_init=1, max_iter=self._iterations, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
            return np.asarray(means.fit_predict(np.hstack(blocks)), dtype=np.int64)

    def _cluster(self, inside: np.ndarray, seed: int) -> _Cluster:
        mixed = self._mixed
        codes, numbers = mixed.codes[inside], mixed.numbers[inside]
        levels = [np.bincount(codes[:, j], minlength=k) / len(codes) for j, k in enumerate(mixed.levels)]
        share = float(inside.mean())
        p = numbers.shape[1]
        if p == 0:
            return _Cluster(share, levels, np.ones(1), np.zeros((1, 0)), np.zeros((1, 0, 0)))
        if len(numbers) < 2 * _ROWS_PER_COMPONENT:
            spread = np.cov(numbers.T).reshape(p, p) if len(numbers) > p + 1 else np.diag(numbers.var(axis=0))
            covariance = 0.9 * spread + 0.1 * np.eye(p) if len(numbers) > 1 else 0.1 * np.eye(p)
            root = np.linalg.cholesky(covariance).astype(np.float64)
            return _Cluster(share, levels, np.ones(1), numbers.mean(axis=0)[None], root[None])
        mixture = GaussianMixture(
            max(1, min(self.components, len(numbers) // max(_ROWS_PER_COMPONENT, 2 * p))),
            reg_covar=1e-3,
            max_iter=self._iterations,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(numbers)
        roots = np.linalg.cholesky(mixture.covariances_)
        return _Cluster(share, levels, mixture.weights_ / mixture.weights_.sum(), mixture.means_, roots)


def _draw(cluster: _Cluster, m: int, rng: np.random.Generator) -> Numbers:
    """`m` points of the cluster's mixture."""
    component = rng.choice(len(cluster.weights), size=m, p=cluster.weights)
    noise = rng.standard_normal((m, cluster.means.shape[1]))
    points: Numbers = cluster.means[component] + np.einsum("mij,mj->mi", cluster.roots[component], noise)
    return points
