"""The floor of structure: every column drawn for itself."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.models.tabular._simple import KeepsTable


class Independent(KeepsTable):
    """Resamples every column independently, with replacement: right marginals, no dependence at all."""

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rows = np.random.default_rng(seed).integers(0, self._table.n, (n, len(self._table.modelled)))
        return self._table.from_rows(rows)
