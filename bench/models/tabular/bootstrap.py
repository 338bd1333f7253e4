"""The bootstrap: training rows drawn with replacement."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.models.tabular._simple import KeepsTable


class Bootstrap(KeepsTable):
    """Efron's (1979) bootstrap sample: perfect fidelity, no privacy, a third of the rows never drawn."""

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        return self._table.from_rows(np.random.default_rng(seed).integers(0, self._table.n, n))
