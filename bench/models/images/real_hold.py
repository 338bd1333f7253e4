"""The upper bound: real images that no other model and no metric has seen."""

from __future__ import annotations

from typing import ClassVar, Literal

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, draw_rows


class RealHold(ImageGenerator):
    """Returns a random subset of the held-out real images, without replacement.

    When more are asked for than there are, every image is used before any is repeated. `labels` and
    `nfe` are ignored.
    """

    fits_on: ClassVar[Literal["fit", "hold"]] = "hold"

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._images = images

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        return self._images[draw_rows(len(self._images), n, seed)]
