"""Rank correlation: of two vectors, and of many maps at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import Float, Score, function_of_means, undefined


def average_ranks(values: npt.ArrayLike) -> Float:
    """Ranks from 1 along the last axis, the mean rank for ties; float64 of the same shape."""
    array = np.asarray(values, dtype=np.float64)
    flat = array.reshape(-1, array.shape[-1])
    return (
        np.stack([_ranks(row) for row in flat]).reshape(array.shape) if flat.size else np.zeros(array.shape)
    )


def _ranks(row: Float) -> Float:
    order = np.argsort(row, kind="stable")
    in_order = row[order]
    starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    ends = np.append(starts[1:], len(row))
    ranks = np.empty(len(row))
    ranks[order] = np.repeat((starts + ends + 1) / 2, ends - starts)
    return ranks


def correlation_columns(x: Float, y: Float) -> Float:
    """Columns (n, 5) whose means give the correlation of x and y by `correlation_of`."""
    a, b = x - x.mean(), y - y.mean()
    return np.stack([a, b, a * a, b * b, a * b], axis=-1)


def correlation_of(means: Float) -> Float:
    """Pearson correlation from means (..., 5) as made by `correlation_columns`; NaN where one side is constant."""
    a, b, aa, bb, ab = np.moveaxis(means, -1, 0)
    spread = np.sqrt(np.maximum(aa - a * a, 0) * np.maximum(bb - b * b, 0))
    return np.asarray(np.where(spread > 1e-12, (ab - a * b) / np.where(spread > 0, spread, 1), np.nan))


def spearman(*, x: npt.ArrayLike, y: npt.ArrayLike) -> Score:
    """Spearman correlation of `x` and `y`, each (n,), in [-1, 1]; undefined if one of them is constant.

    The interval resamples items and keeps their ranks. Raises `ValueError` naming the places of values that are not
    finite.
    """
    first, second = (np.asarray(v, dtype=np.float64) for v in (x, y))
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"expected two vectors of one length, got {first.shape} and {second.shape}")
    bad = np.flatnonzero(~(np.isfinite(first) & np.isfinite(second)))
    if len(bad):
        raise ValueError(f"values are not finite at positions {bad[:5].tolist()} ({len(bad)} in all)")
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return undefined("one side is constant: no ranks to compare")
    return function_of_means(correlation_columns(average_ranks(first), average_ranks(second)), correlation_of)


def rank_correlations(*, maps: npt.ArrayLike, ranked: Float) -> Float:
    """Spearman correlation of each of `maps` (n, d) with a row of `ranked` (n, d), which holds average ranks; (n,).

    NaN where either is constant. Ranking the reference once for all models halves the work.
    """
    ranks = average_ranks(maps)
    a = ranks - ranks.mean(axis=1, keepdims=True)
    b = ranked - ranked.mean(axis=1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > 0, (a * b).sum(axis=1) / spread, np.nan))
