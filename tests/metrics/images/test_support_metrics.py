"""Fréchet at infinity, Gaussian kernel, other precision-recall pairs, sliced distances: known values and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.stats import wasserstein_distance_nd

from bench.metrics.images import (
    clipped_density_coverage,
    density_coverage,
    frechet_distance,
    frechet_infinity,
    precision_recall,
    probabilistic_precision_recall,
    rbf_mmd,
    sliced_wasserstein,
    sliced_wasserstein_approximation,
    symmetric_precision_recall,
)
from bench.metrics.images._pairs import distance_tiles
from bench.metrics.images.clipped import expected_reach

Array = npt.NDArray[Any]


def cloud(seed: int, n: int = 200, d: int = 8) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_rbf_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    sets = {"real": small["train"], "generated": small["gen"]}
    key = "direct float64 RBF MMD biased sigma10 x1000 train-gen"
    unit, plain = small_values[f"{key} (L2-normalised, as CMMD)"], small_values[f"{key} (no normalisation)"]
    assert rbf_mmd(**sets).mmd2 == pytest.approx(unit, rel=1e-8)
    assert rbf_mmd(**sets, normalize=False).mmd2 == pytest.approx(plain, rel=1e-8)


def test_rbf_of_far_sets_is_two_thousand_halves() -> None:
    """Two single points that no kernel connects: 1 + 1 - 0, times 1000."""
    one, two = np.zeros((1, 3)), np.full((1, 3), 1e6)
    assert rbf_mmd(real=one, generated=two, normalize=False).mmd2 == pytest.approx(2000)
    with pytest.raises(ValueError, match="sigma must be positive, got 0"):
        rbf_mmd(real=one, generated=two, sigma=0)


def test_symmetric_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    result = symmetric_precision_recall(real=small["train"], generated=small["gen"], ball="open")
    precision, recall = (
        small_values["sym precision k5 (emergent_asymmetry code)"],
        small_values["sym recall k5"],
    )
    assert result.precision == pytest.approx(precision["sym_precision"], abs=1e-12)
    assert result.complement_precision == pytest.approx(precision["comp_precision"], abs=1e-12)
    assert result.recall == pytest.approx(recall["sym_recall"], abs=1e-12)


def test_symmetric_is_the_smaller_of_its_parts() -> None:
    sets = {"real": cloud(0), "generated": 1.5 * cloud(1)}
    result = symmetric_precision_recall(**sets)
    assert result.precision == min(precision_recall(**sets).precision, result.complement_precision)
    assert result.recall == min(precision_recall(**sets).recall, density_coverage(**sets).coverage)


@pytest.mark.parametrize(
    ("real", "generated", "key"),
    [("train", "gen", "real=train"), ("test", "gen", "real=test"), ("train", "test", "train vs test")],
)
def test_clipped_on_small_features(
    small: dict[str, Array], small_values: dict[str, Any], real: str, generated: str, key: str
) -> None:
    result = clipped_density_coverage(real=small[real], generated=small[generated])
    assert result.density == pytest.approx(small_values[f"ClippedDensity K5 {key}"], abs=1e-12)
    assert result.coverage == pytest.approx(small_values[f"ClippedCoverage K5 {key}"], abs=1e-12)


def test_clipped_falls_with_the_share_of_bad_samples() -> None:
    real, good = cloud(0, 600, 4), cloud(1, 600, 4)
    for bad in (0.2, 0.5, 0.8):
        generated = good.copy()
        generated[: int(600 * bad)] += 100
        result = clipped_density_coverage(real=real, generated=generated)
        assert result.density == pytest.approx(1 - bad, abs=0.07)
        assert result.coverage == pytest.approx(1 - bad, abs=0.07)


def test_clipped_is_not_moved_by_one_outlier_among_real_samples() -> None:
    """One real point far away has a ball that holds everything; its radius is clipped."""
    real, generated = cloud(0), cloud(1) + 6
    outlier = np.vstack([real[1:], np.full((1, 8), 9.0)])
    assert density_coverage(real=outlier, generated=generated).density > 0.1
    assert clipped_density_coverage(real=outlier, generated=generated).density < 0.01


def test_expected_reach_matches_a_simulation() -> None:
    """Points on a line: m of n + m exchangeable positions fall below the k-th of n - 1 others."""
    n, m, k = 12, 9, 3
    rng = np.random.default_rng(0)
    others, drawn = rng.random((20_000, n - 1)), rng.random((20_000, m))
    inside = (drawn < np.sort(others, 1)[:, k - 1 : k]).sum(1)
    exact = expected_reach(n=n, m=m, k=k)
    assert exact[m] == pytest.approx(np.minimum(inside, k).mean() / k, abs=0.01)
    assert (exact[:k] == 0).all()
    assert (np.diff(exact) >= 0).all()


def test_clipped_with_equal_real_rows_is_flagged() -> None:
    result = clipped_density_coverage(real=np.ones((10, 2)), generated=cloud(0, 10, 2))
    assert result.flags == ("degenerate-reference",)


def test_probabilistic_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    expected = small_values["P-precision/P-recall a1.2 k4"]
    result = probabilistic_precision_recall(real=small["train"], generated=small["gen"])
    assert (result.precision, result.recall) == pytest.approx(expected, abs=1e-9)


def test_probabilistic_limits() -> None:
    real = cloud(0)
    copies = probabilistic_precision_recall(real=real, generated=real.copy())
    assert (copies.precision, copies.recall) == (1, 1)
    far = probabilistic_precision_recall(real=real, generated=real + 100)
    assert (far.precision, far.recall) == (0, 0)
    equal = probabilistic_precision_recall(real=np.ones((9, 2)), generated=np.ones((9, 2)))
    assert (equal.precision, equal.recall) == (1, 1)
    with pytest.raises(ValueError, match="scale must be positive"):
        probabilistic_precision_recall(real=real, generated=real, scale=-1)


def test_distances_of_all_pairs_are_exact_for_near_copies_and_across_tiles() -> None:
    x = cloud(0, 1500, 3) + 1e4
    y = np.vstack([x[:1100] + 1e-5 * cloud(1, 1100, 3), x[:1000]])
    found = torch.full((1500, 2100), torch.nan, dtype=torch.float64)
    for rows, columns, tile in distance_tiles(torch.from_numpy(x), torch.from_numpy(y)):
        found[rows, columns] = tile
    direct = torch.cdist(
        torch.from_numpy(x), torch.from_numpy(y), compute_mode="donot_use_mm_for_euclid_dist"
    )
    torch.testing.assert_close(found, direct, rtol=1e-7, atol=0)
    assert (found[:1000, 1100:].diagonal() == 0).all()


def test_frechet_at_infinity_removes_the_bias_of_generated_samples() -> None:
    """Few generated samples of the real distribution: the plain distance is biased, the intercept is nearly 0."""
    real = cloud(0, 20_000, 6)
    results = [frechet_infinity(real=real, generated=cloud(seed, 1000, 6), seed=seed) for seed in range(1, 9)]
    plain = np.mean([result.distances[-1] for result in results])
    assert results[0].sizes == tuple(np.linspace(100, 1000, 15).astype(int))
    assert results[0].distances[-1] == pytest.approx(
        frechet_distance(real=real, generated=cloud(1, 1000, 6)).distance, rel=1e-8
    )
    assert abs(np.mean([result.distance for result in results])) < 0.35 * plain
    assert np.mean([result.slope for result in results]) > 0


def test_frechet_at_infinity_is_a_least_squares_line() -> None:
    result = frechet_infinity(real=cloud(0, 600, 4), generated=cloud(1, 600, 4) + 1, seed=3)
    slope, intercept = np.polyfit(1 / np.array(result.sizes), result.distances, 1)
    assert (result.slope, result.distance) == pytest.approx((slope, intercept), rel=1e-9)
    _, covariance = np.polyfit(1 / np.array(result.sizes), result.distances, 1, cov=True)
    assert result.standard_error == pytest.approx(np.sqrt(covariance[1, 1]), rel=1e-9)


def test_frechet_at_infinity_says_when_it_cannot() -> None:
    with pytest.raises(ValueError, match="generated: the extrapolation needs at least 500 samples, got 499"):
        frechet_infinity(real=cloud(0), generated=cloud(1, 499))
    assert frechet_infinity(real=cloud(0), generated=cloud(1, 500)).flags == ()
    wide = frechet_infinity(real=cloud(0, 70, 60), generated=cloud(1, 500, 60))
    assert wide.flags == ("extrapolation from n<d",)


@pytest.mark.parametrize("directions", [8, 1024])
def test_a_shift_is_measured_exactly_by_whole_blocks_of_directions(directions: int) -> None:
    real, shift = cloud(0), np.arange(8.0)
    result = sliced_wasserstein(real=real, generated=real + shift, directions=directions)
    assert result.squared == pytest.approx(shift @ shift, abs=1e-9 * (shift @ shift))


def test_in_one_dimension_slices_are_the_transport_itself() -> None:
    """Optimal transport of n to m points on a line, solved as a linear programme on squared differences."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((7, 1)), rng.standard_normal((5, 1)) + 1
    grid = (np.arange(35) + 0.5) / 35
    quantiles = [np.sort(part[:, 0])[(grid * len(part)).astype(int)] for part in (x, y)]
    expected = float(((quantiles[0] - quantiles[1]) ** 2).mean())
    result = sliced_wasserstein(real=x, generated=y, directions=3)
    assert result.squared == pytest.approx(expected, rel=1e-12)
    lower = wasserstein_distance_nd(x, y) ** 2  # W1 <= W2
    assert result.squared >= lower - 1e-12


def test_repeating_a_set_does_not_move_it() -> None:
    real, generated = cloud(0, 40), cloud(1, 30)
    once = sliced_wasserstein(real=real, generated=generated).squared
    assert sliced_wasserstein(real=np.tile(real, (3, 1)), generated=generated).squared == pytest.approx(
        once, rel=1e-12
    )
    assert sliced_wasserstein(real=real, generated=real.copy()).squared == 0


def test_sliced_sides_can_be_swapped_and_scaled() -> None:
    real, generated = cloud(0, 40), 2 * cloud(1, 30)
    value = sliced_wasserstein(real=real, generated=generated).squared
    assert sliced_wasserstein(real=generated, generated=real).squared == pytest.approx(value, rel=1e-12)
    assert sliced_wasserstein(real=10 * real, generated=10 * generated).squared == pytest.approx(100 * value)
    with pytest.raises(ValueError, match="directions must be a positive number"):
        sliced_wasserstein(real=real, generated=generated, directions=0)


def test_the_approximation_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    result = sliced_wasserstein_approximation(real=small["train"], generated=small["gen"])
    assert result.distance == pytest.approx(small_values["dgm_eval sw_approx train,gen"], rel=1e-12)


def test_the_approximation_is_near_for_gaussians_of_many_dimensions() -> None:
    real, generated = cloud(0, 4000, 100), 1.4 * cloud(1, 4000, 100) + 0.1
    exact = sliced_wasserstein(real=real, generated=generated, directions=200).squared / 100
    approximate = sliced_wasserstein_approximation(real=real, generated=generated).distance ** 2
    assert approximate == pytest.approx(exact, rel=0.05)
