"""Models that are Gaussian, against closed forms and an independent implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from bench.datasets.images import ImageDataset
from bench.metrics.images import chamfer, frechet_distance

Make = Callable[..., Any]
FASHION_FEATURES = (
    Path(__file__).parents[4] / "shared" / "data" / "image_fidelity" / "fashion_cnn_features.npz"
)


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = values.astype(np.float64)
    return wide.mean(axis=0), np.cov(wide.T)


def test_ppca_covariance_is_that_of_maximum_likelihood(digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images
    flat = images.reshape(len(images), -1) / 255.0
    expected = PCA(n_components=20, svd_solver="full").fit(flat).get_covariance()
    expected *= (len(flat) - 1) / len(flat)  # scikit-learn divides by N - 1
    np.testing.assert_allclose(fitted("ppca-64", images, dims=20).covariance(), expected, atol=1e-7)


def test_ppca_samples_have_its_covariance(digit_images: ImageDataset, fitted: Make) -> None:
    model = fitted("ppca-64", digit_images.fit.images, dims=20)
    mean, covariance = moments(model.draw(40_000, seed=0))
    expected = model.covariance()
    assert np.linalg.norm(covariance - expected) < 0.03 * np.linalg.norm(expected)
    np.testing.assert_allclose(mean, digit_images.fit.images.reshape(598, -1).mean(axis=0) / 255, atol=0.01)


def test_ppca_with_one_dimension_less_than_pixels(digit_images: ImageDataset, fitted: Make) -> None:
    """64 dimensions of 64 pixels: 63 are used, and the fit is the full sample covariance."""
    images = digit_images.fit.images
    expected = np.cov(images.reshape(len(images), -1).T / 255.0, bias=True)
    np.testing.assert_allclose(fitted("ppca-64", images).covariance(), expected, atol=1e-6)


def test_mixture_with_one_component_is_the_gaussian(digit_images: ImageDataset, fitted: Make) -> None:
    """One component has the sample mean and covariance, up to the regularisation of 1e-3."""
    images = digit_images.fit.images
    mean, covariance = moments(fitted("gmm-50", images, components=1).draw(60_000, seed=0))
    true_mean, true_covariance = moments(images.reshape(len(images), -1) / 255.0)
    true_covariance = true_covariance + 1e-3 * np.eye(64)
    np.testing.assert_allclose(mean, true_mean, atol=0.01)
    assert np.linalg.norm(covariance - true_covariance) < 0.03 * np.linalg.norm(true_covariance)


@pytest.mark.parametrize(("images", "components"), [(60, 1), (120, 2), (598, 11)])
def test_few_images_get_few_components(
    images: int, components: int, digit_images: ImageDataset, fitted: Make
) -> None:
    model = fitted("gmm-50", digit_images.fit.images[:images])
    assert model.means.shape == (components, 64)


def exact_gaussian(make: Make, reference: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    source = make("gauss-feature")
    source.fit_features({"e": reference.astype(np.float32)}, seed=0)
    result: np.ndarray = source.features(n, seed=seed, encoder="e")
    return result


def rank_deficient(rng: np.random.Generator) -> np.ndarray:
    """40 features of rank 6: repeated columns, linear combinations and constants."""
    base = rng.standard_normal((500, 6)) * [5, 2, 1, 1, 0.3, 0.1]
    return np.hstack([base, base, base @ rng.standard_normal((6, 27)), np.full((500, 1), 3.0)])


@pytest.mark.parametrize("n", [500, 400, 41, 8])
def test_exact_moments_of_rank_deficient_features(n: int, make: Make) -> None:
    reference = rank_deficient(np.random.default_rng(0)).astype(np.float32)
    mean, covariance = moments(reference)
    sample_mean, sample_covariance = moments(exact_gaussian(make, reference, n))
    np.testing.assert_allclose(sample_mean, mean, atol=1e-6 * np.sqrt(np.trace(covariance)))
    np.testing.assert_allclose(sample_covariance, covariance, atol=1e-6 * np.trace(covariance))


def test_fewer_samples_than_dimensions_are_still_gaussian(make: Make) -> None:
    """Exact moments are impossible; over many draws they are right on average."""
    reference = np.random.default_rng(0).standard_normal((300, 20)) @ np.diag(np.arange(1.0, 21.0))
    mean, covariance = moments(np.vstack([exact_gaussian(make, reference, 20, seed) for seed in range(400)]))
    true_mean, true_covariance = moments(reference)
    np.testing.assert_allclose(mean, true_mean, atol=1.5)
    assert np.linalg.norm(covariance - true_covariance) < 0.1 * np.linalg.norm(true_covariance)


def test_constant_features_are_reproduced(make: Make) -> None:
    reference = np.full((30, 4), 2.5)
    assert np.array_equal(exact_gaussian(make, reference, 9), np.full((9, 4), 2.5, np.float32))


def test_fd_is_blind_to_the_exact_gaussian_and_chamfer_is_not(make: Make) -> None:
    """V1: the argument of the family, on real features."""
    if not FASHION_FEATURES.exists():
        pytest.skip("fashion_cnn_features.npz is not in ../shared/data beside the repository")
    with np.load(FASHION_FEATURES) as file:
        real, held_out = file["train"], file["test"]
    generated = exact_gaussian(make, real, len(real))
    noise_floor = frechet_distance(real=real, generated=held_out).distance
    assert frechet_distance(real=real, generated=generated).distance < 1e-3 * noise_floor
    assert chamfer(real=real, generated=generated, k=1).g2r_ratio > 2.0
    assert chamfer(real=real, generated=held_out, k=1).g2r_ratio < 1.1
