"""Gaussian mixture on principal components, fitted by expectation maximisation."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._pca import Float64, principal_components
from bench.spec import Context

# On these images the likelihood of unseen images and the Frechet distance stop improving after about
# five iterations; `full` goes on to convergence.
_ITERATIONS = {"tiny": 3, "small": 8, "full": 200}
_IMAGES_PER_COMPONENT = 50
_REGULARISATION = 1e-3  # added to every variance, on the scale [0, 1]


class MixtureOfGaussians(ImageGenerator):
    """Mixture of `components` full-covariance Gaussians on the `dims` leading principal components.

    Few images get fewer components: at least 50 images each. The other principal components stay at
    their mean, so samples are smoother than data. Samples are clipped to [0, 1]. `labels` and `nfe` are
    ignored.
    """

    def __init__(self, *, components: int = 50, dims: int = 64) -> None:
        self.components = components
        self.dims = dims
        self._iterations = _ITERATIONS["small"]

    def setup(self, ctx: Context) -> None:
        self._iterations = _ITERATIONS[ctx.size]

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        values = to_unit(images)
        self._parts = principal_components(values)
        mixture = GaussianMixture(
            n_components=max(1, min(self.components, len(images) // _IMAGES_PER_COMPONENT)),
            reg_covar=_REGULARISATION,
            max_iter=self._iterations,
            random_state=seed % 2**32,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(self._parts.project(values, self.dims).astype(np.float32))
        self._weights = mixture.weights_.astype(np.float64)
        self.means = mixture.means_.astype(np.float64)
        self._roots = np.linalg.cholesky(mixture.covariances_.astype(np.float64))

    def draw(self, n: int, *, seed: int) -> Float64:
        """`n` samples (n, d) of the mixture itself, before clipping and rounding."""
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(self._weights), size=n, p=self._weights / self._weights.sum())
        normal = rng.standard_normal((n, self.means.shape[1]))
        coordinates = self.means[chosen]
        for k in np.unique(chosen):
            coordinates[chosen == k] += normal[chosen == k] @ self._roots[k].T
        return self._parts.restore(coordinates)

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        return to_images(self.draw(n, seed=seed), self._shape)
