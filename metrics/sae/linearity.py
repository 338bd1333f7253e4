"""Target linearity: the share of a target's variation that a representation explains linearly.

From the 2026 abstract "The Weight Gram Matrix Captures Sequential Feature Linearization"; the held-out variant is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bench.metrics.sae.inputs import Float, finite

MOST_DIMENSIONS = 1_000
KEPT_COMPONENTS = 256
_SINGULAR = 1e-8  # singular values below this share of the largest count as 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLinearity:
    """`tl` and `tl_centred` in [0, 1], higher is more linear; `held_out` in (-inf, 1].

    `trivial`: there are no more rows than dimensions, so that `tl` is 1 whatever the representation holds.
    """

    tl: float
    tl_centred: float
    held_out: float
    rank: int
    trivial: bool


def target_linearity(*, targets: Any, representation: Any, seed: int = 0) -> TargetLinearity:
    """TL(Y, H) = 1 - ||Y - H (H'H)^-1 H'Y||^2 / ||Y||^2 for `targets` Y (n, c), centred, and H (n, d).

    Solved by a rank-revealing least squares. Above 1,000 dimensions H is replaced by its first 256 principal
    components. `held_out` fits on 2/3 of the rows (with an
    intercept, on one principal component for ten rows) and scores on the rest.
    Raises `ValueError` for fewer than 3 rows or targets that are constant.
    """
    y, h = finite("targets", targets), finite("representation", representation)
    if len(y) != len(h) or len(y) < 3:
        raise ValueError(f"targets {y.shape} and representation {h.shape} need equally many rows, at least 3")
    y = y - y.mean(axis=0)
    if not (y**2).sum() > 0:
        raise ValueError("the targets do not vary")
    if h.shape[1] > MOST_DIMENSIONS:
        h = _components(h)
    plain, rank = _explained(y, h)
    centred, _ = _explained(y, h - h.mean(axis=0))
    order = np.random.default_rng(seed).permutation(len(y))
    fit, rest = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
    return TargetLinearity(
        tl=plain, tl_centred=centred, held_out=_held_out(y, h, fit, rest), rank=rank, trivial=len(y) <= rank
    )


def _explained(y: Float, h: Float) -> tuple[float, int]:
    solution, _, rank, _ = linalg.lstsq(h, y, cond=_SINGULAR, lapack_driver="gelsd")
    return float(1 - ((y - h @ solution) ** 2).sum() / (y**2).sum()), int(rank)


def _held_out(y: Float, h: Float, fit: np.ndarray, rest: np.ndarray) -> float:
    """Regression on leading principal components of the fitted rows, one for ten rows: it does not overfit."""
    offset_y, offset_h = y[fit].mean(axis=0), h[fit].mean(axis=0)
    _, singular, directions = linalg.svd(h[fit] - offset_h, full_matrices=False)
    usable = singular > _SINGULAR * max(1e-300, float(singular[0]))
    kept = directions[usable][: max(1, len(fit) // 10)]
    solution = linalg.lstsq((h[fit] - offset_h) @ kept.T, y[fit] - offset_y)[0]
    predicted = offset_y + ((h[rest] - offset_h) @ kept.T) @ solution
    total = ((y[rest] - offset_y) ** 2).sum()
    return float(1 - ((y[rest] - predicted) ** 2).sum() / total) if total > 0 else 0.0


def _components(h: Float) -> Float:
    centred = h - h.mean(axis=0)
    _, _, directions = linalg.svd(centred, full_matrices=False)
    return np.asarray(h @ directions[:KEPT_COMPONENTS].T)
