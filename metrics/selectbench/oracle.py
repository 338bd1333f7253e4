"""How far a scorer can be trusted: does it prefer the target that measured affinities prefer?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.metrics.selectbench.rates import wilson

Badge = Literal["green", "amber", "red", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleCard:
    """Agreement of a scorer with measurements in one case."""

    n: int  # pairs of targets with a clear measured preference
    right: int  # that the scorer prefers as measured; ties and missing scores are wrong
    low: float | None  # Wilson's 95 % interval of right / n
    high: float | None
    spearman: float | None  # of score and affinity differences, where the latter were measured; None below 3
    n_spearman: int
    badge: Badge

    @property
    def accuracy(self) -> float | None:
        """Share of right signs; None if nothing is known."""
        return self.right / self.n if self.n else None


def oracle_card(
    *,
    on: npt.ArrayLike,
    off: npt.ArrayLike,
    sign: npt.ArrayLike,
    clear: npt.ArrayLike,
    delta: npt.ArrayLike,
) -> OracleCard:
    """Compare scores (n,) on two targets, lower is stronger, with which of them is preferred.

    `sign` is 1 where the first target is preferred, else -1; `clear` says where affinities differ tenfold or more,
    and only those count for the accuracy; `delta` is log10 of the ratio of affinities, NaN where only the direction is
    known. Badge: green if the interval lies above one half, amber if the accuracy does, else red; none
    without pairs.
    """
    s_on, s_off = np.asarray(on, dtype=np.float64), np.asarray(off, dtype=np.float64)
    sign_, clear_ = np.asarray(sign), np.asarray(clear, dtype=bool)
    delta_ = np.asarray(delta, dtype=np.float64)
    preference = s_off - s_on
    with np.errstate(invalid="ignore"):
        right = int((np.sign(preference) == sign_)[clear_].sum())
    n = int(clear_.sum())
    low, high = wilson(right, n) if n else (None, None)
    known = np.isfinite(preference) & np.isfinite(delta_)
    rho = _spearman(preference[known], delta_[known])
    return OracleCard(
        n=n,
        right=right,
        low=low,
        high=high,
        spearman=rho,
        n_spearman=int(known.sum()),
        badge=_badge(right, n, low),
    )


def _badge(right: int, n: int, low: float | None) -> Badge:
    if low is None:
        return "none"
    if low > 0.5:
        return "green"
    return "amber" if right / n > 0.5 else "red"


def _spearman(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float | None:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks from 1, ties sharing the mean of theirs."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
