"""Probabilistic PCA (Tipping & Bishop 1999), fitted in closed form."""

from __future__ import annotations

import numpy as np

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._pca import Float64, principal_components


class ProbabilisticPCA(ImageGenerator):
    """Gaussian with covariance W W' + sigma^2 I, W of `dims` columns, by maximum likelihood.

    sigma^2 is the mean of the discarded eigenvalues and W the leading directions scaled by
    sqrt(eigenvalue - sigma^2). With d pixels at most d - 1 columns are used. Samples are clipped to
    [0, 1]. `labels` and `nfe` are ignored.
    """

    def __init__(self, *, dims: int = 64) -> None:
        self.dims = dims

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        parts = principal_components(to_unit(images))
        q = min(self.dims, len(parts.mean) - 1)
        self._mean = parts.mean
        self._noise = float(np.sqrt(parts.variances[q:].mean()))
        scales = np.sqrt(np.clip(parts.variances[:q] - self._noise**2, 0.0, None))
        self._loadings = parts.directions[:, :q] * scales

    def covariance(self) -> Float64:
        """The fitted covariance (d, d) of pixels on the scale [0, 1]."""
        return self._loadings @ self._loadings.T + self._noise**2 * np.eye(len(self._mean))

    def draw(self, n: int, *, seed: int) -> Float64:
        """`n` samples (n, d) of the Gaussian itself, before clipping and rounding."""
        rng = np.random.default_rng(seed)
        latent = rng.standard_normal((n, self._loadings.shape[1]))
        noise = self._noise * rng.standard_normal((n, len(self._mean)))
        return self._mean + latent @ self._loadings.T + noise

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        return to_images(self.draw(n, seed=seed), self._shape)
