"""Copies with noise: a privacy failure that exact matching does not see."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.models.tabular._simple import KeepsTable, rows_without_replacement


class NoisyCopy(KeepsTable):
    """Training rows with normal noise of `noise` standard deviations on every number.

    A share `noise` of the categories is replaced by draws from the column. Missing values stay missing.
    """

    def __init__(self, *, noise: float = 0.05) -> None:
        if not 0.0 <= noise <= 1.0:
            raise ValueError(f"noise must be between 0 and 1, got {noise}")
        self.noise = noise

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        table, rng = self._table, np.random.default_rng(seed)
        rows = rows_without_replacement(table.n, n, seed)
        present = ~np.isnan(table.numbers)
        counts = np.maximum(present.sum(axis=0), 1)
        means = np.nansum(table.numbers, axis=0) / counts
        spread = np.sqrt(np.nansum((table.numbers - means) ** 2, axis=0) / counts)
        numbers = table.numbers[rows] + self.noise * spread * rng.standard_normal((n, len(spread)))
        codes = table.codes[rows]
        for j in range(codes.shape[1]):
            others = table.codes[rng.integers(0, table.n, n), j]
            codes[:, j] = np.where(rng.random(n) < self.noise, others, codes[:, j])
        return table.assemble(numbers, codes)
