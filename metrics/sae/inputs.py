"""What the metrics of sparse coders accept, and the faults they name."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Float = npt.NDArray[np.float64]
Codes: TypeAlias = Any  # scipy.sparse.csr_matrix, float (n, m)


def codes_matrix(codes: Any) -> Codes:
    """`codes`, dense or sparse (n, m), as a float64 CSR matrix without stored zeros.

    Raises `ValueError` naming the first row that is not finite.
    """
    matrix = sparse.csr_matrix(codes, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise ValueError(f"codes have {len(bad)} values that are not finite, the first in row {row}")
    return matrix


def finite(name: str, array: Any, ndim: int = 2) -> Float:
    """`array` as float64 with `ndim` axes; `ValueError` naming tensor, count and first row of what is not finite."""
    values = np.asarray(array, dtype=np.float64)
    if values.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got shape {values.shape}")
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise ValueError(f"{name} has {int(bad.sum())} values that are not finite, the first in row {row}")
    return values


def unit_rows(rows: Float) -> Float:
    """Rows (m, d) scaled to norm 1; rows of norm 0 stay 0."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0))


def density(codes: Codes) -> Float:
    """Share of rows in which each latent is active, (m,)."""
    return np.asarray(np.diff(codes.tocsc().indptr) / max(1, codes.shape[0]))


def scaled_by_norm(codes: Codes, decoder: Float) -> Codes:
    """f_j ||w_j||: the activation that does not depend on how scale is split between code and atom."""
    return sparse.csr_matrix(codes @ sparse.diags(np.linalg.norm(decoder, axis=1)))
