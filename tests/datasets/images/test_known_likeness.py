"""Points of known likeness: each generator against what can be worked out by hand."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from bench.catalog.images_sanity import CHECKS, SANITY_DATASET
from bench.datasets.images import sanity
from bench.datasets.images.sanity import EQUAL, Case, Points, content_sha256, load

N = 4000


def case(check: str, variant: str) -> Case:
    return next(c for c in load().cases if (c.check, c.variant) == (check, variant))


def raw(check: str, variant: str, place: float, n: int = N) -> tuple[Points, Points]:
    """Real and generated points at a place, before they are standardised."""
    found = case(check, variant)
    return found.real(np.random.default_rng(1), place, n), found.generated(np.random.default_rng(2), place, n)


def test_the_card_knows_the_content() -> None:
    assert SANITY_DATASET.sha256 == content_sha256()
    assert list(dict.fromkeys(c.check for c in load().cases)) == list(CHECKS)
    assert doctest.testmod(sanity).failed == 0


def test_places_are_those_of_the_publication() -> None:
    def reach(check: str, variant: str) -> tuple[float, float, int]:
        places = case(check, variant).places
        return places[0], places[-1], len(places)

    assert [reach("mean_shift", f"d={d}") for d in (1, 8, 64)] == [(-6, 6, 51), (-3, 3, 51), (-1, 1, 51)]
    assert reach("sphere", "d=128") == (0.1, 1.9, 51)
    assert reach("cubes_n", "d=8") == (100, 10_000, 20)
    assert reach("dropped_modes", "d=1") == (0, 9, 10)
    assert reach("disjoint_dimension", "d=2 and more")[:2] == (1, 1000)
    for found in load().cases:
        assert list(found.places) == sorted(set(found.places))
        assert EQUAL.get(found.check, found.places[0]) in found.places


@pytest.mark.parametrize("levels", [2, 3, 11])
def test_fewer_places_keep_both_ends_and_the_equal_sets(levels: int) -> None:
    for whole, thin in zip(load().cases, load().thinned(levels), strict=True):
        assert {whole.places[0], whole.places[-1]} <= set(thin.places) <= set(whole.places)
        assert EQUAL.get(thin.check, thin.places[0]) in thin.places
        assert len(thin.places) <= levels + 1


def test_every_pair_is_standardised_finite_and_reproducible() -> None:
    for found in load().thinned(2):
        for index in range(len(found.places)):
            real, generated = found.pair(index, seed=3, n=50)
            assert np.abs(real.mean(axis=0)).max() < 1e-6
            spread = real.std(axis=0)
            assert (np.isclose(spread, 1) | (spread == 0)).all()
            assert real.shape[1] == generated.shape[1]
            assert np.isfinite(generated).all()
            again = found.pair(index, seed=3, n=50)
            assert np.array_equal(real, again[0])
            assert np.array_equal(generated, again[1])
            assert not np.array_equal(real, found.pair(index, seed=4, n=50)[0])


def test_means_and_spreads_are_as_asked() -> None:
    _, generated = raw("mean_shift", "d=8", 1.5)
    assert np.allclose(generated.mean(axis=0), 1.5, atol=0.08)
    assert np.allclose(generated.std(axis=0), 1.0, atol=0.06)
    _, generated = raw("std_ratio", "d=8", 0.25)
    assert np.allclose(generated.std(axis=0), 0.25, atol=0.02)


def test_the_outlier_stands_on_one_side() -> None:
    real, generated = raw("outlier", "d=64, real", -1.0, 100)
    assert (len(real), len(generated)) == (101, 100)
    assert np.array_equal(real[-1], np.ones(64))
    real, generated = raw("outlier", "d=1, generated", -6.0, 100)
    assert (len(real), len(generated), generated[-1, 0]) == (100, 101, 6.0)


def modes(points: Points) -> list[float]:
    """Shares of the ten modes between 0 and 10 among points in one dimension."""
    nearest = (points[:, 0] / (10 / 9)).round().clip(0, 9).astype(int)
    return [float(share) for share in np.bincount(nearest, minlength=10) / len(points)]


def test_modes_are_dropped_and_thinned() -> None:
    real, generated = raw("dropped_modes", "d=1", 6.0)
    assert modes(real) == pytest.approx([0.1] * 10, abs=0.02)
    assert modes(generated) == pytest.approx([0.25] * 4 + [0] * 6, abs=0.03)
    _, generated = raw("thinned_modes", "d=1", 0.5)  # 1 of 5.5 parts in the first, half a part in each other
    assert modes(generated) == pytest.approx([1 / 5.5] + [0.5 / 5.5] * 9, abs=0.02)
    _, generated = raw("thinned_modes", "d=1", 1.0)
    assert modes(generated)[0] > 0.99


def test_invented_modes_are_not_near_real_ones() -> None:
    def places(points: Points) -> set[int]:
        return {
            int(turn) for turn in (np.arctan2(points[:, 1], points[:, 0]) / (2 * np.pi / 10)).round() % 10
        }

    real, generated = raw("invented_modes", "d=2", 3.0)
    assert (places(real), places(generated)) == ({0, 2, 4, 6, 8}, {0, 2, 4})
    _, generated = raw("invented_modes", "d=2", 7.0)
    assert places(generated) == {0, 2, 4, 6, 8, 1, 3}


def test_spheres_have_their_radius() -> None:
    real, generated = raw("sphere", "d=16", 0.5, 100)
    assert np.allclose(np.linalg.norm(real, axis=1), 1.0)
    assert np.allclose(np.linalg.norm(generated, axis=1), 0.5)


@pytest.mark.parametrize("d", [1, 8, 64])
def test_cubes_share_a_fifth_of_their_volume(d: int) -> None:
    real, generated = raw("cubes_n", f"d={d}", 1000.0)
    start = 1 - 0.2 ** (1 / d)
    assert (generated >= start).all()
    assert (generated <= start + 1).all()
    assert np.mean((real >= start).all(axis=1)) == pytest.approx(0.2, abs=0.03)
    assert np.mean((generated <= 1).all(axis=1)) == pytest.approx(0.2, abs=0.03)


def test_numbers_of_points_vary() -> None:
    assert [len(points) for points in raw("cubes_n", "d=1", 100.0, 1000)] == [100, 100]
    assert [len(points) for points in raw("cubes_m", "d=1", 10_000.0, 1000)] == [1000, 10_000]
    assert [len(points) for points in raw("torus", "real torus", 2000.0, 500)] == [500, 1000]


def test_the_ball_fills_itself_and_does_not_touch_the_torus() -> None:
    solid, hollow = raw("torus", "real ball", 1000.0)
    radii = np.linalg.norm(solid, axis=1)
    assert radii.max() <= 0.8
    assert np.mean(radii < 0.4) == pytest.approx(1 / 8, abs=0.02)  # half the radius, an eighth of the volume
    from_ring = np.hypot(np.hypot(hollow[:, 0], hollow[:, 1]) - 1.0, hollow[:, 2])
    assert from_ring.max() <= 0.1
    assert np.mean(from_ring < 0.05) == pytest.approx(1 / 4, abs=0.03)
    assert np.linalg.norm(hollow, axis=1).min() >= 0.9 - 1e-12


def test_two_modes_against_one() -> None:
    real, generated = raw("two_modes", "d=8", 5.0)
    sides = real.mean(axis=1) > 0
    assert sides.mean() == pytest.approx(0.5, abs=0.03)
    assert real[sides].mean() == pytest.approx(2.5, abs=0.05)
    assert generated.std() == pytest.approx(np.sqrt(26), abs=0.1)


def test_a_unit_changes_nothing_once_standardised() -> None:
    """The place of the scaled dimension leaves no trace but new draws."""
    found = case("scaled_dimension", "d=2")
    for index in (0, 19):
        _, generated = found.pair(index, seed=0, n=N)
        assert generated.mean(axis=0) == pytest.approx([6.0, 0.0], abs=0.2)
        assert generated.std(axis=0) == pytest.approx([1.0, 1.0], abs=0.05)


def test_the_heavy_tail() -> None:
    real, generated = raw("pareto", "d=2", -6.0)
    assert real[:, 1].min() >= 1
    assert np.median(real[:, 1]) == pytest.approx(2 ** (1 / 1.01), rel=0.05)
    assert generated[:, 0].mean() == pytest.approx(-6.0, abs=0.1)


def test_one_dimension_is_apart() -> None:
    real, generated = raw("disjoint_dimension", "d=2 and more", 10.0)
    assert real.shape == generated.shape == (N, 11)
    assert np.allclose(generated.mean(axis=0), [6.0] + [0.0] * 10, atol=0.08)


def test_one_side_is_whole() -> None:
    real, generated = raw("rounded", "real whole", 10.0)
    assert np.array_equal(real, real.round())
    assert not np.array_equal(generated, generated.round())
    assert real.std() == pytest.approx(10.0, rel=0.05)
