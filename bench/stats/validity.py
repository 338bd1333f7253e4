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
    """Share of comparisons of two equal models in which a winner was ever declared.

    `curve` has (items, share of the e-process, share of the z-test) so far, at up to twenty numbers of items.
    """

    anytime: float
    z_test: float
    runs: int
    n: int
    every: int
    alpha: float
    curve: tuple[tuple[int, float, float], ...] = ()


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
    alarmed = np.maximum.accumulate(np.maximum(*evidence), axis=1) >= tuning
    t = np.arange(1, n + 1)
    mean = np.cumsum(d, axis=1) / t
    sd = np.sqrt(np.maximum(np.cumsum(d**2, axis=1) / t - mean**2, 1e-12) * t / np.maximum(1, t - 1))
    looked_at = t % every == 0
    rejected = np.abs(mean) / sd * np.sqrt(t) > ndtri(1 - alpha / 2)
    misled = np.logical_or.accumulate(rejected & looked_at, axis=1)
    shares = alarmed.mean(axis=0), misled.mean(axis=0)
    at = np.unique(np.linspace(0, n, 21).astype(int)[1:])
    curve = tuple((int(i), float(shares[0][i - 1]), float(shares[1][i - 1])) for i in at if i)
    return FalseAlarms(float(shares[0][-1]), float(shares[1][-1]), runs, n, every, alpha, curve)
