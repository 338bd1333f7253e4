"""Reference drugs of the same size on the same receptors: what a score or a window is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
NEAREST = 16  # reference molecules matched to a molecule, of a library of 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLine:
    """score = intercept + slope * heavy atoms, and the spread about it, of the reference library on one target."""

    intercept: float  # kcal/mol
    slope: float  # kcal/mol a heavy atom
    sigma: float  # 1.4826 * median absolute residual


def size_line(*, scores: npt.ArrayLike, heavy_atoms: npt.ArrayLike) -> SizeLine:
    """Theil-Sen line through the finite scores of the reference library.

    Raises `ValueError` for fewer than three finite scores or molecules all of one size.
    """
    y, x = np.asarray(scores, dtype=np.float64), np.asarray(heavy_atoms, dtype=np.float64)
    good = np.isfinite(y)
    y, x = y[good], x[good]
    if len(y) < 3 or np.ptp(x) == 0:
        raise ValueError(f"a line needs three scores of molecules of different sizes, got {len(y)}")
    i, j = np.triu_indices(len(x), 1)
    apart = x[i] != x[j]
    slope = float(np.median((y[j] - y[i])[apart] / (x[j] - x[i])[apart]))
    intercept = float(np.median(y - slope * x))
    residual = y - intercept - slope * x
    sigma = 1.4826 * float(np.median(np.abs(residual - np.median(residual))))
    return SizeLine(intercept=intercept, slope=slope, sigma=sigma)


def z_scores(*, scores: npt.ArrayLike, heavy_atoms: npt.ArrayLike, line: SizeLine) -> Floats:
    """Scores with what size and receptor alone explain taken off, in units of the library's spread; low is good."""
    y, x = np.asarray(scores, dtype=np.float64), np.asarray(heavy_atoms, dtype=np.float64)
    if line.sigma <= 0:
        return np.full(y.shape, np.nan)
    z: Floats = (y - line.intercept - line.slope * x) / line.sigma
    return z


def nearest_in_size(
    *,
    heavy_atoms: npt.ArrayLike,
    reference_heavy_atoms: npt.ArrayLike,
    k: int = NEAREST,
    excluded: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.int64]:
    """Indices (n, k) of the k reference molecules nearest in heavy atoms; equal distances in library order.

    `excluded` (n, L) marks reference molecules that must not be matched, such as the molecule itself; where fewer
    than k remain, the last indices are -1.
    """
    x = np.asarray(heavy_atoms, dtype=np.float64)[:, None]
    r = np.asarray(reference_heavy_atoms, dtype=np.float64)[None, :]
    distance = np.abs(x - r)
    if excluded is not None:
        distance = np.where(excluded, np.inf, distance)
    k = min(k, r.shape[1])
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.where(np.take_along_axis(distance, order, 1) < np.inf, order, -1)


def hit_thresholds(
    *,
    heavy_atoms: npt.ArrayLike,
    reference_heavy_atoms: npt.ArrayLike,
    reference_scores: npt.ArrayLike,
    quantile: float = 0.2,
    reach: int = 3,
    at_least: int = 5,
) -> Floats:
    """The score that a molecule of each size must reach to count as a hit, float64 (n,).

    It is the quantile of the reference molecules within +-reach heavy atoms; where there are fewer than `at_least`
    of them, of the `at_least` nearest in size. Raises `ValueError` if no reference score is finite.
    """
    x = np.asarray(heavy_atoms, dtype=np.float64)
    r, s = np.asarray(reference_heavy_atoms, dtype=np.float64), np.asarray(reference_scores, dtype=np.float64)
    r, s = r[np.isfinite(s)], s[np.isfinite(s)]
    if len(s) == 0:
        raise ValueError("no reference molecule has a score on this target")
    found = np.empty(len(x))
    for i, size in enumerate(x):
        distance = np.abs(r - size)
        near = distance <= reach
        if near.sum() < at_least:
            near = np.zeros(len(r), dtype=bool)
            near[np.argsort(distance, kind="stable")[:at_least]] = True
        found[i] = np.quantile(s[near], quantile)
    return found
