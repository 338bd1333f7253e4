"""Joint regions for the means of several bounded metrics, valid at any time and under any dependence.

Coordinate j with weight w_j (sum 1) has the averaged wealth
W_j(m) = (1/2) prod (1 + lambda_i (X_ij - m)) + (1/2) prod (1 - lambda_i (X_ij - m)), lambda_i at most 1/2
and tuned to alpha w_j. Each factor is affine and non-negative on [0, 1], so W_j is convex in m, and W_j(mu_j)
is a non-negative martingale starting at 1. So is the weighted sum over j: it reaches 1/alpha with probability
at most alpha (Ville 1939). From this follow, each inside the next:

* portfolio region   {m : sum_j w_j W_j(m_j) < 1/alpha}, convex;
* its bounding box, exact because the sum is separable;
* Bonferroni region  {m : max_j w_j W_j(m_j) < 1/alpha}, a box as well;

and an l_p ellipsoid that contains the portfolio, for those who need a formula.

Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from bench.stats._check import BoolArray, FloatArray, as_floats, count, probability
from bench.stats.bets import bets, log_inverse

CAP = 0.5
EXPONENTS = (2, 3, 4, 6, 8)
_CELLS = 500  # per side of a coordinate, for the ellipsoid
_NEAR = 0.01  # cells closer to the centre than this share of the box are left out
_CHUNK_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """{m : sum_j stiffness_j |m_j - centre_j|^exponent <= radius}, in the units of the data."""

    centre: FloatArray
    stiffness: FloatArray
    exponent: int
    radius: float
    log_volume: float

    def contains(self, m: FloatArray) -> BoolArray:
        """Which of the points float[k, d] lie inside."""
        terms = self.stiffness * np.abs(np.atleast_2d(m) - self.centre) ** self.exponent
        inside: BoolArray = terms.sum(axis=1) <= self.radius
        return inside


@dataclass(frozen=True, slots=True)
class MeanRegion:
    """The joint regions after n observations of d metrics, in the units of the data.

    `bonferroni` and `box` are float[d, 2]; `box` bounds the portfolio region. Report the ellipsoid
    intersected with the box: each says something the other does not. No region is ever empty, because the two
    products in W_j multiply to at most 1, so that W_j is at most 1 where they are equal.
    """

    alpha: float
    centre: FloatArray
    bonferroni: FloatArray
    box: FloatArray
    ellipsoid: Ellipsoid
    _portfolio: _Portfolio

    def wealth(self, m: Sequence[float] | FloatArray) -> FloatArray:
        """Portfolio wealth sum_j w_j W_j(m_j) at the points float[k, d] (or one point float[d])."""
        with np.errstate(over="ignore"):
            values: FloatArray = np.exp(self._portfolio.log_wealth(m))
        return values

    def contains(self, m: Sequence[float] | FloatArray) -> BoolArray:
        """Which of the points float[k, d] lie in the portfolio region."""
        inside: BoolArray = self._portfolio.log_wealth(m) < -math.log(self.alpha)
        return inside

    def volume_shares(
        self, *, points: int = 20_000, rng: np.random.Generator | None = None
    ) -> tuple[float, float]:
        """Share of the box's volume inside the portfolio and inside box and ellipsoid, by random points."""
        rng = np.random.default_rng(0) if rng is None else rng
        low, high = self.box.T
        m = low + (high - low) * rng.random((count(points, "points"), low.size))
        return float(self.contains(m).mean()), float(self.ellipsoid.contains(m).mean())


def mean_region(
    x: Sequence[Sequence[float]] | FloatArray,
    *,
    alpha: float = 0.05,
    weights: Sequence[float] | FloatArray | None = None,
    lo: float | Sequence[float] | FloatArray = 0.0,
    hi: float | Sequence[float] | FloatArray = 1.0,
) -> MeanRegion:
    """Portfolio, box, Bonferroni and ellipsoid regions for the mean vector of bounded data.

    Parameters
    ----------
    x : float[n, d] in [lo, hi]
        Rows in an order fixed before the values were seen.
    weights : float[d] > 0, sum 1; equal if not given
        Larger weights buy narrower sides.
    lo, hi : float or float[d]
        Range of each coordinate.

    Examples
    --------
    >>> i = np.arange(1, 61)
    >>> x = np.stack([7919 * i % 101 / 100, 104729 * i % 97 / 96 * .5 + .25], axis=1)
    >>> region = mean_region(x)
    >>> region.box.round(6).tolist()
    [[0.3327, 0.673024], [0.339539, 0.651427]]
    """
    values = as_floats(x, "x", ndim=2)
    probability(alpha, "alpha")
    d = values.shape[1]
    shares = as_floats(np.full(d, 1 / d) if weights is None else weights, "weights", lo=0.0, hi=1.0)
    if shares.shape != (d,) or (shares == 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"weights must be {d} positive numbers with sum 1, got {shares.tolist()}")
    low = np.broadcast_to(as_floats(lo, "lo", ndim=None), (d,))
    scale = np.broadcast_to(as_floats(hi, "hi", ndim=None), (d,)) - low
    if (scale <= 0).any():
        raise ValueError("hi must be larger than lo in every coordinate")
    unit = as_floats((values - low) / scale, "x mapped to [0, 1]", ndim=2, lo=0.0, hi=1.0)
    coordinates = tuple(_Coordinate(unit[:, j], alpha, float(shares[j])) for j in range(d))
    return _region(_Portfolio(alpha, coordinates, low, scale))


def portfolio_path(
    x: FloatArray,
    mean: Sequence[float] | FloatArray,
    *,
    alpha: float = 0.05,
    weights: FloatArray | None = None,
) -> FloatArray:
    """ln of the portfolio wealth at one point `mean` after every observation.

    Parameters
    ----------
    x : float[..., n, d] in [0, 1]
    mean : float[d] in [0, 1]

    Returns
    -------
    float[..., n]

    Examples
    --------
    >>> bool(portfolio_path(np.full((50, 2), .5), [.9, .5])[-1] > np.log(20))
    True
    """
    values = as_floats(x, "x", lo=0.0, hi=1.0, ndim=None)
    m = as_floats(mean, "mean", lo=0.0, hi=1.0)
    w = np.full(m.size, 1 / m.size) if weights is None else as_floats(weights, "weights")
    parts = [
        math.log(w[j]) + np.logaddexp(*_paths(values[..., j], m[j], alpha * w[j])) - math.log(2)
        for j in range(m.size)
    ]
    total: FloatArray = np.logaddexp.reduce(parts, axis=0)
    return total


def _paths(x: FloatArray, m: float, level: float) -> tuple[FloatArray, FloatArray]:
    gain = np.minimum(bets(x, log_inverse(level, 2)), CAP) * (x - m)
    return np.cumsum(np.log1p(gain), axis=-1), np.cumsum(np.log1p(-gain), axis=-1)


class _Coordinate:
    """ln of u(m) = alpha w_j W_j(m) as a convex function on [0, 1]; the region needs sum_j u_j < 1."""

    def __init__(self, x: FloatArray, alpha: float, weight: float) -> None:
        self._x = x
        self._stakes = np.minimum(bets(x, log_inverse(alpha * weight, 2)), CAP)
        self._log_share = math.log(alpha * weight)
        self.centre = self._minimiser()
        self.log_min = float(self.log_u(np.array([self.centre]))[0])

    def log_u(self, m: FloatArray) -> FloatArray:
        step = max(1, _CHUNK_BYTES // (24 * self._x.size))
        parts = [self._log_u(m[i : i + step]) for i in range(0, m.size, step)]
        return np.concatenate(parts)

    def _log_u(self, m: FloatArray) -> FloatArray:
        gain = self._stakes * (self._x - m[:, None])
        both = np.logaddexp(np.log1p(gain).sum(axis=1), np.log1p(-gain).sum(axis=1))
        result: FloatArray = both - math.log(2) + self._log_share
        return result

    def _slope(self, m: float) -> float:
        """A number with the sign of W'(m), compared in logs so that nothing overflows."""
        gain = self._stakes * (self._x - m)
        rising = np.log1p(-gain).sum() + math.log((self._stakes / (1 - gain)).sum())
        falling = np.log1p(gain).sum() + math.log((self._stakes / (1 + gain)).sum())
        return float(rising - falling)

    def _minimiser(self) -> float:
        if self._slope(0.0) >= 0:
            return 0.0
        if self._slope(1.0) <= 0:
            return 1.0
        return float(brentq(self._slope, 0.0, 1.0, xtol=1e-13))

    def level_set(self, log_level: float) -> tuple[float, float]:
        """Ends of {m : u(m) < level}, which is never empty for the levels of a region."""

        def excess(m: float) -> float:
            return float(self.log_u(np.array([m]))[0]) - log_level

        ends = (
            end if excess(end) < 0 else float(brentq(excess, self.centre, end, xtol=1e-12))
            for end in (0.0, 1.0)
        )
        low, high = ends
        return low, high


@dataclass(frozen=True, slots=True)
class _Portfolio:
    alpha: float
    coordinates: tuple[_Coordinate, ...]
    low: FloatArray
    scale: FloatArray

    def log_wealth(self, m: Sequence[float] | FloatArray) -> FloatArray:
        """ln sum_j w_j W_j(m_j); outside the range of the data it is infinite."""
        points = np.atleast_2d(as_floats(m, "m", ndim=None))
        if points.ndim != 2 or points.shape[1] != len(self.coordinates):
            raise ValueError(f"points must be float[k, {len(self.coordinates)}], got shape {points.shape}")
        unit = (points - self.low) / self.scale
        possible = ((unit >= 0) & (unit <= 1)).all(axis=1)
        parts = [c.log_u(np.clip(unit[:, j], 0, 1)) for j, c in enumerate(self.coordinates)]
        total = np.logaddexp.reduce(parts, axis=0) - math.log(self.alpha)
        wealth: FloatArray = np.where(possible, total, np.inf)
        return wealth


def _region(portfolio: _Portfolio) -> MeanRegion:
    coordinates, low, scale = portfolio.coordinates, portfolio.low, portfolio.scale
    lowest = np.exp([c.log_min for c in coordinates])
    slack = 1.0 - (lowest.sum() - lowest)  # what the others leave to each coordinate
    bonferroni = np.array([c.level_set(0.0) for c in coordinates])
    box = np.array([c.level_set(math.log(s)) for c, s in zip(coordinates, slack, strict=True)])
    centre = np.array([c.centre for c in coordinates])
    stretch, shift = scale[:, None], low[:, None]
    return MeanRegion(
        alpha=portfolio.alpha,
        centre=low + scale * centre,
        bonferroni=shift + stretch * bonferroni,
        box=shift + stretch * box,
        ellipsoid=_smallest_ellipsoid(coordinates, box, scale, low),
        _portfolio=portfolio,
    )


def _smallest_ellipsoid(
    coordinates: tuple[_Coordinate, ...], box: FloatArray, scale: FloatArray, low: FloatArray
) -> Ellipsoid:
    """Over the exponents p, the ellipsoid of smallest volume that contains the portfolio.

    b_j bounds (u_j(m) - min u_j) / |m - c_j|^p from below over the box, outside delta_j of c_j. Within
    delta_j the bound may fail, by at most b_j delta_j^p; that much is added to the radius.
    """
    centre = np.array([c.centre for c in coordinates])
    delta = _NEAR * np.abs(box - centre[:, None]).max(axis=1)
    cells = [_cells(c, sides, near) for c, sides, near in zip(coordinates, box, delta, strict=True)]
    room = 1.0 - sum(math.exp(c.log_min) for c in coordinates)
    found = []
    for p in EXPONENTS:
        bounds = np.array([(rise / far**p).min() for rise, far in cells])
        radius = room + float((bounds * delta**p).sum())
        with np.errstate(divide="ignore"):  # one observation says nothing: W is flat, the axis endless
            volume = _log_volume(scale * (radius / bounds) ** (1 / p), p)
        found.append(Ellipsoid(low + scale * centre, bounds / scale**p, p, radius, volume))
    return min(found, key=lambda ellipsoid: ellipsoid.log_volume)


def _cells(c: _Coordinate, sides: FloatArray, delta: float) -> tuple[FloatArray, FloatArray]:
    """u at the near end of each cell less its minimum, and the distance of the far end; u is convex."""
    rises, fars = [], []
    for side in sides:
        reach = abs(side - c.centre)
        if reach > delta:
            distance = np.linspace(delta, reach, _CELLS + 1)
            near = c.centre + math.copysign(1.0, side - c.centre) * distance[:-1]
            rise = np.exp(c.log_u(np.clip(near, 0, 1))) - math.exp(c.log_min)
            rises.append(np.maximum(rise, 0.0))
            fars.append(distance[1:])
    return np.concatenate(rises), np.concatenate(fars)


def _log_volume(half_axes: FloatArray, p: int) -> float:
    d = half_axes.size
    unit_ball = d * (math.log(2) + gammaln(1 + 1 / p)) - gammaln(1 + d / p)
    return float(unit_ball + np.log(half_axes).sum())
