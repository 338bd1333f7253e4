"""Confidence sequences: intervals for a bounded mean that hold at all times at once.

With probability at least 1 - alpha the true mean lies in *every* interval of the sequence, so one may look
after each observation and stop whenever one likes. The order of the observations must be fixed before their
values are seen.

Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from bench.stats._check import FloatArray, as_floats, bounded_range, count, probability
from bench.stats.bets import RunningBets, log_factors, log_inverse

_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """Ends after each observation, in the units of the data.

    `violated` says that the interval ran empty, which has probability at most alpha if the assumptions
    hold; the ends then stay at the last interval that was not empty.
    """

    low: FloatArray
    high: FloatArray
    alpha: float
    violated: bool


def hedged(
    x: Sequence[float] | FloatArray,
    *,
    alpha: float = 0.05,
    lo: float = 0.0,
    hi: float = 1.0,
    cap: float = 0.5,
    population: int | None = None,
) -> ConfidenceSequence:
    """Betting confidence sequence of a bounded mean, at every t, by exact root finding.

    The interval after t observations holds all m with max(K+_t(m), K-_t(m)) / 2 < 1/alpha, intersected over
    time, where K+ and K- are the wealths of betting on "larger than m" and "smaller than m" with the stakes
    of `bench.stats.bets`.

    Parameters
    ----------
    x : float[n] in [lo, hi], n >= 1
        In an order fixed before the values were seen.
    alpha : float in (0, 1)
    cap : float in (0, 1)
        1/2 as published; 3/4 makes the ends agree with the decisions of `bench.stats.eprocess`.
    population : int >= n, optional
        Size of the finite set from which x was drawn without replacement; the mean estimated is then that
        of the set, and once the set is exhausted the interval is exactly that mean.

    Returns
    -------
    ConfidenceSequence
        Ends exact to 1e-10 of the range.

    Examples
    --------
    >>> sequence = hedged([1, 0, 1, 1, 0, 1, 1, 1, 0, 1])
    >>> sequence.low[3:8].round(6).tolist()
    [0.095512, 0.095512, 0.143202, 0.203211, 0.261276]
    """
    values = as_floats(x, "x", lo=lo, hi=hi)
    running = HedgedSequence(alpha=alpha, lo=lo, hi=hi, cap=cap, population=population)
    low, high = np.empty_like(values), np.empty_like(values)
    for i, value in enumerate(values.tolist()):
        running.update(value)
        low[i], high[i] = running.low, running.high
    return ConfidenceSequence(low, high, alpha, running.violated)


class HedgedSequence:
    """The sequence of `hedged`, one observation at a time; before the first it is [lo, hi].

    An end moves only when it is rejected, so the wealth at both ends is carried along and a root is looked
    for only then.

    Examples
    --------
    >>> running = HedgedSequence()
    >>> running.low, running.high
    (0.0, 1.0)
    >>> for x in [1, 0, 1, 1]:
    ...     running.update(x)
    >>> round(running.low, 6), running.high
    (0.095512, 1.0)
    """

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        lo: float = 0.0,
        hi: float = 1.0,
        cap: float = 0.5,
        population: int | None = None,
    ) -> None:
        lo, hi = bounded_range(lo, hi)
        self._lo, self._scale = lo, hi - lo
        self._population = None if population is None else count(population, "population")
        self._threshold = log_inverse(alpha, 2)
        self._bets = RunningBets(self._threshold)
        self._cap = probability(cap, "cap")
        self._sum = 0.0
        self._history = np.empty((3, 64))  # observation, stake, sum before it
        self._below = _End(0.0)
        self._above = _End(0.0)  # in the mirrored world of 1 - x, where it is a lower end too
        self.n = 0
        self.violated = False

    @property
    def low(self) -> float:
        """Lower end in the units of the data."""
        return self._lo + self._scale * self._below.at

    @property
    def high(self) -> float:
        """Upper end in the units of the data."""
        return self._lo + self._scale * (1.0 - self._above.at)

    def update(self, x: float) -> None:
        """Take in the next observation, within [lo, hi]."""
        value = (x - self._lo) / self._scale
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"observation {x} lies outside [{self._lo}, {self._lo + self._scale}]")
        if self.n == self._population:
            raise ValueError(f"all {self._population} items of the population have been observed")
        stake = self._bets.next_stake()
        self._remember(value, stake)
        self._bets.observe(value)
        if self.n == self._population:
            self._exhaust()
        elif not self.violated:
            self._move(self._below, self._above, value, stake, mirrored=False)
            self._move(self._above, self._below, 1.0 - value, stake, mirrored=True)

    def _remember(self, value: float, stake: float) -> None:
        if self.n == self._history.shape[1]:
            self._history = np.concatenate([self._history, np.empty_like(self._history)], axis=1)
        self._history[:, self.n] = value, stake, self._sum
        self._sum += value
        self.n += 1

    def _move(self, end: _End, other: _End, value: float, stake: float, *, mirrored: bool) -> None:
        """Push a lower end upwards if the newest observation rejects it."""
        seen = self.n - self._sum if mirrored else self._sum
        mean = self._conditional(end.at, seen - value, self.n - 1)
        end.wealth += math.log1p(min(stake, self._cap / max(mean, 1e-300)) * (value - mean))
        impossible = self._population is not None and end.at * self._population < seen
        if end.wealth < self._threshold and not impossible:
            return
        wealth = self._wealth_function(mirrored)
        limit = 1.0 - other.at
        if impossible:
            end.at = min(seen / (self._population or 1), limit)  # what was seen makes the mean this large
        end.wealth = wealth(end.at)  # in full, without the rounding of many small steps
        if end.wealth < self._threshold:
            return
        if wealth(limit) >= self._threshold:
            self.violated = True
            return
        end.at = brentq(lambda m: wealth(m) - self._threshold, end.at, limit, xtol=_TOLERANCE)
        end.wealth = wealth(end.at)

    def _conditional(self, mean: float, seen: float, drawn: int) -> float:
        """What the next observation is expected to be if the mean is `mean`."""
        if self._population is None:
            return mean
        rest = (self._population * mean - seen) / (self._population - drawn)
        return min(1.0, max(0.0, rest))

    def _wealth_function(self, mirrored: bool) -> Callable[[float], float]:
        values, stakes, seen = self._history[:, : self.n]
        before = np.arange(self.n)
        if mirrored:
            values, seen = 1.0 - values, before - seen

        def infinite(mean: float) -> float:
            return float(log_factors(values, mean, stakes, self._cap).sum())

        def finite(mean: float) -> float:
            size = self._population or 0
            rest = np.clip((size * mean - seen) / (size - before), 0.0, 1.0)
            return float(log_factors(values, rest, stakes, self._cap).sum())

        return infinite if self._population is None else finite

    def _exhaust(self) -> None:
        mean = self._sum / self.n
        self.violated |= not self._below.at - 1e-9 <= mean <= 1.0 - self._above.at + 1e-9
        self._below.at, self._above.at = mean, 1.0 - mean


class _End:
    """A lower end and the log wealth of the bet against it."""

    __slots__ = ("at", "wealth")

    def __init__(self, at: float) -> None:
        self.at = at
        self.wealth = 0.0
