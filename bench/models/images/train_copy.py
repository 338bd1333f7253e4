"""The perfect memoriser: its samples are training images."""

from __future__ import annotations

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, draw_rows


class TrainCopy(ImageGenerator):
    """Returns a random subset of the training images, without replacement.

    When more are asked for than there are, every image is used before any is repeated. `labels` and
    `nfe` are ignored.
    """

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._images = images

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        return self._images[draw_rows(len(self._images), n, seed)]
