"""Intervals for one number: repeats, proportions, samples, clustered samples, group means.

Which one applies follows from the kind of the metric. A mean over samples has `sample_mean_interval`; a
number computed from the whole set at once (a Frechet distance, a coverage) has none per sample, and its
interval comes from the repeats alone, through `mean_t`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from bench.stats._check import FloatArray, as_floats, count, probability

CONFIDENCE = 0.95
RESAMPLES = 9_999
_CHUNK_BYTES = 64 * 2**20

Method = Literal["none", "t", "wilson", "bca", "percentile", "constant", "normal"]
Statistic = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its interval, unpackable as `value, low, high = ...`.

    `low` and `high` are None when the data hold no information on the spread; a zero width is never used
    to say so.
    """

    value: float
    low: float | None
    high: float | None
    method: Method

    def __iter__(self) -> Iterator[float | None]:
        return iter((self.value, self.low, self.high))


@dataclass(frozen=True, slots=True)
class GroupMean:
    """An unweighted mean of means, its standard error and its normal interval."""

    value: float
    se: float
    low: float
    high: float


def mean_t(x: Sequence[float] | FloatArray, *, confidence: float = CONFIDENCE) -> Interval:
    """Mean over repeats with its Student t interval, mean +- t_{n-1} s / sqrt(n).

    Parameters
    ----------
    x : float[n], n >= 1
        One value per repeat, any finite range.
    confidence : float in (0, 1)

    Returns
    -------
    Interval
        One value has no interval: both ends are None. Equal values have zero width.

    Raises
    ------
    ValueError
        For an empty sequence, NaN or infinity.

    Examples
    --------
    >>> [round(v, 6) for v in mean_t([0.71, 0.74, 0.70, 0.78, 0.73])]
    [0.732, 0.693329, 0.770671]
    """
    values = as_floats(x, "mean_t")
    probability(confidence, "confidence")
    n = values.size
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, None, None, "none")
    variance = math.fsum((values - mean) ** 2) / (n - 1)
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half, "t")


def proportion(k: int, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Share k/n with the score interval of Wilson (1927); never of zero width.

    With z the normal quantile and p = k/n, the ends are
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    Parameters
    ----------
    k, n : int, 0 <= k <= n, n >= 1
    confidence : float in (0, 1)

    Examples
    --------
    >>> [round(v, 6) for v in proportion(0, 20)]
    [0.0, 0.0, 0.161125]
    """
    n = count(n, "n")
    k = count(k, "k", 0)
    if k > n:
        raise ValueError(f"k must be at most n, got {k} of {n}")
    return _wilson(k / n, n, confidence)


def bca(
    x: Sequence[float] | FloatArray,
    stat: Statistic = np.mean,
    *,
    rng: np.random.Generator | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval:
    """Bias-corrected accelerated bootstrap interval of `stat` over independent samples (Efron 1987).

    Parameters
    ----------
    x : float[n], n >= 1
    stat : callable
        Takes an array and `axis=`, like `numpy.mean` and `numpy.median`.
    rng : Generator, default seed 0

    Returns
    -------
    Interval
        Equal values give [x, x]; a single value has no interval. Where the correction is undefined (a
        median whose jackknife does not vary) the plain percentile interval is returned, and named so.

    Examples
    --------
    >>> interval = bca([.2, .5, .1, .9, .4, .7, .3, .8, .6, .35, .15, .95])
    >>> interval.method, round(interval.value, 4), round(interval.low, 1), round(interval.high, 1)
    ('bca', 0.4958, 0.3, 0.7)
    """
    values = as_floats(x, "bca")
    probability(confidence, "confidence")
    point = float(stat(values, axis=-1))
    if values.size == 1:
        return Interval(point, None, None, "none")
    if (values == values[0]).all():
        return Interval(point, point, point, "constant")
    return _bootstrap((values,), stat, point, rng, confidence, resamples)


def clustered(
    x: Sequence[float] | FloatArray,
    clusters: Sequence[object] | npt.NDArray[Any],
    *,
    rng: np.random.Generator | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval:
    """Mean over samples when several samples share a target, image or subject: whole clusters are resampled.

    The value is the plain mean of all samples, sum of cluster sums / sum of cluster sizes; the interval is
    the BCa bootstrap of that ratio over clusters (Field and Welsh 2007). One cluster has no interval.

    Examples
    --------
    >>> one = clustered([.1, .1, .9, .9], ["a", "a", "b", "b"])
    >>> one.value, one.method
    (0.5, 'bca')
    """
    values = as_floats(x, "clustered")
    names = np.asarray(clusters)
    if names.shape != values.shape:
        raise ValueError(f"one cluster id per sample: got {names.shape} for {values.shape}")
    probability(confidence, "confidence")
    member = np.unique(names, return_inverse=True)[1].ravel()
    sums, sizes = (np.bincount(member, weights=w).astype(np.float64) for w in (values, None))
    point = math.fsum(values) / values.size
    if sums.size == 1:
        return Interval(point, None, None, "none")
    if np.ptp(sums / sizes) == 0.0:
        return Interval(point, point, point, "constant")
    return _bootstrap((sums, sizes), _ratio, point, rng, confidence, resamples)


def sample_mean_interval(
    x: Sequence[float] | FloatArray,
    *,
    clusters: Sequence[object] | npt.NDArray[Any] | None = None,
    rng: np.random.Generator | None = None,
    confidence: float = CONFIDENCE,
) -> Interval:
    """The right interval for a mean over samples: Wilson for 0/1 values, else clustered or BCa bootstrap.

    Examples
    --------
    >>> sample_mean_interval([1, 1, 1, 1]).method
    'wilson'
    """
    values = as_floats(x, "samples")
    binary = bool(((values == 0.0) | (values == 1.0)).all())
    if clusters is not None:
        interval = clustered(values, clusters, rng=rng, confidence=confidence)
        if not (binary and interval.method == "constant"):
            return interval
        # Clusters that all agree say as much as one 0/1 answer each.
        return _wilson(interval.value, len(np.unique(np.asarray(clusters))), confidence)
    if binary:
        return proportion(int(values.sum()), values.size, confidence=confidence)
    return bca(values, rng=rng, confidence=confidence)


def group_mean(
    means: Sequence[float] | FloatArray,
    ses: Sequence[float] | FloatArray,
    *,
    confidence: float = CONFIDENCE,
) -> GroupMean:
    """Unweighted mean over k tasks and its equally unweighted standard error, sqrt(sum se_i^2) / k.

    Weighting the error by task sizes would describe another estimator, not this mean.

    Examples
    --------
    >>> group = group_mean([.8, .4], [.01, .05])
    >>> round(group.value, 6), round(group.se, 6)
    (0.6, 0.025495)
    """
    values = as_floats(means, "means")
    errors = as_floats(ses, "ses", lo=0.0)
    if values.shape != errors.shape:
        raise ValueError(f"one standard error per mean: got {errors.size} for {values.size}")
    z = float(ndtri(0.5 + probability(confidence, "confidence") / 2))
    value, se = math.fsum(values) / values.size, math.sqrt(math.fsum(errors**2)) / values.size
    return GroupMean(value, se, value - z * se, value + z * se)


def _wilson(p: float, n: int, confidence: float) -> Interval:
    z = float(ndtri(0.5 + probability(confidence, "confidence") / 2))
    z2n = z * z / n
    centre = (p + z2n / 2) / (1 + z2n)
    half = z * math.sqrt(p * (1 - p) / n + z2n / (4 * n)) / (1 + z2n)
    low = 0.0 if p == 0 else max(0.0, centre - half)  # exactly, where rounding would leave 1e-17
    high = 1.0 if p == 1 else min(1.0, centre + half)
    return Interval(p, low, high, "wilson")


def _ratio(sums: FloatArray, sizes: FloatArray, axis: int = -1) -> FloatArray:
    result: FloatArray = np.sum(sums, axis=axis) / np.sum(sizes, axis=axis)
    return result


def _bootstrap(
    data: tuple[FloatArray, ...],
    stat: Statistic,
    point: float,
    rng: np.random.Generator | None,
    confidence: float,
    resamples: int,
) -> Interval:
    from scipy.stats import bootstrap  # half a second to import: only those who bootstrap pay

    rng = np.random.default_rng(0) if rng is None else rng
    options: dict[str, Any] = {
        "n_resamples": count(resamples, "resamples"),
        "batch": max(1, _CHUNK_BYTES // (8 * data[0].size * len(data))),
        "vectorized": True,
        "paired": len(data) > 1,
        "axis": -1,
        "confidence_level": confidence,
        "rng": rng,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of the undefined correction handled below
        found = bootstrap(data, stat, method="BCa", **options)
    low, high = (float(end) for end in found.confidence_interval)
    if math.isfinite(low) and math.isfinite(high):
        return Interval(point, low, high, "bca")
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = (float(end) for end in np.quantile(found.bootstrap_distribution, tails))
    return Interval(point, low, high, "percentile")
