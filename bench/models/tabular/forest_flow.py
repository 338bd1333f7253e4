"""Flow matching with gradient-boosted trees: a velocity for every time and column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._intervals import Intervals
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._table import Numbers, Table
from bench.spec import Context


@dataclass(frozen=True)
class _Plan:
    times: int
    fits: int  # models in all; wide tables get fewer times, at least 4
    rows: int  # training rows times copies with different noise, at most
    copies: int
    iterations: int
    cells: int  # rows times columns, at most
    leaves: int = 31


_PLANS = {
    "tiny": _Plan(times=3, fits=30, rows=2_000, copies=1, iterations=5, cells=20_000),
    "small": _Plan(times=8, fits=120, rows=10_000, copies=4, iterations=20, cells=150_000, leaves=15),
    "full": _Plan(times=20, fits=1_000, rows=200_000, copies=20, iterations=100, cells=10_000_000),
}
_FEWEST_TIMES = 4


class ForestFlow(TabularGenerator):
    """ForestFlow (Jolicoeur-Martineau et al. 2024): straight paths from noise to data, velocities by trees.

    One histogram gradient boosting model for each time and column, on several copies of the training rows
    with different noise; Euler steps. Deviation: a category is one number, a random place in its interval
    of the normal distribution, instead of one-hot columns.
    """

    def __init__(self) -> None:
        self._plan = _PLANS["small"]

    def setup(self, ctx: Context) -> None:
        self._plan = _PLANS[ctx.size]

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        rng = np.random.default_rng(seed)
        self._mixed = mixed = MixedTable(Table(train, schema), rng)
        self._intervals = Intervals(mixed.codes, mixed.levels)
        self._width = mixed.numbers.shape[1] + mixed.codes.shape[1]
        n = len(mixed.codes)
        most = max(1, min(self._plan.rows, self._plan.cells // max(1, self._width)))
        rows = np.tile(np.arange(n), max(1, min(self._plan.copies, most // n)))
        if len(rows) > most:
            rows = np.sort(rng.choice(n, most, replace=False))
        data = np.hstack([mixed.numbers[rows], self._intervals.scores(mixed.codes[rows], rng)])
        times = min(self._plan.times, max(_FEWEST_TIMES, self._plan.fits // max(1, self._width)))
        self._models = [
            self._velocities(data, step / times, rng) for step in range(times if self._width else 0)
        ]

    def _velocities(
        self, data: Numbers, time: float, rng: np.random.Generator
    ) -> list[HistGradientBoostingRegressor]:
        """One model a column of the mean velocity at `time`."""
        noise = rng.standard_normal(data.shape)
        place, velocity = (1.0 - time) * noise + time * data, data - noise
        models = []
        for column in velocity.T:
            model = HistGradientBoostingRegressor(
                max_iter=self._plan.iterations,
                learning_rate=0.3 if self._plan.iterations <= 20 else 0.15,
                max_leaf_nodes=self._plan.leaves,
                early_stopping=False,
                random_state=int(rng.integers(2**31)),
            )
            models.append(model.fit(place, column))
        return models

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((n, self._width))
        for models in self._models if n else []:
            x = x + np.column_stack([model.predict(x) for model in models]) / len(self._models)
        p = self._mixed.numbers.shape[1]
        return self._mixed.restore(x[:, :p], self._intervals.codes(x[:, p:]), rng)
