"""TabICL as a generator: one column after the other, in context, through the package `tabicl`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.adapters.tabular import Budget
from bench.errors import MissingRequirement
from bench.models.tabular._foreign import ForeignGenerator, import_package
from bench.models.tabular._nets import seeded


class TabICL(ForeignGenerator):
    """`TabICLUnsupervised.generate`: draws every column given those before it; no training.

    Absent weights mean: skipped.
    """

    def __init__(self, *, estimators: int = 8) -> None:
        self.estimators = estimators

    def _learn(self, frame: pd.DataFrame, seed: int, budget: Budget) -> None:
        package = import_package("tabicl._unsupervised", "tabicl")
        self._names = list(frame.columns)
        first = len(self._names) - len(self.category_names)
        self._model = package.TabICLUnsupervised(
            n_estimators=self.estimators,
            categorical_features=list(range(first, len(self._names))),
            random_state=seed,
            device=self._device,
        )
        matrix = np.hstack([self._mixed.filled, self._mixed.codes.astype(np.float64)])
        try:
            self._model.fit(matrix)
        except OSError as error:
            raise MissingRequirement(f"the weights of TabICL cannot be had: {error}") from error

    def _make(self, n: int, seed: int) -> pd.DataFrame:
        self._model.random_state = seed
        with seeded(seed, self._device):
            made = pd.DataFrame(self._model.generate(n_samples=n), columns=self._names)
        for name in self.category_names:
            made[name] = [f"v{int(code)}" for code in made[name]]
        return made
