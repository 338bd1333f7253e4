"""Tests of conditional independence: G^2 for categories, Fisher's z for linear-Gaussian numbers, residuals else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import chi2

from bench.metrics.tabular.states import States

Numbers = npt.NDArray[np.float64]
_DENSE_CELLS_PER_ROW = 8


@dataclass(frozen=True)
class Dependence:
    """p_value in [0, 1]; information: estimate of the conditional mutual information in nats, >= 0."""

    p_value: float
    information: float


def g_squared(
    first: States, second: States, given: Sequence[States], counts: tuple[int, int, Sequence[int]]
) -> Dependence:
    """Likelihood-ratio test of two discrete columns given others.

    counts: states of first, of second and of each given column. Degrees of freedom are summed over strata from the
    rows and columns that are not empty; without any, p is 1. information = G^2 / 2n - df / 2n, at least 0.
    """
    n, (rows, columns, strata) = len(first), counts
    stratum = _strata(given, strata, n)
    size = int(stratum.max(initial=0)) + 1
    cells = np.bincount((stratum * rows + first) * columns + second, minlength=size * rows * columns)
    table = cells.reshape(size, rows, columns).astype(np.float64)
    by_row, by_column = table.sum(2), table.sum(1)
    total = by_row.sum(1)
    statistic = 2 * (
        _entropy_sum(table) - _entropy_sum(by_row) - _entropy_sum(by_column) + _entropy_sum(total)
    )
    used_rows, used_columns = ((margin > 0).sum(1) for margin in (by_row, by_column))
    freedom = int(((used_rows - 1).clip(min=0) * (used_columns - 1).clip(min=0)).sum())
    p = 1.0 if freedom == 0 else float(chi2.sf(max(statistic, 0.0), freedom))
    return Dependence(p, max(0.0, (statistic - freedom) / (2 * n)))


def _entropy_sum(counts: Numbers) -> float:
    held = counts[counts > 0]
    return float((held * np.log(held)).sum())


def _strata(given: Sequence[States], counts: Sequence[int], rows: int) -> States:
    """One number for each row's combination of the given columns, from few numbers."""
    stratum = np.zeros(rows, dtype=np.int64)
    size = 1
    for column, count in zip(given, counts, strict=True):
        stratum, size = stratum * count + column, size * count
        if size > _DENSE_CELLS_PER_ROW * rows:
            _, stratum = np.unique(stratum, return_inverse=True)
            size = int(stratum.max(initial=0)) + 1
    return stratum


def fisher_z(first: Numbers, second: Numbers, given: Sequence[Numbers]) -> Dependence:
    """Fisher's z test of the partial correlation; information is that of a Gaussian, -log(1 - r^2) / 2 less 1 / 2n.

    Columns without variance are independent of everything (p = 1).
    """
    n = len(first)
    basis = np.column_stack([np.ones(n), *given])
    a, b = (_residual(column, basis) for column in (first, second))
    norm = float(np.sqrt((a @ a) * (b @ b)))
    freedom = n - len(given) - 3
    if norm == 0 or freedom <= 0:
        return Dependence(1.0, 0.0)
    r = float(np.clip(a @ b / norm, -1 + 1e-15, 1 - 1e-15))
    z = np.sqrt(freedom) * np.arctanh(r)
    return Dependence(float(2 * ndtr(-abs(z))), max(0.0, float(-np.log1p(-(r**2)) / 2 - 1 / (2 * n))))


def _residual(column: Numbers, basis: Numbers) -> Numbers:
    fitted = basis @ np.linalg.lstsq(basis, column, rcond=None)[0]
    residual: Numbers = column - fitted
    # What is left of a column that the basis explains is rounding, not variation.
    noise = 1e-12 * max(1.0, float(np.abs(column).max(initial=0.0)))
    return np.where(np.abs(residual).max(initial=0.0) > noise, residual, 0.0)


def residual_test(residual: Numbers, other: Numbers) -> Dependence:
    """Is the residual of a known mechanism uncorrelated with x, |x| and sin 2x of another variable?

    p = 3 min p_g over the three functions g (Bonferroni), each two-sided normal for the mean of e (g - mean g);
    information is the Gaussian one of the largest correlation.
    """
    n = len(residual)
    if n < 2:
        return Dependence(1.0, 0.0)
    smallest, strongest = 1.0, 0.0
    for function in (other, np.abs(other), np.sin(2 * other)):
        centred = function - function.mean()
        product = residual * centred
        error = float(product.std() / np.sqrt(n))
        scale = float(np.sqrt((residual**2).mean() * (centred**2).mean()))
        if error == 0 or scale == 0:
            continue
        smallest = min(smallest, float(2 * ndtr(-abs(product.mean()) / error)))
        strongest = max(strongest, min(abs(float(product.mean())) / scale, 1 - 1e-12))
    information = max(0.0, float(-np.log1p(-(strongest**2)) / 2 - 1 / (2 * n)))
    return Dependence(min(1.0, 3 * smallest), information)
