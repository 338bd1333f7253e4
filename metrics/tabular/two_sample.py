"""D7 classifier two-sample test: can a strong classifier tell generated rows from real ones?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from bench.metrics.tabular.result import Result, table_of, undefined
from bench.metrics.tabular.roc import auc
from bench.metrics.tabular.states import row_ids
from bench.metrics.tabular.table import EncodedTable, check_same_layout, concatenate
from bench.metrics.tabular.trees import Matrix, TreeMap, trainable

FOLDS = 5
MAX_ROWS = 50_000
NEAR_COPIES_BELOW = 0.45
REVEALING = 10


def c2st(
    *, real: EncodedTable, generated: EncodedTable, seed: int = 0, max_rows: int = MAX_ROWS
) -> dict[str, Result]:
    """`c2st_auc` (best 0.5) and the score `c2st` = 1 - |2 AUC - 1| (up), both in [0, 1].

    Gradient-boosted trees (100 iterations, native categories) on as many real (0) as generated (1) rows, in five
    folds that keep identical rows together: without that, a copy of a training row in the test fold would be
    recognised as "the other side". One AUC over all out-of-fold scores. An AUC below 0.45 is flagged "near-copies":
    rows are then closer to rows of the other side than chance allows. Detail: the ten columns whose permutation
    costs most AUC. Undefined with fewer than ten different rows.

    Lopez-Paz and Oquab, "Revisiting Classifier Two-Sample Tests", ICLR 2017.
    """
    check_same_layout(real=real, generated=generated)
    size = min(len(real), len(generated), max_rows)
    x, y = real.subsample(size, seed=seed), generated.subsample(size, seed=seed)
    (groups,) = row_ids(concatenate([x, y]))
    if len(np.unique(groups)) < 2 * FOLDS:
        missing = undefined(f"five folds of both sides need at least {2 * FOLDS} different rows")
        return {"c2st_auc": missing, "c2st": missing}
    features = TreeMap(real)
    matrix = features(concatenate([x, y]))
    labels = np.repeat([0, 1], size)
    folds = grouped_folds(labels, groups, folds=FOLDS, seed=seed)
    scores, importance = _out_of_fold(matrix, labels, folds, features, seed)
    value = auc(scores[labels == 1], scores[labels == 0])
    detail = _most_revealing([real.columns[j].name for j in features.columns], importance)
    flags = ("near-copies",) if value < NEAR_COPIES_BELOW else ()
    return {
        "c2st_auc": Result(value, 2 * size, detail=detail, flags=flags),
        "c2st": Result(1 - abs(2 * value - 1), 2 * size, detail=detail, flags=flags),
    }


def grouped_folds(
    labels: npt.NDArray[np.int64], groups: npt.NDArray[np.int64], *, folds: int, seed: int
) -> npt.NDArray[np.int64]:
    """Fold of each row: rows of a group share it, and groups of one make-up (rows by label) are dealt out evenly."""
    _, group = np.unique(groups, return_inverse=True)
    count = int(group.max()) + 1
    make_up = np.bincount(group[labels == 0], minlength=count) * (len(labels) + 1)
    make_up = make_up + np.bincount(group[labels == 1], minlength=count)
    order = np.lexsort((np.random.default_rng(seed).permutation(count), make_up))
    fold_of_group = np.empty(count, dtype=np.int64)
    fold_of_group[order] = np.arange(count) % folds
    return fold_of_group[group]


def _out_of_fold(
    matrix: Matrix,
    labels: npt.NDArray[np.int64],
    folds: npt.NDArray[np.int64],
    features: TreeMap,
    seed: int,
) -> tuple[Matrix, Matrix]:
    """Scores of all rows by models that did not see them, and the AUC lost per permuted column in the first fold."""
    scores = np.full(len(labels), 0.5)
    importance = np.zeros(matrix.shape[1])
    for fold in range(FOLDS):
        inside, outside = folds != fold, folds == fold
        if not outside.any() or len(np.unique(labels[inside])) < 2:
            continue
        model = HistGradientBoostingClassifier(
            max_iter=100, categorical_features=features.native(), early_stopping=False, random_state=seed
        ).fit(trainable(matrix[inside]), labels[inside])
        scores[outside] = model.predict_proba(matrix[outside])[:, 1]
        if fold == 0:
            importance = _permutation_importance(model, matrix[outside], labels[outside], seed)
    return scores, importance


def _permutation_importance(
    model: HistGradientBoostingClassifier, matrix: Matrix, labels: npt.NDArray[np.int64], seed: int
) -> Matrix:
    if len(np.unique(labels)) < 2:
        return np.zeros(matrix.shape[1])
    order = np.random.default_rng(seed).permutation(len(matrix))

    def quality(values: Matrix) -> float:
        scores = model.predict_proba(values)[:, 1]
        return auc(scores[labels == 1], scores[labels == 0])

    intact, lost = quality(matrix), np.zeros(matrix.shape[1])
    for j in range(matrix.shape[1]):
        shuffled = matrix.copy()
        shuffled[:, j] = matrix[order, j]
        lost[j] = intact - quality(shuffled)
    return lost


def _most_revealing(names: list[str], importance: Matrix) -> dict[str, npt.NDArray[np.generic]]:
    top = np.argsort(-importance, kind="stable")[:REVEALING]
    return table_of({"column": [names[j] for j in top], "importance": importance[top]})
