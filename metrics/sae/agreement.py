"""How well a proxy orders what the truth orders: rank correlations with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

FEWEST = 4
_DRAWS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAgreement:
    """Spearman and Kendall (tau-b) in [-1, 1], and the percentile interval of Spearman's."""

    spearman: float
    kendall: float
    low: float
    high: float
    n: int


def rank_agreement(*, proxy: Any, truth: Any, seed: int, draws: int = _DRAWS) -> RankAgreement | None:
    """Agreement of `proxy` with `truth`, both (n,); rows with NaN in either are left out.

    None if fewer than 4 rows remain or one side is constant. The interval is the 95 % percentile bootstrap.
    """
    x, y = np.asarray(proxy, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = x[keep], y[keep]
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    rows = np.random.default_rng(seed).integers(len(x), size=(draws, len(x)))
    found = [s for r in rows if np.isfinite(s := _spearman(x[r], y[r]))]
    low, high = np.quantile(found, [0.025, 0.975])
    return RankAgreement(
        spearman=_spearman(x, y),
        kendall=float(stats.kendalltau(x, y).statistic),
        low=float(low),
        high=float(high),
        n=len(x),
    )


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    a, b = stats.rankdata(x), stats.rankdata(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / scale) if scale > 0 else float("nan")
