"""Held-out images that were damaged to a known degree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bench.datasets.images import ImageDataset
from bench.models.images.degraded import HeldOutBlur

Make = Callable[..., Any]
DAMAGED = ("held-out-blur", "held-out-noise", "held-out-jpeg")
PARAMETERS = {
    "held-out-blur": ("sigma", 4.0),
    "held-out-noise": ("scale", 0.3),
    "held-out-jpeg": ("quality", 1),
}


def roughness(images: np.ndarray) -> float:
    """Mean squared difference of neighbours."""
    return float(np.diff(images.astype(float), axis=3).var())


def test_noise_has_its_scale_where_nothing_is_clipped(fitted: Make) -> None:
    sample = fitted("held-out-noise", np.full((4, 1, 16, 16), 128, np.uint8)).sample(200, seed=0)
    assert sample.std() == pytest.approx(25.5, rel=0.02)
    assert sample.mean() == pytest.approx(128, abs=0.3)


def test_blur_smooths_keeps_the_mean_and_spares_channels(colour_images: np.ndarray, fitted: Make) -> None:
    model = fitted("held-out-blur", colour_images)
    sample = model.sample(90, seed=0)
    assert roughness(sample) < 0.3 * roughness(colour_images)
    assert sample.mean() == pytest.approx(colour_images.mean(), abs=0.5)
    one = np.zeros((1, 3, 16, 16), np.uint8)
    one[:, 0] = 200
    model.fit(one, None, seed=0, device="cpu", budget_s=1.0)
    assert np.array_equal(model.sample(1, seed=0), one)


def test_blur_grows_with_the_image() -> None:
    """A point spreads with a standard deviation of sigma * edge / 28 pixels."""
    for edge in (28, 56):
        point = np.zeros((1, 1, edge, edge), np.uint8)
        point[..., edge // 2, edge // 2] = 255
        model = HeldOutBlur(sigma=2.0)
        model.fit(np.full_like(point, 255) - point, None, seed=0, device="cpu", budget_s=1.0)
        depth = 255.0 - model.sample(1, seed=0)[0, 0].max(axis=0)
        assert depth.max() == 0  # away from the point nothing changes
        missing = 255.0 - model.sample(1, seed=0)[0, 0].astype(float)
        assert missing.max() == pytest.approx(255 / (2 * np.pi * (2.0 * edge / 28) ** 2), abs=1.0)


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_grows_with_its_parameter(name: str, digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.hold.images
    parameter, strong = PARAMETERS[name]
    plain = fitted("real-hold", images).sample(300, seed=5).astype(float)
    errors = [
        np.abs(fitted(name, images, **options).sample(300, seed=5) - plain).mean()
        for options in ({}, {parameter: strong})
    ]
    assert 1.0 < errors[0] < errors[1]


def test_jpeg_of_a_flat_image_is_nearly_that_image(fitted: Make) -> None:
    flat = np.full((1, 3, 16, 16), 90, np.uint8)
    sample = fitted("held-out-jpeg", flat, quality=90).sample(1, seed=0)
    assert np.abs(sample.astype(int) - 90).max() <= 2
