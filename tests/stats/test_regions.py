"""Joint regions: reference values, nesting, an independent check of convexity and box, validity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.stats.regions import MeanRegion, mean_region, portfolio_path

quick = settings(deadline=None, max_examples=12)
INDEX = np.arange(1, 61)
PAIR = np.stack([7919 * INDEX % 101 / 100, 104729 * INDEX % 97 / 96 * 0.5 + 0.25], axis=1)


@pytest.fixture(scope="module")
def region() -> MeanRegion:
    return mean_region(PAIR, alpha=0.05)


def test_reference_boxes(region: MeanRegion) -> None:
    assert region.bonferroni.ravel() == pytest.approx([0.331934, 0.673791, 0.339062, 0.651904], abs=5e-7)
    assert region.box.ravel() == pytest.approx([0.332700, 0.673024, 0.339539, 0.651427], abs=5e-7)
    assert region.centre == pytest.approx([0.502866, 0.495483], abs=5e-7)


def test_reference_wealth(region: MeanRegion) -> None:
    points = [[0.5, 0.5], [0.62, 0.5], [0.4, 0.4], [0.3, 0.5]]
    assert region.wealth(points) == pytest.approx([0.696257, 4.748801, 6.421838, 49.223825], abs=5e-7)
    assert region.contains(points).tolist() == [True, True, True, False]


def test_the_path_ends_at_the_wealth_of_the_region(region: MeanRegion) -> None:
    path = portfolio_path(PAIR, [0.4, 0.4])
    assert path.shape == (60,)
    assert np.exp(path[-1]) == pytest.approx(region.wealth([0.4, 0.4])[0], rel=1e-12)


def _random_data(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shared = rng.random((n, 1))
    return 0.5 * shared + 0.5 * rng.beta(2, rng.uniform(1, 6, d), (n, d))


@quick
@given(st.integers(0, 10_000), st.integers(2, 200), st.integers(1, 4))
def test_portfolio_in_box_in_bonferroni_and_in_ellipsoid(seed: int, n: int, d: int) -> None:
    found = mean_region(_random_data(seed, n, d))
    rng = np.random.default_rng(seed)
    low, high = found.bonferroni.T
    margin = 0.2 * (high - low)
    points = np.clip(low - margin + (high - low + 2 * margin) * rng.random((2_000, d)), 0, 1)
    inside = points[found.contains(points)]
    assert (found.box[:, 0] >= found.bonferroni[:, 0] - 1e-9).all()
    assert (found.box[:, 1] <= found.bonferroni[:, 1] + 1e-9).all()
    assert ((inside >= found.box[:, 0]) & (inside <= found.box[:, 1])).all()
    assert found.ellipsoid.contains(inside).all()
    assert found.contains(found.centre)[0]
    assert found.wealth(found.centre)[0] <= 1


def test_ellipsoid_holds_ten_thousand_points_of_the_portfolio() -> None:
    found = mean_region(_random_data(1, 100, 3))
    low, high = found.box.T
    points = low + (high - low) * np.random.default_rng(2).random((30_000, 3))
    inside = points[found.contains(points)]
    assert len(inside) >= 10_000
    assert found.ellipsoid.contains(inside).all()


def test_ellipsoid_volume_is_its_formula() -> None:
    found = mean_region(_random_data(1, 100, 3))
    e = found.ellipsoid
    half = (e.radius / e.stiffness) ** (1 / e.exponent)
    points = e.centre + half * np.random.default_rng(0).uniform(-1, 1, (200_000, 3))
    assert np.exp(e.log_volume) == pytest.approx(e.contains(points).mean() * np.prod(2 * half), rel=0.02)


def test_box_is_exact(region: MeanRegion) -> None:
    for j, side in ((0, 0), (0, 1), (1, 0), (1, 1)):
        touching = region.centre.copy()
        touching[j] = region.box[j, side]
        assert region.wealth(touching)[0] == pytest.approx(20, rel=1e-6)


def test_portfolio_is_convex() -> None:
    found = mean_region(_random_data(3, 80, 2))
    a, b = found.box[:, 0] + np.diff(found.box).T * np.random.default_rng(0).random((2, 5_000, 2))
    middle = found.wealth((a + b) / 2)
    assert (middle <= (found.wealth(a) + found.wealth(b)) / 2 * (1 + 1e-12)).all()


def test_ten_metrics_need_far_less_volume_than_a_box() -> None:
    found = mean_region(np.random.default_rng(0).random((100, 10)))
    portfolio, ellipsoid = found.volume_shares()
    assert portfolio <= 0.40
    assert portfolio < ellipsoid <= 0.45
    against_bonferroni = np.prod(np.diff(found.box)) / np.prod(np.diff(found.bonferroni))
    assert portfolio * against_bonferroni < portfolio


def test_weights_buy_narrower_sides() -> None:
    x = _random_data(4, 100, 2)
    even, uneven = mean_region(x), mean_region(x, weights=[0.9, 0.1])
    width_even, width_uneven = (np.diff(found.bonferroni).ravel() for found in (even, uneven))
    assert width_uneven[0] < width_even[0]
    assert width_uneven[1] > width_even[1]


def test_ranges_are_mapped_linearly(region: MeanRegion) -> None:
    moved = mean_region(PAIR * [10, 2] + [-5, 1], lo=[-5, 1], hi=[5, 3])
    assert moved.box == pytest.approx(region.box * [[10], [2]] + [[-5], [1]])
    assert moved.wealth([1.2, 2.0]) == pytest.approx(region.wealth([0.62, 0.5]))
    assert moved.ellipsoid.log_volume == pytest.approx(region.ellipsoid.log_volume + np.log(20))
    assert moved.wealth([-6.0, 2.0])[0] == np.inf


def test_data_at_the_end_of_the_range() -> None:
    found = mean_region(np.stack([np.zeros(300), np.ones(300)], axis=1))
    assert found.centre == pytest.approx([0, 1])
    assert found.box[0, 0] == 0
    assert found.box[1, 1] == 1
    assert found.box[0, 1] < 0.1


def test_even_contradictory_data_leave_a_region() -> None:
    found = mean_region(np.repeat([[1.0], [0.0]], 2_000, axis=0))  # sorted by value: the forbidden order
    assert found.wealth(found.centre)[0] <= 1
    assert found.box[0, 0] < found.centre[0] < found.box[0, 1]


@pytest.mark.filterwarnings("error")
def test_one_observation_excludes_nothing() -> None:
    found = mean_region([[0.3, 0.9]])
    assert found.box.tolist() == [[0, 1], [0, 1]]
    assert found.ellipsoid.contains(np.array([[0, 0], [1, 1]])).all()
    assert found.ellipsoid.log_volume == np.inf


def test_many_observations_do_not_overflow() -> None:
    found = mean_region(_random_data(5, 20_000, 2))
    assert (np.diff(found.box) > 0).all()
    assert np.isfinite(found.wealth(found.centre)).all()


@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("kind", ["half", "tenth", "correlated"])
def test_error_rate_over_all_times(d: int, kind: str) -> None:
    rng = np.random.default_rng(d)
    mean = 0.1 if kind == "tenth" else 0.5
    draws = rng.random((400, 1_000, 1 if kind == "correlated" else d))
    x = np.broadcast_to((draws < mean).astype(float), (400, 1_000, d))
    path = portfolio_path(x, np.full(d, mean))
    assert (path.max(axis=1) >= np.log(20)).mean() <= 0.05
