"""Kernel density estimate in pixel space: a training image plus Gaussian noise."""

from __future__ import annotations

import numpy as np

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit


class KernelDensity(ImageGenerator):
    """Samples of a Gaussian kernel density estimate (Parzen 1962) of bandwidth `bandwidth`.

    A sample is a training image, drawn with replacement, plus noise of that standard deviation on the
    scale [0, 1], clipped. `labels` and `nfe` are ignored.
    """

    def __init__(self, *, bandwidth: float = 0.05) -> None:
        self.bandwidth = bandwidth

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._images = images

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        rng = np.random.default_rng(seed)
        centres = to_unit(self._images[rng.integers(0, len(self._images), n)])
        noise = rng.standard_normal(centres.shape, dtype=np.float32)
        return to_images(centres + np.float32(self.bandwidth) * noise, self._images.shape[1:])
