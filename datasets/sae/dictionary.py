"""Dictionaries of unit vectors that overlap little."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_RATE = 0.01


def spread_dictionary(n: int, dim: int, *, steps: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """`n` unit rows in `dim` dimensions, float32 (n, dim): Gaussian, then `steps` Adam steps (rate 0.01) on the sum of
    the fourth powers of their cosines, renormalised after each. Computed in float64, so that machines agree.
    """
    d = rng.standard_normal((n, dim))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    first, second = np.zeros_like(d), np.zeros_like(d)
    for step in range(1, steps + 1):
        gram = d @ d.T
        np.fill_diagonal(gram, 0.0)
        gradient = 8 * (gram**3) @ d
        gradient -= (gradient * d).sum(axis=1, keepdims=True) * d  # only turning changes a unit vector
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient**2 - second)
        update = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        d -= _RATE * update
        d /= np.linalg.norm(d, axis=1, keepdims=True)
    return d.astype(np.float32)
