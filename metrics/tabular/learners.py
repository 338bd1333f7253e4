"""The models of M1: how they are tuned on real rows, trained on any rows, scored on the test rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, recall_score
from sklearn.model_selection import KFold, StratifiedKFold

from bench.metrics.tabular.bounds import bounded
from bench.metrics.tabular.features import FeatureMap
from bench.metrics.tabular.roc import auc
from bench.metrics.tabular.table import EncodedTable
from bench.metrics.tabular.trees import Matrix, TreeMap, trainable

Learner = Literal["boosting", "forest", "linear"]
Options = Mapping[str, Any]
LEARNERS: tuple[Learner, ...] = ("boosting", "forest", "linear")
REGRESSION = ("r2", "rmse", "mae")
CLASSIFICATION = ("auc", "log_loss", "balanced_accuracy", "macro_f1")
SMALLEST_PROBABILITY = 1e-6
FOLDS = 3
TUNING_ROWS = 2_000
TUNING_TREES: Mapping[Learner, int] = {"boosting": 50, "forest": 20}
"""While settings are compared: what separates them shows with few trees, and most of the time would go there."""
TREES = 200
IMPORTANCE_ROWS = 2_000
GRIDS: Mapping[Learner, tuple[Options, ...]] = {
    "boosting": tuple(
        {"learning_rate": rate, "max_leaf_nodes": leaves, "min_samples_leaf": least}
        for rate, leaves, least in product((0.05, 0.15), (8, 31), (5, 20))
    ),
    "forest": tuple(
        {"min_samples_leaf": least, "max_features": share}
        for least, share in product((1, 2, 5, 10), ("sqrt", 0.5))
    ),
    "linear": tuple({"strength": 10.0**power} for power in range(-4, 4)),
}


@dataclass(frozen=True)
class ScoreSet:
    """named: every score, first ROC AUC or R^2, which is `main`: higher is better."""

    named: Mapping[str, float]

    @classmethod
    def of(cls, names: Sequence[str], values: npt.NDArray[np.float64]) -> ScoreSet:
        """The scores `values` (len(names),)."""
        return cls(dict(zip(names, values.tolist(), strict=True)))

    @property
    def main(self) -> float:
        return next(iter(self.named.values()))


@dataclass(frozen=True)
class Tuned:
    """The options of a learner that validate best on the real rows, and their mean validation score."""

    options: Options
    validation: float


@dataclass(frozen=True, eq=False)
class Learnt:
    """A trained model as a function from its inputs to predictions, with its scores on the test rows."""

    learner: Learner
    predict: Callable[[Matrix], Matrix]
    scores: ScoreSet


class Problem:
    """Predict the target of a real table from its other columns; encoders are those of the real table."""

    def __init__(self, real: EncodedTable, test: EncodedTable, *, seed: int) -> None:
        assert real.target is not None
        self.real, self.target, self._seed = real, real.target, seed
        self.inputs = [j for j in range(len(real.columns)) if j != self.target]
        self.numeric = real.columns[self.target].is_numeric
        self._trees, self._features = TreeMap(real), FeatureMap(real, test, standardise=True)
        self._classes = 0 if self.numeric else real.columns[self.target].levels + 1
        self._test = test.take(~test.missing(self.target))
        self._truth = self._targets(self._test)
        self._asked = {
            "trees": self._matrix("boosting", self._test),
            "linear": self._matrix("linear", self._test),
        }

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the scores of a model."""
        return REGRESSION if self.numeric else CLASSIFICATION

    def tuned(self, learner: Learner) -> Tuned:
        """Three-fold cross-validation over the learner's eight settings, on at most 2,000 real rows."""
        rows = self.real.take(~self.real.missing(self.target)).subsample(TUNING_ROWS, seed=self._seed)
        if len(rows) < 2 * FOLDS:
            return Tuned(GRIDS[learner][0], 0.0)
        x, y = self._matrix(learner, rows), self._targets(rows)
        splits = list(self._folds(y).split(x, y))
        quality = [
            np.mean(
                [
                    self._scores(self._fit(learner, x[a], y[a], options, quick=True)(x[b]), y[b]).main
                    for a, b in splits
                ]
            )
            for options in GRIDS[learner]
        ]
        best = int(np.argmax(quality))
        return Tuned(GRIDS[learner][best], float(quality[best]))

    def learn(self, learner: Learner, rows: EncodedTable, options: Options) -> Learnt:
        """Train on the rows with a target and score on the test rows."""
        known = rows.take(~rows.missing(self.target))
        if not len(known):
            predict = self._constant(np.empty(0))
        else:
            predict = self._fit(learner, self._matrix(learner, known), self._targets(known), options)
        return Learnt(learner, predict, self._scores(predict(self._inputs(learner)), self._truth))

    def importance(self, model: Learnt) -> npt.NDArray[np.float64]:
        """Score lost on the test rows when each input column is permuted, (inputs,)."""
        table = self._test.subsample(IMPORTANCE_ROWS, seed=self._seed)
        truth = self._targets(table)
        order = np.random.default_rng(self._seed).permutation(len(table))

        def quality(rows: EncodedTable) -> float:
            return self._scores(model.predict(self._matrix(model.learner, rows)), truth).main

        intact = quality(table)
        return np.array([intact - quality(_permuted(table, j, order)) for j in self.inputs])

    def _folds(self, y: npt.NDArray[Any]) -> KFold | StratifiedKFold:
        kind = (
            StratifiedKFold
            if not self.numeric and np.unique(y, return_counts=True)[1].min() >= FOLDS
            else KFold
        )
        return kind(FOLDS, shuffle=True, random_state=self._seed)

    def _inputs(self, learner: Learner) -> Matrix:
        return self._asked["linear" if learner == "linear" else "trees"]

    def _matrix(self, learner: Learner, table: EncodedTable) -> Matrix:
        if learner == "linear":
            parts = self._features.by_column(table)
            return np.concatenate([parts[j] for j in self.inputs], axis=1)
        return np.delete(self._trees(table), self.target, axis=1)

    def _targets(self, table: EncodedTable) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = bounded(table, real=self.real).values(self.target)
        return values

    def _fit(
        self, learner: Learner, x: Matrix, y: npt.NDArray[Any], options: Options, *, quick: bool = False
    ) -> Callable[[Matrix], Matrix]:
        """A function from inputs to predicted numbers (n,) or to probabilities of all classes (n, classes)."""
        if (y == y[0]).all():
            return self._constant(y)
        model = self._model(learner, options, quick)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed budget is part of the protocol
            model.fit(trainable(x), y)
        if self.numeric:
            return lambda asked: np.asarray(model.predict(asked))
        return lambda asked: self._all_classes(model.predict_proba(asked), model.classes_)

    def _constant(self, y: npt.NDArray[Any]) -> Callable[[Matrix], Matrix]:
        if self.numeric:
            middle = float(y.mean()) if len(y) else float(np.nanmedian(self._targets(self.real)))
            return lambda asked: np.full(len(asked), middle)
        classes = y[:1] if len(y) else np.empty(0, dtype=np.int32)
        return lambda asked: self._all_classes(np.ones((len(asked), len(classes))), classes)

    def _all_classes(self, probabilities: Matrix, classes: npt.NDArray[Any]) -> Matrix:
        """Probabilities by class code; one that was never seen in training gets 1e-6."""
        full = np.full((len(probabilities), self._classes), SMALLEST_PROBABILITY)
        full[:, classes] = np.clip(probabilities, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
        return full

    def _model(self, learner: Learner, options: Options, quick: bool) -> Any:
        if learner == "linear":
            strength = options["strength"]
            return Ridge(alpha=1 / strength) if self.numeric else LogisticRegression(C=strength, max_iter=100)
        if learner == "forest":
            forest = RandomForestRegressor if self.numeric else RandomForestClassifier
            return forest(TUNING_TREES[learner] if quick else TREES, random_state=self._seed, **options)
        boosting = HistGradientBoostingRegressor if self.numeric else HistGradientBoostingClassifier
        native = self._trees.native(skip=self.target)
        return boosting(
            max_iter=TUNING_TREES[learner] if quick else 100,
            categorical_features=native,
            early_stopping=False,
            random_state=self._seed,
            **options,
        )

    def _scores(self, predicted: Matrix, truth: npt.NDArray[Any]) -> ScoreSet:
        return _regression(predicted, truth) if self.numeric else _classification(predicted, truth)


def _permuted(table: EncodedTable, column: int, order: npt.NDArray[np.int64]) -> EncodedTable:
    numbers, codes = table.numbers.copy(), table.codes.copy()
    block = numbers if table.columns[column].is_numeric else codes
    at = table.position(column)
    block[:, at] = block[order, at]
    return EncodedTable(table.columns, numbers, codes, table.target)


def _regression(predicted: Matrix, truth: npt.NDArray[np.float64]) -> ScoreSet:
    error = predicted - truth
    variance = float(truth.var())
    r2 = 1 - float((error**2).mean()) / variance if variance > 0 else 0.0
    named = {"r2": r2, "rmse": float(np.sqrt((error**2).mean())), "mae": float(np.abs(error).mean())}
    return ScoreSet(named)


def _classification(probabilities: Matrix, truth: npt.NDArray[np.int32]) -> ScoreSet:
    areas, weights = [], []
    for code in np.unique(truth):
        inside = truth == code
        if not inside.all():
            areas.append(auc(probabilities[inside, code], probabilities[~inside, code]))
            weights.append(int(inside.sum()))
    area = float(np.average(areas, weights=weights)) if areas else 0.5
    own = probabilities[np.arange(len(truth)), truth]
    guess = probabilities.argmax(1)
    labels = np.unique(truth)
    named = {
        "auc": area,
        "log_loss": float(-np.log(own).mean()),
        "balanced_accuracy": float(
            recall_score(truth, guess, labels=labels, average="macro", zero_division=0)
        ),
        "macro_f1": float(f1_score(truth, guess, labels=labels, average="macro", zero_division=0)),
    }
    return ScoreSet(named)
