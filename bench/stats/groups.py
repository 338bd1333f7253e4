"""All pairs of several models on one task: who can be told apart, corrected for the number of pairs.

The family of hypotheses is every pair, not "the best against the rest": which model is best is seen in the
same data, and Holm's correction over all pairs is valid whichever one looks at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from bench.stats._check import BoolArray, FloatArray, as_floats, bounded_range, probability
from bench.stats.bets import bets, log_factors, log_inverse
from bench.stats.eprocess import CAP
from bench.stats.paired import holm

_SPREAD = 1e-12  # relative; differences that vary less are equal but for rounding
_BISECTIONS = 40
_CHUNK_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class AnytimePairs:
    """Every pair i < j on the same samples: float[pairs] arrays in the order of `first`, `second`.

    `difference`, `low` and `high` are of mean(i) - mean(j) in the units of the scores, with a confidence
    sequence of this pair alone. `log_e` is the largest ln E so far of either direction, `p_value` the
    two-sided p of this pair alone that is valid at any time, `adjusted_p` Holm's over all pairs.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    log_e: FloatArray
    p_value: FloatArray
    adjusted_p: FloatArray


def pairwise_t(values: FloatArray, *, test_over_train: float = 0.0) -> FloatArray:
    """Holm-adjusted p of the paired t test for every pair, symmetric float[k, k].

    Parameters
    ----------
    values : float[k, n]
        One row per model, one column per repeat; a row with NaN is not tested.
    test_over_train : float >= 0
        n_test / n_train of resampled splits (Nadeau and Bengio 2003); 0 for independent repeats.

    Returns
    -------
    float[k, k]
        NaN on the diagonal and where no test is possible: incomplete rows, a single repeat, or differences
        that are the same on every repeat and so hold nothing on their spread.

    Examples
    --------
    >>> pairwise_t(np.array([[.9, .8, .7], [.1, .2, .15], [.12, .18, .16]])).round(3)[0].tolist()
    [nan, 0.035, 0.035]
    """
    table = as_floats(np.where(np.isnan(values), 0.0, values), "values", ndim=2)
    if not (math.isfinite(test_over_train) and test_over_train >= 0):
        raise ValueError(f"test_over_train must be a number of at least 0, got {test_over_train}")
    complete: BoolArray = np.logical_not(np.isnan(values).any(axis=1))
    k, n = table.shape
    result = np.full((k, k), np.nan)
    first, second = np.triu_indices(k, 1)
    both = complete[first] & complete[second]
    first, second = first[both], second[both]
    if n < 2 or first.size == 0:
        return result
    p = _t_p(table[first] - table[second], np.abs(table).max(), test_over_train)
    tested = ~np.isnan(p)
    if tested.any():
        p[tested] = holm(p[tested])
    result[first, second] = result[second, first] = p
    return result


def _t_p(d: FloatArray, scale: float, ratio: float) -> FloatArray:
    """Two-sided p for each row of differences float[m, n]; NaN where they do not vary."""
    n = d.shape[1]
    mean, sd = d.mean(axis=1), d.std(axis=1, ddof=1)
    varies = sd > _SPREAD * max(scale, 1e-300)
    t = np.abs(mean) / np.where(varies, sd * math.sqrt(1 / n + ratio), 1.0)
    p: FloatArray = np.where(varies, 2 * stdtr(n - 1, -t), np.where(mean == 0, 1.0, np.nan))
    return p


def pairwise_anytime(
    scores: FloatArray, *, alpha: float = 0.05, lo: float = 0.0, hi: float = 1.0
) -> AnytimePairs:
    """The anytime-valid comparison of `bench.stats.eprocess` for every pair at once.

    Parameters
    ----------
    scores : float[k, n] in [lo, hi], k >= 2
        One row per model; the same samples in the same order, which was fixed before the values were seen.

    Examples
    --------
    >>> pairs = pairwise_anytime(np.array([[1.0] * 20, [0.0] * 20]))
    >>> round(float(pairs.log_e[0]), 3), bool(pairs.adjusted_p[0] <= .05), bool(pairs.low[0] > 0)
    (11.192, True, True)
    """
    table = as_floats(scores, "scores", ndim=2, lo=lo, hi=hi)
    lo, hi = bounded_range(lo, hi)
    if table.shape[0] < 2:
        raise ValueError("pairs need at least two models")
    first, second = np.triu_indices(table.shape[0], 1)
    parts = [
        _anytime_chunk(table[first[at]] - table[second[at]], hi - lo, probability(alpha, "alpha"))
        for at in _chunks(first.size, table.shape[1])
    ]
    difference, low, high, log_e = (np.concatenate(column) for column in zip(*parts, strict=True))
    p_value = np.minimum(1.0, 2.0 * np.exp(-log_e))
    return AnytimePairs(
        tuple(first.tolist()), tuple(second.tolist()), difference, low, high, log_e, p_value, holm(p_value)
    )


def _chunks(pairs: int, n: int) -> list[slice]:
    step = max(1, _CHUNK_BYTES // (8 * n))
    return [slice(start, start + step) for start in range(0, pairs, step)]


def _anytime_chunk(
    d: FloatArray, width: float, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    y = np.clip(0.5 + 0.5 * d / width, 0.0, 1.0)
    threshold = log_inverse(alpha, 2)
    stakes = bets(y, threshold)
    forth, back = (_max_log_wealth(x, np.full((x.shape[0], 1), 0.5), stakes) for x in (y, 1.0 - y))
    low = _lower_end(y, stakes, threshold)
    high = 1.0 - _lower_end(1.0 - y, stakes, threshold)
    return d.mean(axis=1), (2 * low - 1) * width, (2 * high - 1) * width, np.maximum(forth, back)


def _max_log_wealth(y: FloatArray, mean: FloatArray, stakes: FloatArray) -> FloatArray:
    largest: FloatArray = np.cumsum(log_factors(y, mean, stakes, CAP), axis=1).max(axis=1)
    return largest


def _lower_end(y: FloatArray, stakes: FloatArray, threshold: float) -> FloatArray:
    """The smallest mean never rejected: wealth falls in the mean, and so does its maximum over time."""
    low, high = np.zeros((y.shape[0], 1)), np.ones((y.shape[0], 1))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        rejected = (_max_log_wealth(y, middle, stakes) >= threshold)[:, None]
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return low[:, 0]


def separable(adjusted_p: FloatArray, *, alpha: float = 0.05) -> BoolArray:
    """Which pairs differ at level `alpha` after correction; False where no test was possible."""
    with np.errstate(invalid="ignore"):
        found: BoolArray = adjusted_p <= probability(alpha, "alpha")
    return found
