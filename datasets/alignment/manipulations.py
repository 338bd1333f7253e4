"""The parametric manipulations of Geirhos et al. (2018), for images of any size.

Widths of filters are given for images of 224 pixels and scaled with the size. Images are float64 in [0, 1].
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment.published import ACCURACY

Float = npt.NDArray[np.float64]
MIDDLE = 0.5


def conditions() -> list[tuple[str, str]]:
    """(manipulation, level) of every condition, in order."""
    return [(name, level) for name, levels in ACCURACY.items() for level in levels]


def manipulated(images: Float, name: str, level: str, *, seed: int) -> Float:
    """`images` (n, H, W) under one manipulation, clipped to [0, 1]; randomness is of (seed, name, level) alone."""
    rng = np.random.default_rng((seed, zlib.crc32(f"{name}|{level}".encode())))
    return np.clip(_MANIPULATIONS[name](images, float(level), rng), 0.0, 1.0)


def _noise(images: Float, width: float, rng: np.random.Generator) -> Float:
    """Uniform noise in [-width, width]."""
    return images + width * (2 * rng.random(images.shape) - 1)


def _contrast(images: Float, percent: float, rng: np.random.Generator) -> Float:
    return MIDDLE + percent / 100 * (images - MIDDLE)


def _low_pass(images: Float, sigma: float, rng: np.random.Generator) -> Float:
    return blurred(images, sigma * images.shape[-1] / 224)


def _high_pass(images: Float, sigma: float, rng: np.random.Generator) -> Float:
    """What a blur takes away, around middle gray; with sigma = inf the image as it is."""
    if np.isinf(sigma):
        return images
    return MIDDLE + images - blurred(images, sigma * images.shape[-1] / 224)


def _rotation(images: Float, degrees: float, rng: np.random.Generator) -> Float:
    return np.rot90(images, round(degrees / 90), axes=(1, 2))


def _phase(images: Float, degrees: float, rng: np.random.Generator) -> Float:
    """Uniform noise in [-degrees, degrees] on the phases of all frequencies but the mean."""
    angle = _phases(images.shape, degrees, rng)
    return np.asarray(np.fft.ifft2(np.fft.fft2(images) * np.exp(1j * angle)).real)


def _phases(shape: tuple[int, ...], degrees: float, rng: np.random.Generator) -> Float:
    """Odd phase noise, so that images stay real: phi(-f) = -phi(f)."""
    half = np.deg2rad(degrees) * (2 * rng.random(shape) - 1)
    mirrored = np.roll(half[:, ::-1, ::-1], 1, axis=(1, 2))
    first = np.zeros(shape[1:], dtype=bool)
    numbers = np.arange(first.size).reshape(first.shape)
    opposite = np.roll(numbers[::-1, ::-1], 1, axis=(0, 1))
    return np.where(numbers < opposite, half, np.where(numbers > opposite, -mirrored, 0.0))


_MANIPULATIONS: dict[str, Callable[[Float, float, np.random.Generator], Float]] = {
    "uniform-noise": _noise,
    "contrast": _contrast,
    "low-pass": _low_pass,
    "high-pass": _high_pass,
    "rotation": _rotation,
    "phase-scrambling": _phase,
}


def blurred(images: Float, sigma: float) -> Float:
    """Gaussian blur of the last two axes, edges continued by reflection.

    Done on the cosine transform, as a sampled kernel is no Gaussian where sigma is below half a pixel.
    """
    from scipy.fft import dctn, idctn

    height, width = images.shape[-2:]
    fy, fx = np.arange(height) / (2 * height), np.arange(width) / (2 * width)
    gain = np.exp(-2 * (np.pi * sigma) ** 2 * (fy[:, None] ** 2 + fx**2))
    return np.asarray(idctn(dctn(images, axes=(-2, -1)) * gain, axes=(-2, -1)))
