"""Principal components of images in float64: the basis in which the small models work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.models.images._arrays import Matrix

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Components:
    """Mean (d,), orthonormal directions (d, d) in columns and their variances (d,), largest first.

    Variances are those of maximum likelihood (divided by N) and never negative.
    """

    mean: Float64
    directions: Float64
    variances: Float64

    def project(self, values: Matrix, q: int) -> Float64:
        """Coordinates (N, q) of `values` (N, d) along the `q` leading directions."""
        return (values - self.mean) @ self.directions[:, :q]

    def restore(self, coordinates: Float64) -> Float64:
        """The points (N, d) with the given leading coordinates (N, q), all others zero."""
        return self.mean + coordinates @ self.directions[:, : coordinates.shape[1]].T


def principal_components(values: Matrix) -> Components:
    """All principal components of `values` (N, d).

    The sign of each direction is fixed by its largest entry, so that the result does not depend on the
    library that found it.
    """
    wide = values.astype(np.float64)
    mean = wide.mean(axis=0)
    wide -= mean
    variances, directions = np.linalg.eigh(wide.T @ wide / len(wide))
    directions = directions[:, ::-1]
    largest = np.abs(directions).argmax(axis=0)
    signs = np.where(directions[largest, np.arange(len(mean))] < 0, -1.0, 1.0)
    return Components(mean=mean, directions=directions * signs, variances=np.clip(variances[::-1], 0.0, None))
