"""NRGBoost: energy-based boosted trees, through the package `nrgboost`."""

from __future__ import annotations

import pandas as pd

from bench.adapters.tabular import Budget
from bench.models.tabular._foreign import ForeignGenerator, import_package


class NRGBoost(ForeignGenerator):
    """NRGBoost (Bravo 2025) with the parameters of its documentation; Gibbs sampling with `num_steps` steps."""

    def __init__(self, *, num_trees: int = 200, num_steps: int = 100) -> None:
        self.num_trees = num_trees
        self.num_steps = num_steps

    def _learn(self, frame: pd.DataFrame, seed: int, budget: Budget) -> None:
        package = import_package("nrgboost", "nrgboost")
        parameters = {
            "num_trees": self.num_trees,
            "shrinkage": 0.15,
            "max_leaves": 256,
            "max_ratio_in_leaf": 2,
            "num_model_samples": 80_000,
            "p_refresh": 0.1,
            "num_chains": 16,
            "burn_in": 100,
        }
        self._model = package.NRGBooster.fit(package.Dataset(frame), parameters, seed=seed)

    def _make(self, n: int, seed: int) -> pd.DataFrame:
        made: pd.DataFrame = self._model.sample(n, num_steps=self.num_steps, seed=seed)
        return made
