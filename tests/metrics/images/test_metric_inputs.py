"""Bad input is refused with the set, the place and the remedy; unusual but sound input is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from bench.metrics.images import (
    GaussianStatistics,
    Subsets,
    chamfer,
    clipped_density_coverage,
    density_coverage,
    effective_rank,
    equalise,
    frechet_distance,
    frechet_from_statistics,
    kernel_distance,
    neighbor_metrics,
    precision_recall,
    probabilistic_precision_recall,
    rbf_mmd,
    sliced_wasserstein,
    sliced_wasserstein_approximation,
    statistics_from_moments,
    symmetric_precision_recall,
)

Array = npt.NDArray[Any]
METRICS: list[Callable[..., Any]] = [
    frechet_distance,
    kernel_distance,
    precision_recall,
    density_coverage,
    chamfer,
    neighbor_metrics,
    symmetric_precision_recall,
    probabilistic_precision_recall,
    clipped_density_coverage,
    rbf_mmd,
    sliced_wasserstein,
    sliced_wasserstein_approximation,
    effective_rank,
]
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)


def features(n: int = 12, d: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d))


@every_metric
@pytest.mark.parametrize("name", ["real", "generated"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_feature_that_is_not_finite_is_located(metric: Callable[..., Any], name: str, bad: float) -> None:
    sets = {"real": features(), "generated": features(seed=1)}
    sets[name][7, 2] = bad
    sets[name][9, 0] = bad
    with pytest.raises(ValueError, match=rf"^{name}: feature at row 7, column 2 is {bad}; .*repair or drop"):
        metric(**sets)


@every_metric
def test_shapes_that_differ_are_shown(metric: Callable[..., Any]) -> None:
    for x, y in (
        (features(d=3), features(d=4)),
        (features()[0], features()),
        (features(), features().reshape(3, 4, 3)),
        (np.empty((12, 0)), np.empty((12, 0))),
    ):
        with pytest.raises(ValueError, match="same number of features") as caught:
            metric(real=x, generated=y)
        assert f"real {x.shape} and generated {y.shape}" in str(caught.value)


@every_metric
def test_positional_sets_are_refused(metric: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="positional"):
        metric(features(), features())


@every_metric
def test_no_samples(metric: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"generated: .*needs at least \d+ samples, got 0"):
        metric(real=features(), generated=np.empty((0, 3)))


@pytest.mark.parametrize("metric", [frechet_distance, kernel_distance])
def test_one_sample_has_no_variance(metric: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^real: needs at least 2 samples, got 1"):
        metric(real=features(1), generated=features())
    metric(real=features(2), generated=features(2, seed=1))


@pytest.mark.parametrize("metric", [precision_recall, density_coverage, chamfer])
def test_k_needs_one_sample_more(metric: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^generated: k=5 needs at least 6 samples, got 5; lower k"):
        metric(real=features(), generated=features(5), k=5)
    with pytest.raises(ValueError, match=r"^real: k=5 needs at least 6 samples, got 5"):
        metric(real=features(5), generated=features(), k=5)
    metric(real=features(6), generated=features(6, seed=1), k=5)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5"])
def test_k_is_a_positive_whole_number(k: Any) -> None:
    with pytest.raises(ValueError, match="k must be a positive whole number"):
        precision_recall(real=features(), generated=features(), k=k)


def test_unknown_ball() -> None:
    with pytest.raises(ValueError, match=r"'closed' .* or 'open' .*, got 'half'"):
        precision_recall(real=features(), generated=features(), ball="half")  # type: ignore[arg-type]


def test_nothing_to_measure() -> None:
    with pytest.raises(ValueError, match="no k"):
        neighbor_metrics(real=features(), generated=features(), ks=(), ball_ks=())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1.0, 2.0]], "got list"),
        (np.array([["a", "b"]]), "are not numbers"),
        (np.ones((3, 2), complex), "are not numbers"),
        (torch.ones((3, 2), dtype=torch.complex64), "complex"),
    ],
)
def test_other_types_are_refused(bad: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^real.*{message}"):
        frechet_distance(real=bad, generated=features())


def test_values_whose_squares_overflow() -> None:
    with pytest.raises(
        ValueError, match=r"^generated: features reach 1e\+200, whose square overflows; divide"
    ):
        chamfer(real=features(), generated=np.full((12, 3), 1e200))


@every_metric
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.bool_, np.float16, ">f4", torch.bfloat16])
def test_other_number_types_become_float32(metric: Callable[..., Any], dtype: Any) -> None:
    x, y = (np.random.default_rng(s).integers(0, 2, (20, 3)).astype(np.float32) for s in (0, 1))
    expected = metric(real=x, generated=y)
    if isinstance(dtype, torch.dtype):
        got = metric(real=torch.from_numpy(x).to(dtype), generated=torch.from_numpy(y).to(dtype))
    else:
        got = metric(real=x.astype(dtype), generated=y.astype(dtype))
    assert repr(got) == repr(expected)


@every_metric
def test_layout_and_container_do_not_matter(metric: Callable[..., Any]) -> None:
    x, y = features(20), features(20, seed=1)
    expected = repr(metric(real=x, generated=y))
    read_only = x.copy()
    read_only.flags.writeable = False
    padded = np.zeros((20, 6))
    padded[:, ::2] = x
    for same in (read_only, padded[:, ::2], np.asfortranarray(x), x[::-1][::-1], torch.from_numpy(x)):
        assert repr(metric(real=same, generated=y)) == expected
    learned = torch.from_numpy(x).requires_grad_()
    assert repr(metric(real=learned, generated=y)) == expected


def test_inputs_are_left_as_they_were() -> None:
    x, y = features(20), features(20, seed=1)
    before = x.copy(), y.copy()
    for metric in METRICS:
        metric(real=x, generated=y)
    assert np.array_equal(x, before[0])
    assert np.array_equal(y, before[1])


def test_constant_features_on_both_sides() -> None:
    ones = np.ones((1024, 4096), np.float32)
    result = neighbor_metrics(real=ones, generated=ones)
    balls, depth = result.precision_recall[5], result.density_coverage[5]
    assert (balls.precision, balls.recall, depth.coverage) == (1, 1, 1)
    assert depth.density == 1024 / 5
    assert depth.flags == ("degenerate-reference",)
    assert result.distinct_real == 1
    for k in (1, 5):
        pair = result.chamfer[k]
        assert (pair.r2g, pair.g2r, pair.chamfer, pair.baseline) == (0, 0, 0, 0)
        assert pair.flags == ("degenerate-reference",)
        assert np.isnan([pair.r2g_ratio, pair.g2r_ratio, pair.self_ratio, pair.deviation]).all()
        assert np.isnan([pair.fidelity, pair.coverage]).all()
    assert frechet_distance(real=ones, generated=ones).distance == 0
    assert kernel_distance(real=ones, generated=ones).mmd2 == 0


def test_degenerate_reference_still_has_raw_distances() -> None:
    result = chamfer(real=np.zeros((10, 2)), generated=np.full((10, 2), 3.0) + np.arange(10)[:, None])
    assert result.g2r == pytest.approx(np.sqrt(2) * 7.5)
    assert result.flags == ("degenerate-reference",)


def test_duplicates_inside_the_reference_are_counted() -> None:
    x = np.repeat(features(20), 3, axis=0)
    result = neighbor_metrics(real=x, generated=features(60, seed=1), ks=(1,), ball_ks=(2,))
    assert result.distinct_real == 20
    assert result.chamfer[1].flags == ("degenerate-reference",)
    assert neighbor_metrics(real=features(20), generated=features(20, seed=1)).distinct_real == 20


@pytest.mark.parametrize("as_tensor", [False, True])
def test_equalise_takes_a_seeded_subset_of_the_larger(as_tensor: bool) -> None:
    x, y = np.arange(30).reshape(10, 3), np.arange(21).reshape(7, 3)
    sets = (torch.from_numpy(x), torch.from_numpy(y)) if as_tensor else (x, y)
    first, second = equalise(*sets, seed=0)
    assert len(first) == len(second) == 7
    assert second is sets[1]
    rows = np.asarray(first)[:, 0] // 3
    assert np.array_equal(np.asarray(first), x[rows])
    assert (np.diff(rows) > 0).all()
    again, _ = equalise(*sets, seed=0)
    assert np.array_equal(np.asarray(again), np.asarray(first))
    others = [np.asarray(equalise(*sets, seed=seed)[0]).tolist() for seed in range(8)]
    assert any(other != np.asarray(first).tolist() for other in others)


@pytest.mark.parametrize(
    ("mean", "covariance", "message"),
    [
        (np.zeros(3), np.eye(2), r"\(3,\) and \(2, 2\)"),
        (np.zeros((1, 2)), np.eye(2), r"\(1, 2\) and \(2, 2\)"),
        (np.zeros(2), np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite"),
        (np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (np.zeros(2), np.diag([1.0, -0.25]), r"smallest eigenvalue is -0\.25"),
    ],
)
def test_given_moments_are_checked(mean: Array, covariance: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        statistics_from_moments(mean=mean, covariance=covariance)


def test_moments_of_different_sizes() -> None:
    sides = [statistics_from_moments(mean=np.zeros(d), covariance=np.eye(d)) for d in (2, 3)]
    with pytest.raises(ValueError, match=r"real \(2,\) and \(2, 2\), generated \(3,\) and \(3, 3\)"):
        frechet_from_statistics(real=sides[0], generated=sides[1])


def test_the_factor_of_a_reference_is_computed_once() -> None:
    statistics = statistics_from_moments(mean=np.zeros(4), covariance=np.diag([1.0, 2, 3, 4]))
    other = GaussianStatistics(torch.ones(4, dtype=torch.float64), torch.eye(4, dtype=torch.float64))
    first = frechet_from_statistics(real=statistics, generated=other)
    factor = statistics.factor
    assert frechet_from_statistics(real=statistics, generated=other) == first
    assert statistics.factor is factor


@pytest.mark.parametrize(
    ("subsets", "message"),
    [
        (Subsets(size=13), "^real: subsets of 13 need at least 13 samples, got 12"),
        (Subsets(size=1), "size >= 2"),
        (Subsets(count=0, size=5), "count >= 1"),
    ],
)
def test_subsets_that_do_not_fit(subsets: Subsets, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernel_distance(real=features(12), generated=features(20), subsets=subsets)


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_float32_products_of_large_sets_change_nothing_that_matters(
    monkeypatch: pytest.MonkeyPatch, offset: float
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3000, 64)) + offset / 64
    y = 1.02 * rng.standard_normal((2600, 64)) + offset / 64
    expected = kernel_distance(real=x, generated=y).mmd2
    monkeypatch.setattr("bench.metrics.images.kernel._HEAVY", 0)
    got = kernel_distance(real=x, generated=y).mmd2
    assert got != expected
    kernel_value = (1 + float((x @ y.T).mean()) / 64) ** 3
    assert got == pytest.approx(expected, rel=0, abs=2e-9 * kernel_value)
