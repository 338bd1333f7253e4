"""The floor: every pixel an independent uniform byte."""

from __future__ import annotations

import numpy as np

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels


class UniformNoise(ImageGenerator):
    """Looks at nothing but the shape of the training images. `labels` and `nfe` are ignored."""

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        return np.random.default_rng(seed).integers(0, 256, (n, *self._shape), dtype=np.uint8)
