"""What wrappers of other people's packages share: a frame any package can read, and the way back."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from typing import Any

import numpy as np
import pandas as pd

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.errors import InvalidOutput, MissingRequirement
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._table import Codes, Numbers, Table


class ForeignGenerator(TabularGenerator):
    """Gives a package a frame without gaps: float columns "n0", ... and category columns "c0", ... of text.

    Missingness is a category of its own, so that every package can take every table.
    """

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._mixed = MixedTable(Table(train, schema), np.random.default_rng(seed))
        self._device = device
        self._learn(self._plain(), seed % 2**31, budget)

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        numbers, codes = self._read(self._make(n, seed % 2**31), n)
        return self._mixed.restore_values(numbers, codes, np.random.default_rng(seed))

    @abstractmethod
    def _learn(self, frame: pd.DataFrame, seed: int, budget: Budget) -> None:
        """Let the package learn `frame`."""

    @abstractmethod
    def _make(self, n: int, seed: int) -> pd.DataFrame:
        """`n` rows with the columns of the frame learned."""

    @property
    def category_names(self) -> list[str]:
        """Names of the category columns, which come last."""
        return [f"c{j}" for j in range(len(self._mixed.levels))]

    def _plain(self) -> pd.DataFrame:
        mixed = self._mixed
        columns: dict[str, Any] = {f"n{j}": column for j, column in enumerate(mixed.filled.T)}
        for j, levels in enumerate(mixed.levels):
            names = pd.Index([f"v{level}" for level in range(levels)])
            columns[f"c{j}"] = pd.Categorical.from_codes(mixed.codes[:, j], categories=names)
        return pd.DataFrame(columns)

    def _read(self, frame: pd.DataFrame, n: int) -> tuple[Numbers, Codes]:
        wanted = list(self._plain().columns)
        lacking = [name for name in wanted if name not in frame.columns]
        if lacking or len(frame) != n:
            raise InvalidOutput(
                f"the package made {len(frame)} rows instead of {n}, without columns {lacking}"
            )
        p = self._mixed.filled.shape[1]
        numbers = np.empty((n, p))
        for j in range(p):
            values = pd.to_numeric(frame[f"n{j}"], errors="coerce").to_numpy(
                dtype=np.float64, na_value=np.nan
            )
            numbers[:, j] = np.where(np.isfinite(values), values, np.median(self._mixed.filled[:, j]))
        codes = np.zeros((n, len(self._mixed.levels)), dtype=np.int64)
        for j, levels in enumerate(self._mixed.levels):
            known = pd.Index([f"v{level}" for level in range(levels)])
            codes[:, j] = known.get_indexer(pd.Index(frame[f"c{j}"].astype(str)))
            codes[codes[:, j] < 0, j] = np.bincount(self._mixed.codes[:, j]).argmax()
        return numbers, codes


def import_package(module: str, package: str) -> Any:
    """The module, or `MissingRequirement` with the install line."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingRequirement(f"needs module {module} (pip install {package}): {error}") from error
