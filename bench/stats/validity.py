"""What repeated looking does to a test, measured: for the methods page and for the tests of this package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bench.stats._check import count, probability
from bench.stats.bets import bets, log_inverse, log_wealth
from bench.stats.eprocess import CAP


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Share of comparisons of two equal models in which a winner was ever declared."""

    anytime: float
    z_test: float
    runs: int
    n: int
    every: int
    alpha: float


def false_alarms(
    *,
    runs: int = 400,
    n: int = 1_000,
    every: int = 10,
    alpha: float = 0.05,
    rng: np.random.Generator | None = None,
) -> FalseAlarms:
    """Compare two equally good models, looking again and again: e-process each item, z-test each `every` items.

    Both models answer each item right with probability 1/2, independently. The z-test stops at the first
    look with |mean(d)| / (s / sqrt(t)) beyond the two-sided normal quantile.

    Examples
    --------
    >>> found = false_alarms(runs=100)
    >>> found.anytime <= .05 + 3 * (.05 * .95 / 100) ** .5, found.z_test > .2
    (True, True)
    """
    runs, n, every = count(runs, "runs"), count(n, "n"), count(every, "every", 2)
    probability(alpha, "alpha")
    rng = np.random.default_rng(0) if rng is None else rng
    d = rng.integers(0, 2, (runs, n)).astype(np.float64) - rng.integers(0, 2, (runs, n))
    tuning = log_inverse(alpha, 2)
    evidence = [log_wealth(y, 0.5, bets(y, tuning), cap=CAP) for y in (0.5 + 0.5 * d, 0.5 - 0.5 * d)]
    anytime = (np.maximum(*evidence).max(axis=1) >= tuning).mean()
    t = np.arange(1, n + 1)
    mean = np.cumsum(d, axis=1) / t
    sd = np.sqrt(np.maximum(np.cumsum(d**2, axis=1) / t - mean**2, 1e-12) * t / np.maximum(1, t - 1))
    z = (np.abs(mean) / sd * np.sqrt(t))[:, every - 1 :: every]
    z_test = (z > ndtri(1 - alpha / 2)).any(axis=1).mean()
    return FalseAlarms(float(anytime), float(z_test), runs, n, every, alpha)
