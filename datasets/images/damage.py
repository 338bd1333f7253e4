"""Known damage to images, of known severity: what a metric of image quality has to notice.

Images are uint8 arrays (n, C, H, W) and stay that; lengths are given in pixels of an image with an edge of 28 and
scaled with the edge.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Images = npt.NDArray[np.uint8]

_EDGE = 28


def blur(images: Images, sigma: float) -> Images:
    """Gaussian blur with a standard deviation of `sigma` pixels; pixels beyond the border are mirrored at it."""
    from scipy.ndimage import gaussian_filter

    reach = sigma * images.shape[3] / _EDGE
    return _bytes(gaussian_filter(images.astype(np.float32), (0, 0, reach, reach), mode="reflect"))


def pixel_noise(images: Images, scale: float, seed: int) -> Images:
    """Independent Gaussian noise with a standard deviation of `scale` times the gray range, clipped."""
    noise = np.random.default_rng(seed).standard_normal(images.shape, dtype=np.float32)
    return _bytes(images + np.float32(255 * scale) * noise)


def jpeg(images: Images, quality: int) -> Images:
    """JPEG compression of the given `quality`, 1 to 95, by Pillow."""
    from PIL import Image

    result = np.empty_like(images)
    for target, image in zip(result, images, strict=True):
        gray = len(image) == 1
        buffer = io.BytesIO()
        Image.fromarray(image[0] if gray else image.transpose(1, 2, 0)).save(buffer, "JPEG", quality=quality)
        mode: Literal["L", "RGB"] = "L" if gray else "RGB"
        pixels = np.asarray(Image.open(buffer).convert(mode))
        target[:] = pixels if gray else pixels.transpose(2, 0, 1)
    return result


def contrast(images: Images, factor: float) -> Images:
    """Gray values drawn to the mean of their image: `factor` 1 leaves them, 0 makes them equal."""
    values = images.astype(np.float32)
    mean = values.mean(axis=(1, 2, 3), keepdims=True)
    return _bytes(mean + np.float32(factor) * (values - mean))


def shift(images: Images, pixels: float) -> Images:
    """Moved right and down by `pixels`; the border is repeated."""
    step = round(pixels * images.shape[3] / _EDGE)
    padded = np.pad(images, ((0, 0), (0, 0), (step, 0), (step, 0)), mode="edge")
    return np.ascontiguousarray(padded[:, :, : images.shape[2], : images.shape[3]])


def midpoints(first: Images, second: Images) -> Images:
    """Each image of `first` mixed half and half with that of `second`."""
    return _bytes((first.astype(np.float32) + second) / 2)


def resized(images: Images, shape: tuple[int, int, int]) -> Images:
    """Images brought to `shape` (C, H, W) by bilinear interpolation; gray ones are repeated for colours."""
    from PIL import Image

    channels, height, width = shape
    gray = images.mean(axis=1).round().astype(np.uint8)
    scaled = [
        np.asarray(Image.fromarray(image).resize((width, height), Image.Resampling.BILINEAR))
        for image in gray
    ]
    return np.repeat(np.stack(scaled)[:, None], channels, axis=1)


def _bytes(values: npt.NDArray[np.floating]) -> Images:
    rounded: Images = np.rint(values.clip(0, 255)).astype(np.uint8)
    return rounded
