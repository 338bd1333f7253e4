"""Float64 linear algebra of the Frechet distance: LAPACK's half-work routines on the CPU, torch elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy.linalg import blas, eigvalsh, lapack
from torch import Tensor

Array = npt.NDArray[np.float64]

_CHUNK_ROWS = 512
_MIRROR_BLOCK = 128


class Factor(NamedTuple):
    """matrix (d, r) with matrix matrix^T = covariance; lower triangular (r = d) or of full column rank r <= d."""

    matrix: Tensor
    triangular: bool


def mean(features: Tensor) -> Tensor:
    """Column means (d,) in float64 without a float64 copy of all features (n, d)."""
    total = features.new_zeros(features.shape[1], dtype=torch.float64)
    for start in range(0, len(features), _CHUNK_ROWS):
        total += features[start : start + _CHUNK_ROWS].double().sum(0)
    return total / len(features)


def covariance(features: Tensor, centre: Tensor) -> Tensor:
    """Unbiased covariance of the rows around their mean `centre`, float64 (d, d)."""
    if features.device.type == "cpu":
        return torch.from_numpy(_covariance_on_cpu(features.numpy(), centre.numpy()))
    result = centre.new_zeros((len(centre), len(centre)))
    for start in range(0, len(features), _CHUNK_ROWS):
        rows = features[start : start + _CHUNK_ROWS].double() - centre
        result.addmm_(rows.T, rows)
    return result / (len(features) - 1)


def _covariance_on_cpu(features: Array, centre: Array) -> Array:
    """A rank-k update computes one triangle only; numpy.cov does so too, but keeps a float64 copy of all rows."""
    upper = np.zeros((len(centre), len(centre)), order="F")
    buffer = np.empty((_CHUNK_ROWS, len(centre)))
    for start in range(0, len(features), _CHUNK_ROWS):
        rows = features[start : start + _CHUNK_ROWS]
        shifted = np.subtract(rows, centre, out=buffer[: len(rows)])
        upper = blas.dsyrk(1 / (len(features) - 1), shifted.T, beta=1.0, c=upper, overwrite_c=True)
    _mirror(upper)
    return upper.T


def _mirror(upper: Array) -> None:
    """Copy the upper triangle onto the lower one, in blocks that stay in the cache."""
    for start in range(0, len(upper), _MIRROR_BLOCK):
        stop = start + _MIRROR_BLOCK
        upper[stop:, start:stop] = upper[start:stop, stop:].T
        corner = upper[start:stop, start:stop]
        corner += np.triu(corner, 1).T


def factorise(covariance: Tensor) -> Factor:
    """Cholesky factor, or for a singular covariance the scaled eigenvectors of its positive eigenvalues."""
    if covariance.device.type == "cpu":
        # In column-major order, which LAPACK wants, the transposed view is the same symmetric matrix.
        upper, failed = lapack.dpotrf(covariance.numpy().T, lower=0)
        cholesky = torch.from_numpy(upper).T
    else:
        cholesky, failed = torch.linalg.cholesky_ex(covariance)
    if not int(failed):
        return Factor(cholesky, triangular=True)
    values, vectors = torch.linalg.eigh(covariance)
    positive = values > values[-1] * len(values) * torch.finfo(values.dtype).eps
    return Factor(vectors[:, positive] * values[positive].sqrt(), triangular=False)


def trace_of_root(factor: Factor, covariance: Tensor) -> float:
    """tr((L L^T S)^(1/2)): the sum of the roots of the eigenvalues of the symmetric L^T S L."""
    matrix = factor.matrix
    if factor.triangular and matrix.device.type == "cpu":
        product, _ = lapack.dsygst(covariance.numpy().T, matrix.numpy().T, itype=2, lower=0)
        values = eigvalsh(product, lower=False, driver="evd", overwrite_a=True, check_finite=False)
        return float(np.sqrt(values.clip(min=0)).sum())
    congruent = matrix.T @ covariance @ matrix
    return float(torch.linalg.eigvalsh((congruent + congruent.T) / 2).clamp(min=0).sqrt().sum())


def second_moment_spectrum(features: Tensor, *, centre: Tensor | None = None, unit: bool = False) -> Tensor:
    """Eigenvalues >= 0, ascending, of A^T A / n for the rows A of `features` (n, d), from the smaller of the two sides.

    `centre` is subtracted first; `unit` divides each row by its length, a row of zeros stays. Float64, without a
    float64 copy of all rows when n > d.
    """

    def rows(start: int, stop: int) -> Tensor:
        part = features[start:stop].double()
        part = part if centre is None else part - centre
        return torch.nn.functional.normalize(part, dim=1) if unit else part

    count, width = features.shape
    if count <= width:
        whole = rows(0, count)
        product = whole @ whole.T
    else:
        product = features.new_zeros((width, width), dtype=torch.float64)
        for start in range(0, count, _CHUNK_ROWS):
            part = rows(start, start + _CHUNK_ROWS)
            product.addmm_(part.T, part)
    values: Tensor = torch.linalg.eigvalsh(product / count)
    return values.clamp_(min=0)
