"""Bets on the mean of a bounded sequence: how much to stake next, and the wealth this has earned.

For data in [0, 1] with conditional mean mu, wealth that starts at 1 and is multiplied by
1 + lambda_t (X_t - mu), with lambda_t chosen before X_t is seen, is a non-negative martingale. It reaches
1/alpha with probability at most alpha, ever (Ville 1939); so a claim made when it does is valid at any time.

Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting.
"""

from __future__ import annotations

import math

import numpy as np

from bench.stats._check import FloatArray, as_floats, probability


def log_inverse(alpha: float, sides: int) -> float:
    """ln(sides / alpha), to which the bets are tuned; sides = 2 for a two-sided sequence."""
    return math.log(sides / probability(alpha, "alpha"))


def bets(x: FloatArray, tuning: float) -> FloatArray:
    """The predictable bets lambda_1 ... lambda_n before any cap.

    mu_t = (1/2 + sum_{i<=t} X_i) / (t + 1), v_t = (1/4 + sum_{i<=t} (X_i - mu_i)^2) / (t + 1), v_0 = 1/4,
    lambda_t = sqrt(2 tuning / (v_{t-1} t ln(1 + t))): lambda_t depends on X_1 ... X_{t-1} only.

    Parameters
    ----------
    x : float[..., n] in [0, 1]
        Sequences along the last axis.
    tuning : float > 0
        ln(2/alpha) for two sides, ln(1/alpha) for one.

    Returns
    -------
    float[..., n], positive

    Examples
    --------
    >>> bets([1, 0, 1], log_inverse(.05, 2)).round(6).tolist()
    [6.524985, 4.635696, 3.075907]
    """
    values = as_floats(x, "x", lo=0.0, hi=1.0, ndim=None)
    t = np.arange(1, values.shape[-1] + 1)
    mean = (0.5 + np.cumsum(values, axis=-1)) / (t + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2, axis=-1)) / (t + 1)
    before = np.concatenate([np.full((*values.shape[:-1], 1), 0.25), variance[..., :-1]], axis=-1)
    stakes: FloatArray = np.sqrt(2 * tuning / (before * t * np.log1p(t)))
    return stakes


def log_wealth(x: FloatArray, mean: float | FloatArray, stakes: FloatArray, *, cap: float) -> FloatArray:
    """ln prod_{i<=t} (1 + min(lambda_i, cap / mean) (X_i - mean)) for every t: wealth of betting on "larger".

    Betting on "smaller" is the same with 1 - x and 1 - mean.

    Parameters
    ----------
    x, stakes : float[..., n]
    mean : float or float[..., n] in [0, 1]
        One value, or one per step (sampling without replacement).
    cap : float in (0, 1)
        A loss never costs more than this share of the wealth.

    Returns
    -------
    float[..., n]
    """
    result: FloatArray = np.cumsum(log_factors(x, mean, stakes, cap), axis=-1)
    return result


def log_factors(x: FloatArray, mean: float | FloatArray, stakes: FloatArray, cap: float) -> FloatArray:
    """ln(1 + min(lambda_i, cap / mean) (X_i - mean)) for every i, unchecked; the hot loop of the sequences."""
    limit = cap / np.maximum(mean, 1e-300)  # at mean 0 nothing can be lost, whatever the stake
    factors: FloatArray = np.log1p(np.minimum(stakes, limit) * (x - mean))
    return factors


class RunningBets:
    """The bets of `bets`, one observation at a time."""

    def __init__(self, tuning: float) -> None:
        self._tuning = tuning
        self._t = 0
        self._sum = 0.0
        self._squares = 0.0

    def next_stake(self) -> float:
        """lambda_{t+1}, given the t observations so far."""
        t = self._t + 1
        variance = (0.25 + self._squares) / t
        return math.sqrt(2 * self._tuning / (variance * t * math.log1p(t)))

    def observe(self, x: float) -> None:
        """Take in the next observation, in [0, 1]."""
        self._t += 1
        self._sum += x
        self._squares += (x - (0.5 + self._sum) / (self._t + 1)) ** 2
