"""The collapsed model: one image, the mean of the training images, over and over."""

from __future__ import annotations

import numpy as np

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels


class MeanImage(ImageGenerator):
    """Returns the mean training image, rounded to the nearest integer (ties to even), n times.

    `seed`, `labels` and `nfe` are ignored: all samples are equal.
    """

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._mean = np.rint(images.mean(axis=0, dtype=np.float64)).astype(np.uint8)

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        return np.repeat(self._mean[None], n, axis=0)
