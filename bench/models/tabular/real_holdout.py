"""The upper bound: real rows that no other model and no metric has trained on."""

from __future__ import annotations

from typing import ClassVar, Literal

import pandas as pd

from bench.models.tabular._simple import KeepsTable, rows_without_replacement


class RealHoldout(KeepsTable):
    """Returns a random subset of the held-out rows; all of them before any is repeated."""

    fits_on: ClassVar[Literal["train", "holdout"]] = "holdout"

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        return self._table.from_rows(rows_without_replacement(self._table.n, n, seed))
