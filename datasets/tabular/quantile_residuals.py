"""Residuals that are standard normal under the truth whatever the type of a variable (Dunn and Smyth 1996)."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

Floats = npt.NDArray[np.float64]
_EDGE = 1e-12  # keeps residuals finite


def normal_cdf(values: Floats) -> Floats:
    """The standard normal distribution function."""
    return np.asarray(ndtr(values), dtype=np.float64)


def from_interval(below: Floats, upto: Floats, name: str) -> Floats:
    """Normal scores of a uniform draw between P(X < x) and P(X <= x); NaN where P(X = x) is 0.

    The draws depend on `name` and the row number only.
    """
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    level = below + rng.random(len(below)) * (upto - below)
    scores = np.asarray(ndtri(np.clip(level, _EDGE, 1 - _EDGE)), dtype=np.float64)
    return np.where(upto > below, scores, np.nan)


def discrete_residuals(codes: npt.NDArray[np.int32], probabilities: Floats, name: str) -> Floats:
    """Residuals of `codes` (n,) with P(code) in `probabilities` (n, K); NaN for codes below 0."""
    cumulative = np.hstack([np.zeros((len(codes), 1)), probabilities.cumsum(axis=1)])
    rows, known = np.arange(len(codes)), np.where(codes < 0, 0, codes)
    scores = from_interval(cumulative[rows, known], cumulative[rows, known + 1], name)
    return np.where(codes < 0, np.nan, scores)
