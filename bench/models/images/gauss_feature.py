"""The control that Frechet distances cannot tell from real data: a Gaussian with its exact moments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bench.adapters.images import FeatureSource
from bench.models.images._arrays import Features

Float64 = npt.NDArray[np.float64]


class GaussFeature(FeatureSource):
    """Features whose sample mean and sample covariance EQUAL those of the reference, otherwise Gaussian.

    A standard normal draw is centred and whitened, so that its sample covariance is the identity, then
    coloured with a square root of the reference covariance (unbiased; directions of zero variance are
    left out). That needs n > rank; a smaller sample has the right moments in expectation only.
    """

    def fit_features(self, reference: Mapping[str, Features], *, seed: int) -> None:
        self._moments = {encoder: _mean_and_root(values) for encoder, values in reference.items()}

    def features(self, n: int, *, seed: int, encoder: str) -> Features:
        mean, root = self._moments[encoder]
        rank = root.shape[1]
        draw = np.random.default_rng(seed).standard_normal((n, rank))
        if n > rank > 0:
            draw = _whiten(draw)
        return (mean + draw @ root.T).astype(np.float32)


def _mean_and_root(values: Features) -> tuple[Float64, Float64]:
    """Mean (d,) and R (d, rank) with R R' = the unbiased covariance of `values` (n, d)."""
    wide = values.astype(np.float64)
    mean = wide.mean(axis=0)
    wide -= mean
    variances, directions = np.linalg.eigh(wide.T @ wide / max(1, len(wide) - 1))
    negligible = variances[-1] * len(mean) * np.finfo(np.float64).eps
    kept = variances > negligible
    return mean, directions[:, kept] * np.sqrt(variances[kept])


def _whiten(draw: Float64) -> Float64:
    """Make mean 0 and sample covariance I exact; columns keep their direction as far as possible."""
    orthogonal, upper = np.linalg.qr(draw - draw.mean(axis=0))
    signs = np.where(np.diag(upper) < 0, -1.0, 1.0)
    whitened: Float64 = orthogonal * signs * np.sqrt(len(draw) - 1)
    return whitened
