"""How the models come out on real digits: the figures the family's validation names, and an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bench.datasets.images import ImageDataset
from bench.metrics.images import Chamfer, chamfer

Make = Callable[..., Any]


def pixels(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1).astype(np.float32) / 255


def ratios(data: ImageDataset, generated: np.ndarray) -> Chamfer:
    """Chamfer distances in pixel space between the 598 reference images and as many generated ones."""
    values = generated if generated.dtype != np.uint8 else pixels(generated)
    return chamfer(real=pixels(data.ref.images), generated=values.reshape(598, -1), k=1)


@pytest.mark.parametrize(
    ("name", "r2g", "g2r"),
    [("real-hold", 0.99, 0.99), ("train-copy", 0.99, 1.00), ("uniform-noise", 2.78, 3.05)],
)
def test_bounds(name: str, r2g: float, g2r: float, digit_images: ImageDataset, fitted: Make) -> None:
    model = fitted(name, digit_images.split(role_of(name)).images)
    result = ratios(digit_images, model.sample(598, seed=0))
    assert result.r2g_ratio == pytest.approx(r2g, abs=0.05)
    assert result.g2r_ratio == pytest.approx(g2r, abs=0.05)


def role_of(name: str) -> Any:
    return "hold" if name == "real-hold" else "fit"


@pytest.mark.parametrize(
    ("name", "params", "r2g", "g2r"),
    [("ppca-64", {}, 1.49, 1.56), ("gmm-50", {"components": 10}, 1.21, 1.21)],
)
def test_gaussians_before_rounding(
    name: str, params: dict[str, Any], r2g: float, g2r: float, digit_images: ImageDataset, fitted: Make
) -> None:
    """63 of 64 dimensions make PPCA the plain Gaussian fit; clipping to [0, 1] would lower both ratios."""
    model = fitted(name, digit_images.fit.images, size="full", **params)
    result = ratios(digit_images, model.draw(598, seed=0))
    assert result.r2g_ratio == pytest.approx(r2g, abs=0.05)
    assert result.g2r_ratio == pytest.approx(g2r, abs=0.05)


def test_mean_image_collapses(digit_images: ImageDataset, fitted: Make) -> None:
    result = ratios(digit_images, fitted("mean-image", digit_images.fit.images).sample(598, seed=0))
    assert result.self_ratio == 0.0
    assert result.r2g_ratio > 1.5


@pytest.mark.slow
def test_flow_learns_more_than_its_gaussian_start(digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images
    gaussian = ratios(digit_images, fitted("ppca-64", images).sample(598, seed=0))
    flow = ratios(digit_images, fitted("flow", images, size="small").sample(598, seed=0))
    assert flow.r2g_ratio < 1.25 < gaussian.r2g_ratio
    assert flow.g2r_ratio < 1.25 < gaussian.g2r_ratio


def test_vae_learns(digit_images: ImageDataset, fitted: Make) -> None:
    result = ratios(digit_images, fitted("vae-16", digit_images.fit.images, size="small").sample(598, seed=0))
    assert result.r2g_ratio < 1.2
    assert result.g2r_ratio < 1.2
    assert result.self_ratio > 0.3


def test_kernel_density_is_a_training_image_with_noise(fitted: Make) -> None:
    gray = np.full((3, 1, 16, 16), 128, np.uint8)
    sample = fitted("kde", gray).sample(200, seed=0)
    assert sample.mean() == pytest.approx(128, abs=0.3)
    assert sample.std() == pytest.approx(0.05 * 255, rel=0.02)


def test_kernel_density_draws_every_training_image(digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images[:20]
    sample = fitted("kde", images, bandwidth=0.0).sample(400, seed=0)
    assert {image.tobytes() for image in sample} == {image.tobytes() for image in images}
