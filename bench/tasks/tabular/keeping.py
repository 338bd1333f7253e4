"""Work on the real rows that outlives a job: what predictors trained on them score is computed once a unit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import sklearn

from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.columnwise import ColumnScore
from bench.metrics.tabular.learners import GRIDS, LEARNERS, Learner, Tuned
from bench.tasks.caching import Array, cached_array

Value = TypeVar("Value")
_FORMAT = "1"  # raised when the arrays mean something else


class StoredCache(RealSideCache):
    """Keeps column scores and chosen settings as arrays in `folder`; everything else in memory.

    Files are named by a hash of the key, which holds the fingerprints of the tables, and of the version of
    scikit-learn, whose models they come from.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder / "tabular"

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value kept under `key`, here or on disk; else it is computed and kept."""
        return super().get(key, lambda: self._stored(key, compute))

    def _stored(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        parts = key if isinstance(key, tuple) else (key,)
        name = hashlib.sha256(repr((_FORMAT, sklearn.__version__, parts)).encode()).hexdigest()[:32]
        path = self._folder / f"{name}.npy"
        if parts[0] == "columns":
            predictors = cast(tuple[str, ...], parts[3])
            array = cached_array(
                path,
                lambda: _from_scores(cast(dict[int, ColumnScore], compute()), predictors),
                fits=lambda a: a.dtype == np.float64 and a.ndim == 2 and a.shape[1] == len(predictors) + 1,
            )
            return cast(Value, _to_scores(array, predictors))
        if parts[0] == "efficacy" and parts[-1] == "settings":
            array = cached_array(
                path, lambda: _from_settings(cast(dict[Learner, Tuned], compute())), fits=_are_settings
            )
            return cast(Value, _to_settings(array))
        return compute()


def _from_scores(scores: dict[int, ColumnScore], predictors: tuple[str, ...]) -> Array:
    """One row per column: its number, then a score for each predictor (NaN: none)."""
    rows = [
        [float(column), *(score.by_predictor.get(name, np.nan) for name in predictors)]
        for column, score in scores.items()
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(predictors) + 1)


def _to_scores(array: Array, predictors: tuple[str, ...]) -> dict[int, ColumnScore]:
    return {
        int(row[0]): ColumnScore(
            {name: float(v) for name, v in zip(predictors, row[1:], strict=True) if not np.isnan(v)}
        )
        for row in array
    }


def _from_settings(settings: dict[Learner, Tuned]) -> Array:
    """One row per learner: its number, that of its options in the grid, the validation score."""
    rows = [
        [LEARNERS.index(name), GRIDS[name].index(tuned.options), tuned.validation]
        for name, tuned in settings.items()
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 3)


def _are_settings(array: Array) -> bool:
    return (
        array.dtype == np.float64
        and array.ndim == 2
        and array.shape[1] == 3
        and all(0 <= a < len(LEARNERS) and 0 <= b < len(GRIDS[LEARNERS[int(a)]]) for a, b, _ in array)
    )


def _to_settings(array: Array) -> dict[Learner, Tuned]:
    names = [LEARNERS[int(row[0])] for row in array]
    return {
        name: Tuned(GRIDS[name][int(row[1])], float(row[2])) for name, row in zip(names, array, strict=True)
    }
