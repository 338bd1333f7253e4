"""Validation shared by the statistics: every public function refuses what it cannot answer for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def as_floats(
    x: Any,
    name: str,
    *,
    lo: float = -np.inf,
    hi: float = np.inf,
    ndim: int | None = 1,
    min_size: int = 1,
) -> FloatArray:
    """`x` as a float64 array, or `ValueError` naming what is wrong with it.

    The range [lo, hi] is closed. `ndim=None` accepts any number of dimensions.
    """
    try:
        values = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if ndim is not None and values.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {values.shape}")
    if values.size < min_size:
        raise ValueError(f"{name} needs at least {min_size} value(s), got {values.size}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinite values")
    if lo > -np.inf or hi < np.inf:
        outside = (values < lo) | (values > hi)
        if outside.any():
            raise ValueError(f"{name} holds {values[outside].flat[0]}, outside [{lo}, {hi}]")
    return values


def same_length(a: FloatArray, b: FloatArray) -> None:
    """`ValueError` unless `a` and `b` have the same shape."""
    if a.shape != b.shape:
        raise ValueError(f"paired values must have equal shapes, got {a.shape} and {b.shape}")


def probability(value: float, name: str) -> float:
    """`value` if it lies strictly between 0 and 1, else `ValueError`."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")
    return float(value)


def bounded_range(lo: float, hi: float) -> tuple[float, float]:
    """(lo, hi) if both are finite and lo < hi, else `ValueError`."""
    if not (-np.inf < lo < hi < np.inf):
        raise ValueError(f"lo and hi must be finite and lo < hi, got [{lo}, {hi}]")
    return float(lo), float(hi)


def count(value: int, name: str, minimum: int = 1) -> int:
    """`value` as an integer of at least `minimum`, else `ValueError`."""
    if int(value) != value or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value}")
    return int(value)
