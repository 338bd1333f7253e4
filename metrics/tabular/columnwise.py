"""How well can each column be predicted from the others by models trained on one table and tested on another?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import recall_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from bench.metrics.tabular.bounds import bounded
from bench.metrics.tabular.features import FeatureMap, Features, joined
from bench.metrics.tabular.table import MISSING, EncodedTable
from bench.metrics.tabular.trees import Matrix, TreeMap, trainable

Predictor = Literal["trees", "neighbors", "linear"]
PREDICTORS: tuple[Predictor, ...] = ("trees", "neighbors", "linear")
TREE_ITERATIONS = {"numeric": 50, "coded": 25}
NEIGHBORS = 15
ROWS: dict[Predictor, tuple[int, int]] = {
    "trees": (15_000, 10_000),
    "neighbors": (5_000, 2_000),
    "linear": (15_000, 10_000),
}
"""Most training and test rows of each predictor: more of them cost more than they tell."""
MANY_LEVELS = 10
RARE_SHARE = 0.01


@dataclass(frozen=True)
class ColumnScore:
    """Test score of one column: root mean squared error of a numeric, balanced accuracy of a coded one, by predictor.

    value: mean over predictors; None if the training table has no row with the column present.
    """

    by_predictor: dict[str, float]

    @property
    def value(self) -> float | None:
        return float(np.mean(list(self.by_predictor.values()))) if self.by_predictor else None


@dataclass(frozen=True, eq=False)
class _Views:
    """One table in the forms that the predictors take."""

    matrix: Matrix
    parts: list[Features]
    targets: list[npt.NDArray[Any]]
    present: list[npt.NDArray[np.bool_]]


class ColumnPredictors:
    """Trains on any table, tests on one; encoders, scales and the merging of rare levels come from the real table."""

    def __init__(
        self, real: EncodedTable, test: EncodedTable, *, predictors: Sequence[Predictor], seed: int
    ) -> None:
        unknown = set(predictors) - set(PREDICTORS)
        if unknown or not predictors:
            raise ValueError(f"predictors must be some of {', '.join(PREDICTORS)}, got {tuple(predictors)}")
        self._real, self._predictors, self._seed = real, tuple(predictors), seed
        self._trees = TreeMap(real)
        self._features = FeatureMap(real, test, standardise=True)
        self._merging = [merged_levels(real, j) for j in range(len(real.columns))]
        self._test = self._views(test)

    def test_target(self, column: int) -> npt.NDArray[Any]:
        """Numbers or merged levels of the column in the test rows where it is present."""
        return self._test.targets[column][self._test.present[column]]

    def scores(self, train: EncodedTable, columns: Sequence[int]) -> dict[int, ColumnScore]:
        """Scores of the listed columns by models trained on `train`."""
        views = self._views(train)
        return {j: self._score(views, j) for j in columns}

    def _views(self, table: EncodedTable) -> _Views:
        limited = bounded(table, real=self._real)
        indices = range(len(table.columns))
        targets = [
            limited.values(j) if table.columns[j].is_numeric else self._merging[j][table.values(j)]
            for j in indices
        ]
        present = [~table.missing(j) for j in indices]
        parts = self._features.by_column(table) if set(self._predictors) - {"trees"} else []
        return _Views(self._trees(table), parts, targets, present)

    def _score(self, train: _Views, j: int) -> ColumnScore:
        if not train.present[j].any():
            return ColumnScore({})
        truth = self.test_target(j)
        scores: dict[str, float] = {}
        for name in self._predictors:
            guess, rows = self._predict(name, train, j)
            scores[name] = self._quality(j, truth[rows], guess)
        return ColumnScore(scores)

    def _quality(self, j: int, truth: npt.NDArray[Any], guess: npt.NDArray[Any]) -> float:
        if self._real.columns[j].is_numeric:
            return float(np.sqrt(np.mean((truth - guess) ** 2)))
        return float(recall_score(truth, guess, labels=np.unique(truth), average="macro", zero_division=0))

    def _predict(
        self, name: Predictor, train: _Views, j: int
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Predictions and which test rows (among those with column j) they are for."""
        target = train.targets[j][train.present[j]]
        rows = np.arange(int(self._test.present[j].sum()))
        kept, rows = (
            _some_rows(len(a), most, self._seed) for a, most in zip((target, rows), ROWS[name], strict=True)
        )
        x, asked = self._inputs(name, train, j)[kept], self._inputs(name, self._test, j)[rows]
        target = target[kept]
        if (target == target[0]).all():
            return np.full(len(rows), target[0]), rows
        model = self._model(name, j, len(x))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed budget is part of the protocol
            guess: npt.NDArray[Any] = model.fit(trainable(x), target).predict(asked)
        return guess, rows

    def _inputs(self, name: Predictor, views: _Views, j: int) -> Features:
        present = views.present[j]
        if name == "trees":
            others = np.delete(views.matrix[present], j, axis=1)
            return others if others.shape[1] else np.zeros((len(others), 1))
        return joined([part[present] for i, part in enumerate(views.parts) if i != j], int(present.sum()))

    def _model(self, name: Predictor, j: int, rows: int) -> Any:
        numeric = self._real.columns[j].is_numeric
        if name == "neighbors":
            kind = KNeighborsRegressor if numeric else KNeighborsClassifier
            return kind(n_neighbors=min(NEIGHBORS, rows), algorithm="brute")
        if name == "linear":
            return Ridge(alpha=1.0) if numeric else LogisticRegression(max_iter=50, tol=1e-3)
        boosting = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
        return boosting(
            max_iter=TREE_ITERATIONS["numeric" if numeric else "coded"],
            learning_rate=0.15,
            categorical_features=self._trees.native(skip=j),
            early_stopping=False,
            random_state=self._seed,
        )


def merged_levels(real: EncodedTable, column: int) -> npt.NDArray[np.int64]:
    """Label of each code 0..K and, last, of -1; with more than ten levels those below 1 % of real rows share one."""
    levels = real.columns[column].levels
    labels = np.append(np.arange(levels + 1), MISSING)
    if real.columns[column].is_numeric or levels <= MANY_LEVELS:
        return labels
    known = real.values(column)[real.values(column) != MISSING]
    rare = np.bincount(known, minlength=levels + 1)[:levels] < RARE_SHARE * len(known)
    labels[:levels][rare] = levels + 1
    return labels


def _some_rows(count: int, most: int, seed: int) -> npt.NDArray[np.int64]:
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, size=most, replace=False))
