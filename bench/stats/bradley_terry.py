"""Bradley-Terry ratings on the Elo scale, with what to do when some of them are infinite.

P(i beats j) = 1 / (1 + 10^((R_j - R_i) / 400)). The maximum-likelihood ratings are finite only among models
that are strongly connected by wins (Ford 1957). A model that never lost stands infinitely far above; an
optimiser stopped somewhere on the way there prints an arbitrary number and shifts everyone else. Here such
models are said to be above or below all, and the rest are rated.

Sources: Bradley and Terry (1952), Rank analysis of incomplete block designs; Hunter (2004), MM algorithms for
generalized Bradley-Terry models; Bach (2010), Self-concordant analysis for logistic regression (the step).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bench.stats._check import BoolArray, FloatArray, as_floats, count, probability
from bench.stats.ranking import reachable, task_wins
from bench.stats.scores import Scores

ELO = 400 / math.log(10)
MEAN = 1000.0
Standing = Literal["rated", "above all", "below all", "separated"]
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True)
class Rating:
    """One model's rating; None where it is infinite or not estimated.

    `standing` is "above all" or "below all" relative to the rated models ("separated" when no models are
    rated and this one is neither first nor last). `tier` orders them: every model of tier 0 is infinitely far
    above those of tier 1. `low` and `high` come from the bootstrap over tasks; None is unbounded on that
    side, and both are None without bootstrap.
    """

    model: str
    rating: float | None
    low: float | None
    high: float | None
    standing: Standing
    tier: int


def bradley_terry(
    scores: Scores,
    *,
    bootstraps: int = 0,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> tuple[Rating, ...]:
    """Ratings from the wins on each task (ties 1/2, weight 1 per task), with mean 1000 over the rated models.

    Parameters
    ----------
    bootstraps : int >= 0
        Number of resamples of the tasks for the percentile interval. A resample is placed by the mean of the
        models it can rate, so that a model falling out of it does not shift the others.

    Returns
    -------
    tuple of Rating, in the order of `scores.models`

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> found = bradley_terry(scores_from_table([[1, 1, 0], [0, 0, 1]], ["a", "b"]))
    >>> [round(r.rating, 3) for r in found]
    [1060.206, 939.794]
    """
    per_task = task_wins(scores)
    point = _Fit(per_task.sum(axis=-1)[None])
    low, high = point.theta, point.theta
    if count(bootstraps, "bootstraps", 0):
        rng = np.random.default_rng(0) if rng is None else rng
        low, high = _bootstrap(per_task, point, bootstraps, probability(confidence, "confidence"), rng)
    return _ratings(scores.models, point, low, high, bootstrapped=bootstraps > 0)


def bradley_terry_from_wins(won: FloatArray, models: Sequence[str]) -> tuple[Rating, ...]:
    """Ratings from a win matrix float[k, k] >= 0: row beats column so often; the diagonal is ignored.

    Examples
    --------
    >>> [r.standing for r in bradley_terry_from_wins(np.array([[0, 3], [0, 0]]), ["a", "b"])]
    ['above all', 'below all']
    """
    matrix = as_floats(won, "wins", ndim=2, lo=0.0).copy()
    if matrix.shape != (len(models), len(models)):
        raise ValueError(f"wins must be {len(models)} x {len(models)}, got {matrix.shape}")
    np.fill_diagonal(matrix, 0.0)
    point = _Fit(matrix[None])
    return _ratings(tuple(models), point, point.theta, point.theta, bootstrapped=False)


class _Fit:
    """Maximum likelihood for a batch of win matrices float[b, k, k].

    `theta` is float[b, k], natural-log strengths: mean 0 over the models rated in this fit, +-inf for those
    above and below them, NaN for the separated.
    """

    def __init__(self, won: FloatArray, start: FloatArray | None = None) -> None:
        paths = reachable(won > 0)
        mutual = paths & paths.transpose(0, 2, 1)
        # Models that can be reached from this one, but not the reverse, stand below it.
        self.below = (paths & ~mutual).sum(axis=2)
        self.above = (paths & ~mutual).sum(axis=1)
        self.rated = _largest_component(mutual, self.above)
        strength = _newton(won, self.rated, start)
        main = self.rated[:, :, None] & np.ones_like(paths)
        over = (paths.transpose(0, 2, 1) & main).any(axis=1) & ~self.rated
        under = (paths & main).any(axis=1) & ~self.rated
        none = ~self.rated.any(axis=1, keepdims=True)
        over = np.where(none, (self.above == 0) & (self.below > 0), over)
        under = np.where(none, (self.below == 0) & (self.above > 0), under)
        self.theta = np.where(self.rated, strength, np.where(over, np.inf, np.where(under, -np.inf, np.nan)))


def _largest_component(mutual: BoolArray, above: FloatArray) -> BoolArray:
    """Members of the largest strongly connected set, the upper one of equals; none if all are alone."""
    size = mutual.sum(axis=2)
    batch, k = size.shape
    chosen = np.argmax(size * (k + 1) - above, axis=1)
    members: BoolArray = mutual[np.arange(batch), chosen]
    if k > 1:
        members &= (size[np.arange(batch), chosen] > 1)[:, None]
    return members


def _newton(won: FloatArray, rated: BoolArray, start: FloatArray | None) -> FloatArray:
    """Strengths maximising sum_ij w_ij log sigma(theta_i - theta_j) over the rated models, mean 0.

    A Newton step of range r is shortened by log(1 + r) / r, which cannot overshoot since the logistic loss
    is generalised self-concordant; close to the solution the factor is 1.
    """
    pair = rated[:, :, None] & rated[:, None, :]
    won = np.where(pair, won, 0.0)
    played = won + won.transpose(0, 2, 1)
    theta = np.where(rated, 0.0 if start is None else start, 0.0)
    active = np.flatnonzero(rated.any(axis=1))
    ridge = pair / np.maximum(1, rated.sum(axis=1))[:, None, None] + np.eye(won.shape[1]) * ~rated[:, :, None]
    for _ in range(500):
        if active.size == 0:
            return theta
        step = _newton_step(theta[active], won[active], played[active], ridge[active])
        theta[active] = np.where(rated[active], theta[active] + step, 0.0)
        active = active[np.abs(step).max(axis=1) > _TOLERANCE]
    raise ArithmeticError("Bradley-Terry ratings did not converge; the win matrix is close to unconnected")


def _newton_step(theta: FloatArray, won: FloatArray, played: FloatArray, ridge: FloatArray) -> FloatArray:
    expected = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
    gradient = (won - played * expected).sum(axis=2)
    weight = played * expected * (1.0 - expected)
    diagonal = np.arange(weight.shape[1])
    laplacian = -weight
    laplacian[:, diagonal, diagonal] += weight.sum(axis=2)
    # The ones of `ridge` fix the mean, along which the likelihood is flat.
    step = np.linalg.solve(laplacian + ridge, gradient[..., None])[..., 0]
    extent = np.maximum(np.ptp(step, axis=1, keepdims=True), 1e-300)
    shortened: FloatArray = step * np.log1p(extent) / extent
    return shortened


def _bootstrap(
    per_task: FloatArray, point: _Fit, bootstraps: int, confidence: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Percentiles of the strengths over resampled tasks, drawn as multiplicities of the win tables."""
    k, _, n = per_task.shape
    times = rng.multinomial(n, np.full(n, 1 / n), size=bootstraps).astype(np.float64)
    won = (times @ per_task.reshape(k * k, n).T).reshape(bootstraps, k, k)
    anchor = np.where(point.rated, point.theta, 0.0)
    fit = _Fit(won, anchor)
    both = fit.rated & point.rated
    shift = np.where(both, anchor - np.where(fit.rated, fit.theta, 0.0), 0.0).sum(axis=1)
    theta = fit.theta + (shift / np.maximum(1, both.sum(axis=1)))[:, None]
    # Infinite values sort to their side; a quantile that lands on them is unbounded, not an average.
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    lower = np.quantile(np.where(np.isnan(theta), -np.inf, theta), tails[0], axis=0, method="inverted_cdf")
    upper = np.quantile(np.where(np.isnan(theta), np.inf, theta), tails[1], axis=0, method="inverted_cdf")
    return lower[None], upper[None]


def _ratings(
    models: Sequence[str], point: _Fit, low: FloatArray, high: FloatArray, *, bootstrapped: bool
) -> tuple[Rating, ...]:
    tiers = {n: tier for tier, n in enumerate(sorted(set(point.above[0].tolist())))}
    found = []
    for i, model in enumerate(models):
        theta = float(point.theta[0, i])
        interval = (_elo(float(low[0, i])), _elo(float(high[0, i]))) if bootstrapped else (None, None)
        tier = tiers[int(point.above[0, i])]
        found.append(Rating(model, _elo(theta), *interval, _standing(theta), tier))
    return tuple(found)


def _elo(theta: float) -> float | None:
    return MEAN + ELO * theta if math.isfinite(theta) else None


def _standing(theta: float) -> Standing:
    if math.isfinite(theta):
        return "rated"
    if math.isnan(theta):
        return "separated"
    return "above all" if theta > 0 else "below all"
