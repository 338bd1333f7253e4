"""What the metrics of this family return, and the intervals they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
RESAMPLES, SEED = 1_000, 0
METHOD = "percentile bootstrap over items, 1,000 resamples"
_CHUNK = 4_000_000  # numbers drawn at once


class HumanDataError(ValueError):
    """Human data are incomplete, doubled or impossible; the message names the first cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A value with its 95 % interval; `value` is None where it is not defined, and `reason` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n_used: int = 0
    n_dropped: int = 0
    reason: str = ""
    drawn: Float | None = field(default=None, repr=False, compare=False)  # the bootstrap replicates


def undefined(reason: str, *, n_dropped: int = 0) -> Score:
    """No value, for a reason."""
    return Score(value=None, n_dropped=n_dropped, reason=reason)


def resampled_means(columns: Float, *, count: int = RESAMPLES, seed: int = SEED) -> Float:
    """Means of `columns` (n, k) over `count` resamples of the rows, (count, k).

    Equal n and seed draw equal resamples, so that replicates of several models belong together.
    """
    n = len(columns)
    if n == 0:
        raise ValueError("nothing to resample: no items")
    parts = [weights @ columns for weights in _weights(n, count, seed)]
    return np.asarray(np.concatenate(parts) / n)


def _weights(n: int, count: int, seed: int) -> Iterator[Float]:
    """How often each item is drawn, in blocks of resamples; float64 (block, n)."""
    rng = np.random.default_rng(seed)
    block = max(1, _CHUNK // n)
    for start in range(0, count, block):
        size = min(block, count - start)
        rows = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(rows.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def mean_score(items: npt.ArrayLike, *, n_dropped: int = 0) -> Score:
    """The mean of `items` (n,), with its bootstrap interval."""
    return function_of_means(np.asarray(items, dtype=np.float64)[:, None], _first, n_dropped=n_dropped)


def function_of_means(
    columns: Float, function: Callable[[Float], Float], *, n_dropped: int = 0, seed: int = SEED
) -> Score:
    """`function` of the means of `columns` (n, k); it takes (..., k) and returns (...).

    Resamples on which the function is not finite are left out of the interval.
    """
    if len(columns) == 0:
        return undefined("no items", n_dropped=n_dropped)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(columns.mean(axis=0)))
        drawn = function(resampled_means(columns, seed=seed))
    if not np.isfinite(value):
        return undefined("not defined for these items", n_dropped=n_dropped)
    low, high = np.percentile(drawn[np.isfinite(drawn)], [2.5, 97.5])
    return Score(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        n_used=len(columns),
        n_dropped=n_dropped,
        drawn=drawn,
    )


def mean_of(scores: Sequence[Score]) -> Score:
    """The mean of scores of different items with equal weights; the interval is that of the mean replicates."""
    missing = next((score for score in scores if score.value is None or score.drawn is None), None)
    if missing is not None:
        return undefined(missing.reason or "no replicates")
    value = float(np.mean([score.value for score in scores if score.value is not None]))
    drawn = np.mean([score.drawn for score in scores if score.drawn is not None], axis=0)
    low, high = np.percentile(drawn[np.isfinite(drawn)], [2.5, 97.5])
    return Score(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        n_used=sum(score.n_used for score in scores),
        drawn=drawn,
    )


def _first(means: Float) -> Float:
    return means[..., 0]
