"""Where Chamfer ratios are fooled, as the plan of the family says (V12), and what tells; the ladder on digits (V15)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from bench.datasets.images import digits
from bench.metrics.images import chamfer, precision_recall
from bench.metrics.images.chamfer_median import chamfer_median


def sphere(seed: int, radius: float, n: int = 1000, d: int = 128) -> np.ndarray:
    points = np.random.default_rng(seed).standard_normal((n, d))
    return radius * points / np.linalg.norm(points, axis=1, keepdims=True)


def test_a_smaller_sphere_looks_nearer_than_real_and_is_flagged() -> None:
    found = chamfer(real=sphere(0, 1.0), generated=sphere(1, 0.5))
    assert found.r2g_ratio == pytest.approx(0.82, abs=0.005)
    assert found.g2r_ratio == pytest.approx(0.82, abs=0.005)
    assert found.self_ratio == pytest.approx(0.5, abs=0.01)
    assert found.flags == ("contraction",)
    assert found.deviation > 1.0  # the number that ranks is not fooled


@pytest.fixture(scope="module")
def shifted() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Real samples, the same with one outlier amid the generated ones, and these."""
    rng = np.random.default_rng(0)
    real, generated = rng.standard_normal((2, 1000, 64))
    outlier = real.copy()
    outlier[0] = 1.0
    return real, outlier, generated + 1.0


def test_one_real_outlier_amid_generated_samples_hides_them(
    shifted: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    real, outlier, generated = shifted
    before, after = (chamfer(real=x, generated=generated) for x in (real, outlier))
    assert before.g2r_ratio == pytest.approx(1.27, abs=0.02)
    assert after.g2r_ratio == pytest.approx(0.93, abs=0.02)
    shares = [precision_recall(real=x, generated=generated, k=5).precision for x in (real, outlier)]
    assert shares[0] < 0.01
    assert shares[1] > 0.9
    assert (
        chamfer_median(real=outlier, generated=generated).g2r_ratio < 1.0
    )  # medians are no cure for this one


def test_the_other_side_and_more_neighbours_still_tell(
    shifted: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    _, outlier, generated = shifted
    found = chamfer(real=outlier, generated=generated)
    assert found.r2g_ratio > 1.2
    assert chamfer(real=outlier, generated=generated, k=5).g2r_ratio > 1.15
    held_out = chamfer(real=outlier, generated=np.random.default_rng(9).standard_normal((1000, 64)))
    assert found.deviation > 5 * held_out.deviation


def _gaussian(fit: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.multivariate_normal(fit.mean(axis=0), np.cov(fit.T), len(fit))


def _mixture(fit: np.ndarray) -> np.ndarray:
    found: np.ndarray = GaussianMixture(10, random_state=0, reg_covar=1e-3).fit(fit).sample(len(fit))[0]
    return found


@pytest.mark.parametrize(
    ("make", "coverage", "fidelity"),
    [
        (lambda fit: fit, 0.99, 1.0),
        (_mixture, 1.21, 1.21),
        (_gaussian, 1.49, 1.56),
        (lambda fit: np.random.default_rng(0).random(fit.shape), 2.78, 3.05),
    ],
    ids=["training images", "mixture of 10", "one Gaussian", "noise"],
)
def test_digits_in_pixels(make: Callable[[np.ndarray], np.ndarray], coverage: float, fidelity: float) -> None:
    """V15: what the ratios of well-known fits are, to within .05."""
    data = digits.load()
    fit, ref = (part.images.reshape(598, -1) / 255.0 for part in (data.fit, data.ref))
    found = chamfer(real=ref, generated=make(fit))
    assert found.r2g_ratio == pytest.approx(coverage, abs=0.055)
    assert found.g2r_ratio == pytest.approx(fidelity, abs=0.05)
