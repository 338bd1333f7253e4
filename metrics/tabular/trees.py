"""Tables as gradient-boosted trees take them: categories as native categories, missing as it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.bounds import bounded
from bench.metrics.tabular.table import MISSING, EncodedTable

MAX_NATIVE_LEVELS = 254
"""Scikit-learn's limit of 255 less one, which is kept for unseen levels."""
Matrix = npt.NDArray[np.float64]


class TreeMap:
    """Matrices of tables for HistGradientBoosting, fixed by the real table.

    Categories up to 254 levels are native categories, wider ones become their frequency rank in the real table;
    ordinals and booleans keep their code as a number. NaN is missing.
    """

    def __init__(self, real: EncodedTable) -> None:
        self._real = real
        self.columns = list(range(len(real.columns)))
        self._ranks = {j: _frequency_ranks(real, j) for j in self.columns if _is_wide(real, j)}

    @property
    def categorical(self) -> npt.NDArray[np.bool_]:
        """Which columns of the matrix are native categories."""
        kinds = [self._real.columns[j].kind for j in self.columns]
        named = zip(self.columns, kinds, strict=True)
        return np.array([kind == "categorical" and j not in self._ranks for j, kind in named], dtype=bool)

    def __call__(self, table: EncodedTable) -> Matrix:
        """float64 (n, columns)."""
        limited = bounded(table, real=self._real)
        matrix = np.empty((len(table), len(self.columns)))
        for slot, j in enumerate(self.columns):
            matrix[:, slot] = limited.values(j)
            if j in self._ranks:
                matrix[:, slot] = self._ranks[j][limited.values(j)]
            matrix[limited.missing(j), slot] = np.nan
        return matrix

    def native(self, *, skip: int | None = None) -> npt.NDArray[np.bool_] | None:
        """The argument `categorical_features` of the estimators for the matrix, less column `skip`."""
        chosen = self.categorical if skip is None else np.delete(self.categorical, skip)
        return chosen if chosen.any() else None


def trainable(matrix: Matrix) -> Matrix:
    """The matrix with 0 in columns that have no value at all, from which scikit-learn can't make bins."""
    empty = np.isnan(matrix).all(0)
    return np.where(empty, 0.0, matrix) if empty.any() else matrix


def _is_wide(real: EncodedTable, j: int) -> bool:
    return not real.columns[j].is_numeric and real.columns[j].levels > MAX_NATIVE_LEVELS


def _frequency_ranks(real: EncodedTable, j: int) -> Matrix:
    """Rank of each code 0..K by frequency in the real table, 0 for the most frequent; K, unseen, comes last."""
    known = real.values(j)[real.values(j) != MISSING]
    counts = np.bincount(known, minlength=real.columns[j].levels + 1)
    ranks = np.empty(len(counts))
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return ranks
