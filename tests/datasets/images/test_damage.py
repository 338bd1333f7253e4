"""Known damage: of the right kind and degree, in bytes, without side effects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bench.datasets.images import damage

Damage = Callable[[np.ndarray], np.ndarray]
ALL: dict[str, Damage] = {
    "blur": lambda images: damage.blur(images, 1.5),
    "noise": lambda images: damage.pixel_noise(images, 0.1, 3),
    "jpeg": lambda images: damage.jpeg(images, 5),
    "contrast": lambda images: damage.contrast(images, 0.5),
    "shift": lambda images: damage.shift(images, 2),
    "midpoints": lambda images: damage.midpoints(images, images[::-1]),
}


@pytest.fixture(params=[(1, 28, 28), (3, 32, 32)], ids=["gray", "colour"])
def images(request: pytest.FixtureRequest) -> np.ndarray:
    """Smooth random images that hold both extremes."""
    channels, height, width = request.param
    coarse = np.random.default_rng(0).integers(0, 256, (6, channels, height // 4, width // 4), dtype=np.uint8)
    coarse[0, :, 0, 0], coarse[0, :, 0, 1] = 0, 255
    return coarse.repeat(4, axis=2).repeat(4, axis=3)


@pytest.mark.parametrize("name", ALL)
def test_bytes_in_bytes_out_and_the_same_again(name: str, images: np.ndarray) -> None:
    before = images.copy()
    first, second = ALL[name](images), ALL[name](images)
    assert (first.dtype, first.shape) == (np.uint8, images.shape)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, images)
    assert np.array_equal(images, before)


def test_blur_keeps_the_mean_and_takes_the_edges(images: np.ndarray) -> None:
    weak, strong = damage.blur(images, 0.5), damage.blur(images, 3.0)
    assert strong.mean() == pytest.approx(images.mean(), abs=0.5)
    edges = [np.abs(np.diff(part.astype(int), axis=3)).mean() for part in (images, weak, strong)]
    assert edges[0] > edges[1] > 2 * edges[2]


def test_noise_has_the_stated_scale() -> None:
    gray = np.full((20, 1, 28, 28), 128, np.uint8)
    assert damage.pixel_noise(gray, 0.1, 0).std() == pytest.approx(25.5, rel=0.02)
    assert not np.array_equal(damage.pixel_noise(gray, 0.1, 0), damage.pixel_noise(gray, 0.1, 1))
    some = damage.pixel_noise(gray, 0.1, 0)[:3]
    assert np.array_equal(damage.pixel_noise(gray[:3], 0.1, 0), some)  # a gallery shows what was measured


def test_contrast_shrinks_each_image_to_its_mean(images: np.ndarray) -> None:
    half = damage.contrast(images, 0.5)
    assert np.abs(half.std(axis=(1, 2, 3)) / images.std(axis=(1, 2, 3)) - 0.5).max() < 0.01
    assert np.abs(half.mean(axis=(1, 2, 3)) - images.mean(axis=(1, 2, 3))).max() < 0.5


def test_shift_moves_by_pixels_of_the_edge(images: np.ndarray) -> None:
    step = round(2 * images.shape[3] / 28)
    moved = damage.shift(images, 2)
    assert np.array_equal(moved[:, :, step:, step:], images[:, :, :-step, :-step])
    assert np.array_equal(moved[:, :, 0, 0], images[:, :, 0, 0])


def test_jpeg_of_low_quality_is_farther(images: np.ndarray) -> None:
    far = [np.abs(damage.jpeg(images, quality).astype(int) - images).mean() for quality in (90, 25, 3)]
    assert far == sorted(far)


def test_midpoints_are_half_way() -> None:
    black, white = np.zeros((1, 1, 4, 4), np.uint8), np.full((1, 1, 4, 4), 200, np.uint8)
    assert np.array_equal(damage.midpoints(black, white), np.full((1, 1, 4, 4), 100, np.uint8))


def test_resizing_brings_gray_images_to_any_shape() -> None:
    digits = np.random.default_rng(0).integers(0, 256, (3, 1, 8, 8), dtype=np.uint8)
    found = damage.resized(digits, (3, 32, 32))
    assert (found.dtype, found.shape) == (np.uint8, (3, 3, 32, 32))
    assert np.array_equal(found[:, 0], found[:, 2])
    assert np.array_equal(damage.resized(digits, (1, 8, 8)), digits)
    assert found.mean() == pytest.approx(digits.mean(), abs=6)
