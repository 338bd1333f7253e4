"""Rank agreement: does a metric put models in the order in which people do?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_NORMAL = 1.959964
_FEWEST = 4  # the standard error divides by n - 3


@dataclass(frozen=True)
class RankAgreement:
    """Spearman's correlation in [-1, 1] with a 95 % interval; the ends are None where there is none.

    There is none for fewer than 4 models, and at -1 or 1, where the approximation breaks down.
    """

    value: float
    low: float | None
    high: float | None
    n: int


def rank_agreement(*, metric: Sequence[float], rates: Sequence[float]) -> RankAgreement:
    """Spearman correlation of a metric with human error rates over models; ties get their mean rank.

    The interval is Fisher's z with the standard error of Bonett & Wright 2000, sqrt((1 + r^2 / 2) / (n - 3)). Raises
    ValueError for sequences of different length, fewer than 3 models, values that are not finite or all equal.

    >>> rank_agreement(metric=[9.0, 7, 8, 1], rates=[0.1, 0.2, 0.3, 0.4]).value
    -0.8
    """
    first, second = np.asarray(metric, dtype=float), np.asarray(rates, dtype=float)
    if first.ndim != 1 or first.shape != second.shape or len(first) < 3:
        raise ValueError(
            f"needs two equally long rows of at least 3 models, got {first.shape} and {second.shape}"
        )
    for name, values in (("metric", first), ("rates", second)):
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: value {int(np.flatnonzero(~np.isfinite(values))[0])} is not finite")
        if values.min() == values.max():
            raise ValueError(f"{name}: all values are equal, so there is no order")
    value = round(float(np.corrcoef(ranks(first), ranks(second))[0, 1]), 12)
    low = high = None
    if len(first) >= _FEWEST and abs(value) < 1:
        reach = _NORMAL * math.sqrt((1 + value**2 / 2) / (len(first) - 3))
        low, high = (math.tanh(math.atanh(value) + sign * reach) for sign in (-1, 1))
    return RankAgreement(value, low, high, len(first))


def ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks from 1, smallest first, the mean rank for ties."""
    below = (values[:, None] > values).sum(axis=1)
    equal = (values[:, None] == values).sum(axis=1)
    found: npt.NDArray[np.float64] = below + (equal + 1) / 2
    return found
