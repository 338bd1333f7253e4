"""Normal scores: any column of numbers as a standard normal one, and back through its quantiles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

Floats = npt.NDArray[np.float64]


class NormalScores:
    """The rank transform of a column without missing values.

    Equal values are spread evenly over their share of the normal distribution, so that a column of few
    values becomes normal as well; the way back is the empirical quantile, which returns training values.
    """

    def __init__(self, values: Floats) -> None:
        self._sorted = np.sort(values)
        distinct = np.unique(values)
        # Where nearly all values differ, quantiles are interpolated; else only training values are returned.
        self._continuous = len(values) > 1 and len(distinct) > 0.9 * len(values)

    def scores(self, values: Floats, rng: np.random.Generator) -> Floats:
        """Standard normal scores of `values`; ties are broken by `rng`."""
        below = np.searchsorted(self._sorted, values, side="left")
        upto = np.searchsorted(self._sorted, values, side="right")
        level = (below + rng.random(len(values)) * np.maximum(upto - below, 1)) / len(self._sorted)
        edge = 0.5 / len(self._sorted)
        return np.asarray(ndtri(np.clip(level, edge, 1.0 - edge)), dtype=np.float64)

    def values(self, scores: Floats) -> Floats:
        """The quantiles at `scores`."""
        level = ndtr(scores)
        n = len(self._sorted)
        if self._continuous:
            return np.asarray(np.interp(level * n - 0.5, np.arange(n), self._sorted))
        return np.asarray(self._sorted[np.clip((level * n).astype(np.int64), 0, n - 1)])
