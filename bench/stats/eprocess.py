"""Paired comparison of two models that may be looked at after every item.

The e-process of "A is better than B" is the wealth of betting against mean(A - B) <= 0. It reaches 1/alpha
with probability at most alpha under that hypothesis, whenever and however often one looks; so reaching it
decides the comparison, and collecting can stop there.

Sources: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting; Vovk and
Wang (2021), E-values: calibration, combination and applications.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from bench.stats._check import FloatArray, as_floats, bounded_range, count, probability, same_length
from bench.stats.bets import RunningBets, bets, log_inverse, log_wealth
from bench.stats.confseq import HedgedSequence

Values = Sequence[float] | FloatArray
Winner = Literal["A", "B"]

CAP = 0.75
_MIXTURE = np.arange(1, 21) / 21 / 0.5  # stakes g/21 of the wealth, in units of 1/(W - 1/2)


@dataclass(frozen=True, slots=True)
class PairedDecision:
    """Evidence for each direction after every item, and what it has decided.

    `decided_at` counts items from 1. `log_e_a` is ln E for "A is better", `log_e_b` for "B is better"; each
    decides when it reaches `log_threshold` = ln(2/alpha).
    """

    winner: Winner | None
    decided_at: int | None
    log_e_a: FloatArray
    log_e_b: FloatArray
    log_threshold: float

    @property
    def p_value(self) -> float:
        """A two-sided p-value that is valid at any time: min(1, 2 / max E)."""
        best = max(float(self.log_e_a.max()), float(self.log_e_b.max()))
        return min(1.0, 2.0 * math.exp(-best))


def log_e_scores(
    a: Values, b: Values, *, alpha: float = 0.025, lo: float = 0.0, hi: float = 1.0
) -> FloatArray:
    """ln E_t for "A is better than B" from scores, for every t.

    Y_t = (1 + A_t - B_t) / 2 on scores mapped to [0, 1]; E_t = prod (1 + min(lambda_i, c/m)(Y_i - m)) with
    m = 1/2, c = 3/4 and stakes tuned to ln(1/alpha).

    Parameters
    ----------
    a, b : float[n] in [lo, hi], paired, higher is better
    alpha : float in (0, 1)
        Of this one direction: half of the level of a two-sided comparison.

    Examples
    --------
    >>> log_e_scores([.81, .77, .90], [.70, .79, .80]).round(6).tolist()
    [0.079273, 0.06416, 0.13648]
    """
    y = _mapped_difference(a, b, lo, hi)
    return log_wealth(y, 0.5, bets(y, log_inverse(alpha, 1)), cap=CAP)


def log_e_wins(a: Values, b: Values) -> FloatArray:
    """ln E_t for "A wins more often than B" from the order alone: W_t = 1, 1/2 or 0, scores of any range.

    E_t = (1/20) sum_{g=1..20} prod (1 + (g/21)/m (W_i - m)), m = 1/2: a mixture over fixed stakes.

    Examples
    --------
    >>> np.exp(log_e_wins([.81, .77, .90], [.70, .79, .80])).round(6).tolist()
    [1.5, 0.674603, 0.936508]
    """
    left, right = as_floats(a, "A"), as_floats(b, "B")
    same_length(left, right)
    return _log_mixture(0.5 + 0.5 * np.sign(left - right))


def decide(
    a: Values,
    b: Values,
    *,
    alpha: float = 0.05,
    lo: float = 0.0,
    hi: float = 1.0,
    by: Literal["scores", "wins"] = "scores",
) -> PairedDecision:
    """Two-sided anytime-valid comparison: each direction at alpha/2, decided by the first to reach 2/alpha.

    Parameters
    ----------
    a, b : float[n], paired, higher is better, in an order fixed before the values were seen
    by : "scores" compares means and needs [lo, hi]; "wins" compares who wins more often

    Examples
    --------
    >>> outcome = decide([1.0] * 20, [0.0] * 20)
    >>> outcome.winner, outcome.decided_at
    ('A', 7)
    """
    threshold = log_inverse(alpha, 2)
    if by == "scores":
        forth, back = (log_e_scores(x, y, alpha=alpha / 2, lo=lo, hi=hi) for x, y in ((a, b), (b, a)))
    elif by == "wins":
        forth, back = log_e_wins(a, b), log_e_wins(b, a)
    else:
        raise ValueError(f"by must be 'scores' or 'wins', got {by!r}")
    crossed = np.maximum(forth, back) >= threshold
    if not crossed.any():
        return PairedDecision(None, None, forth, back, threshold)
    first = int(np.argmax(crossed))
    winner: Winner = "A" if forth[first] >= back[first] else "B"
    return PairedDecision(winner, first + 1, forth, back, threshold)


class RunningComparison:
    """The decision of `decide(by="scores")` one pair at a time, with an interval for the difference.

    The interval (the hedged sequence of Y with the same stakes and cap) excludes zero exactly when the
    comparison is decided, up to rounding.

    Examples
    --------
    >>> running = RunningComparison()
    >>> for _ in range(7):
    ...     running.update(1.0, 0.0)
    >>> running.winner, running.decided_at, running.low > 0
    ('A', 7, True)
    """

    def __init__(self, *, alpha: float = 0.05, lo: float = 0.0, hi: float = 1.0) -> None:
        self._lo, self._hi = bounded_range(lo, hi)
        self._threshold = log_inverse(alpha, 2)
        self._bets = RunningBets(self._threshold)
        self._interval = HedgedSequence(alpha=alpha, lo=lo - hi, hi=hi - lo, cap=CAP)
        self.n = 0
        self.log_e_a = self.log_e_b = 0.0
        self.max_log_e_a = self.max_log_e_b = 0.0
        self.winner: Winner | None = None
        self.decided_at: int | None = None

    @property
    def low(self) -> float:
        """Lower end for the mean of A - B."""
        return self._interval.low

    @property
    def high(self) -> float:
        """Upper end for the mean of A - B."""
        return self._interval.high

    @property
    def violated(self) -> bool:
        """Whether the interval ran empty, which valid data do with probability at most alpha."""
        return self._interval.violated

    def update(self, a: float, b: float) -> None:
        """Take in the next pair of scores, higher is better."""
        for name, value in (("A", a), ("B", b)):
            if not self._lo <= value <= self._hi:
                raise ValueError(f"{name} = {value} lies outside [{self._lo}, {self._hi}]")
        self._interval.update(a - b)
        y = 0.5 + 0.5 * (a - b) / (self._hi - self._lo)
        stake = min(self._bets.next_stake(), CAP / 0.5)
        self._bets.observe(y)
        self.n += 1
        self.log_e_a += math.log1p(stake * (y - 0.5))
        self.log_e_b += math.log1p(stake * (0.5 - y))
        self.max_log_e_a = max(self.max_log_e_a, self.log_e_a)
        self.max_log_e_b = max(self.max_log_e_b, self.log_e_b)
        if self.winner is None and max(self.log_e_a, self.log_e_b) >= self._threshold:
            self.winner = "A" if self.log_e_a >= self.log_e_b else "B"
            self.decided_at = self.n


def expected_samples(
    delta: float,
    sd: float,
    *,
    alpha: float = 0.025,
    by: Literal["scores", "wins"] = "scores",
    simulations: int = 100,
    limit: int = 20_000,
    rng: np.random.Generator | None = None,
) -> int | None:
    """Median number of items until one direction is decided, by simulation.

    Differences are normal with mean `delta` and standard deviation `sd`, clipped to [-1, 1].

    Returns
    -------
    int, or None if half of the simulations need more than `limit` items

    Examples
    --------
    >>> 45 <= expected_samples(.1, .2) <= 70
    True
    """
    if not (math.isfinite(delta) and math.isfinite(sd) and sd >= 0):
        raise ValueError(f"delta must be finite and sd at least 0, got {delta} and {sd}")
    rng = np.random.default_rng(0) if rng is None else rng

    def draw(size: tuple[int, int]) -> FloatArray:
        return np.clip(rng.normal(delta, sd, size), -1.0, 1.0)

    return _median_passage(draw, alpha, by, simulations, limit)


def samples_needed(
    d: Values,
    *,
    alpha: float = 0.025,
    simulations: int = 100,
    limit: int = 20_000,
    rng: np.random.Generator | None = None,
) -> int | None:
    """Median number of items until "A is better" is decided if the future looks like the differences d so far.

    Resamples the observed differences with replacement; an extrapolation for planning, not a claim.

    Parameters
    ----------
    d : float[n] in [-1, 1]
        Differences A - B of scores mapped to [0, 1].

    Returns
    -------
    int, or None if half of the simulations need more than `limit` items

    Examples
    --------
    >>> samples_needed([1.0, 1.0])
    7
    """
    values = as_floats(d, "differences", lo=-1.0, hi=1.0)
    rng = np.random.default_rng(0) if rng is None else rng
    if values.mean() <= 0:
        return None
    return _median_passage(lambda size: rng.choice(values, size), alpha, "scores", simulations, limit)


def fixed_samples(delta: float, sd: float, *, alpha: float = 0.025, power: float = 0.9) -> int:
    """Items a one-sided z-test planned in advance needs: ((z_{1-alpha} + z_power) sd / delta)^2, rounded up.

    Examples
    --------
    >>> fixed_samples(.1, .1)
    11
    """
    if not (math.isfinite(delta) and delta > 0 and math.isfinite(sd) and sd >= 0):
        raise ValueError(f"delta must be positive and sd at least 0, got {delta} and {sd}")
    z = ndtri(1 - probability(alpha, "alpha")) + ndtri(probability(power, "power"))
    return max(1, math.ceil(float(z * sd / delta) ** 2))


def _mapped_difference(a: Values, b: Values, lo: float, hi: float) -> FloatArray:
    lo, hi = bounded_range(lo, hi)
    left, right = as_floats(a, "A", lo=lo, hi=hi), as_floats(b, "B", lo=lo, hi=hi)
    same_length(left, right)
    return 0.5 + 0.5 * (left - right) / (hi - lo)


def _log_mixture(w: FloatArray) -> FloatArray:
    """ln of the mean over the stakes of the wealth on w, float[..., n] of 0, 1/2 and 1."""
    paths = np.cumsum(np.log1p(_MIXTURE * (w[..., None] - 0.5)), axis=-2)
    top = paths.max(axis=-1)
    mixed: FloatArray = top + np.log(np.exp(paths - top[..., None]).mean(axis=-1))
    return mixed


def _median_passage(
    draw: Callable[[tuple[int, int]], FloatArray], alpha: float, by: str, simulations: int, limit: int
) -> int | None:
    """Median over simulated streams of the first t at which E_t reaches 1/alpha, extending them as needed."""
    if by not in ("scores", "wins"):
        raise ValueError(f"by must be 'scores' or 'wins', got {by!r}")
    runs, limit = count(simulations, "simulations"), count(limit, "limit")
    tuning = log_inverse(alpha, 1)
    d = np.empty((runs, 0))
    while True:
        d = np.concatenate([d, draw((runs, min(max(128, d.shape[1]), limit - d.shape[1])))], axis=1)
        y = 0.5 + 0.5 * (d if by == "scores" else np.sign(d))
        log_e = log_wealth(y, 0.5, bets(y, tuning), cap=CAP) if by == "scores" else _log_mixture(y)
        crossed = log_e >= tuning
        passed = crossed.any(axis=1)
        if 2 * passed.sum() > runs:
            times = np.where(passed, crossed.argmax(axis=1) + 1.0, np.inf)
            return math.ceil(float(np.quantile(times, 0.5, method="inverted_cdf")))
        if d.shape[1] >= limit:
            return None
