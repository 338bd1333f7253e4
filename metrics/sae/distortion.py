"""How far a reconstruction is from its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.metrics.sae.inputs import finite

_TINY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion:
    """Distortion over rows. `fvu` is None, with `reason`, where the input has no variance to explain."""

    fvu: float | None  # [0, inf), lower is better
    mse: float  # mean ||x - x_hat||^2
    cosine: float  # mean, higher is better
    shrinkage: float | None  # mean ||x_hat|| / ||x||, 1 is ideal; None if every row is 0
    reason: str = ""


def distortion(*, rows: Any, reconstruction: Any) -> Distortion:
    """Compare `reconstruction` with `rows`, both (n, d).

    fvu = sum ||x - x_hat||^2 / sum ||x - mean||^2 with the mean per dimension: a ratio of sums, not a mean of ratios.
    Raises `ValueError` for different shapes, no rows, and values that are not finite.

    >>> distortion(rows=[[2, 0], [0, 4]], reconstruction=[[2, 1], [0, 3]]).fvu
    0.2
    """
    x, y = finite("rows", rows), finite("reconstruction", reconstruction)
    if x.shape != y.shape or not len(x):
        raise ValueError(f"rows {x.shape} and reconstruction {y.shape} must have one shape with a row")
    residual = float(((x - y) ** 2).sum())
    total = float(((x - x.mean(axis=0)) ** 2).sum())
    degenerate = total <= 1e-12 * max(1e-300, float((x**2).sum()))
    norms, others = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    seen = norms > _TINY
    products = np.einsum("nd,nd->n", x, y)
    cosines = np.divide(products, norms * others, out=np.zeros_like(norms), where=norms * others > 0)
    fvu: float | None = residual / total if not degenerate else None
    if degenerate and residual == 0:
        fvu = 0.0
    return Distortion(
        fvu=fvu,
        mse=residual / len(x),
        cosine=float(cosines[seen].mean()) if seen.any() else 0.0,
        shrinkage=float((others[seen] / norms[seen]).mean()) if seen.any() else None,
        reason="" if fvu is not None else "the rows do not vary, so there is no variance to explain",
    )
