"""Held-out real images, damaged to a known degree: what a metric must notice, and a yardstick for models."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, draw_rows


class _Degraded(ImageGenerator):
    """A random subset of the held-out images, without replacement, each one damaged.

    When more are asked for than there are, every image is used before any is repeated. `labels` and `nfe` are
    ignored.
    """

    fits_on: ClassVar[Literal["fit", "hold"]] = "hold"

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._images = images

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        rng = np.random.default_rng(seed)
        return self._damage(self._images[draw_rows(len(self._images), n, seed)], rng)

    @abstractmethod
    def _damage(self, images: Images, rng: np.random.Generator) -> Images:
        """A damaged copy of `images`, uint8 (n, C, H, W)."""


class HeldOutBlur(_Degraded):
    """Gaussian blur with a standard deviation of `sigma` pixels at an image edge of 28, in proportion at others.

    Pixels beyond the border are those mirrored at it.
    """

    def __init__(self, *, sigma: float = 1.5) -> None:
        self.sigma = sigma

    def _damage(self, images: Images, rng: np.random.Generator) -> Images:
        reach = self.sigma * images.shape[3] / 28
        blurred = gaussian_filter(images.astype(np.float32), (0, 0, reach, reach), mode="reflect")
        return _bytes(blurred)


class HeldOutNoise(_Degraded):
    """Independent Gaussian noise with a standard deviation of `scale` of the gray range, clipped."""

    def __init__(self, *, scale: float = 0.1) -> None:
        self.scale = scale

    def _damage(self, images: Images, rng: np.random.Generator) -> Images:
        noise = rng.standard_normal(images.shape, dtype=np.float32)
        return _bytes(images + np.float32(255 * self.scale) * noise)


class HeldOutJpeg(_Degraded):
    """JPEG compression of the given `quality` (1 to 95) by Pillow, colours subsampled as it does by default."""

    def __init__(self, *, quality: int = 10) -> None:
        self.quality = quality

    def _damage(self, images: Images, rng: np.random.Generator) -> Images:
        return np.stack([_through_jpeg(image, self.quality) for image in images])


def _through_jpeg(image: Images, quality: int) -> Images:
    """One image, uint8 (C, H, W), compressed and unpacked."""
    packed = io.BytesIO()
    Image.fromarray(image[0] if len(image) == 1 else image.transpose(1, 2, 0)).save(
        packed, format="JPEG", quality=quality
    )
    unpacked = np.asarray(Image.open(packed))
    return unpacked[None] if unpacked.ndim == 2 else unpacked.transpose(2, 0, 1)


def _bytes(values: np.ndarray) -> Images:
    rounded: Images = np.rint(np.clip(values, 0, 255)).astype(np.uint8)
    return rounded
