"""Values that can be worked out by hand, and values that other implementations return."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bench.metrics.images import (
    Ball,
    Subsets,
    chamfer,
    density_coverage,
    expected_coverage,
    frechet_distance,
    frechet_from_statistics,
    kernel_distance,
    neighbor_metrics,
    precision_recall,
    statistics_from_moments,
)

Array = npt.NDArray[Any]

HAND_REAL = np.array([[0.0], [1], [3], [7], [20]])
HAND_GENERATED = np.array([[0.5], [2], [10], [11]])


def test_balls_by_hand() -> None:
    sets = {"real": HAND_REAL, "generated": HAND_GENERATED}
    for ball in ("open", "closed"):
        result = precision_recall(**sets, k=1, ball=ball)
        assert (result.precision, result.recall) == (1.0, 0.6)
        assert density_coverage(**sets, k=1, ball=ball).coverage == 1.0
    assert density_coverage(**sets, k=1, ball="open").density == 1.5
    assert density_coverage(**sets, k=1, ball="closed").density == 2.0
    assert precision_recall(**sets, k=2, ball="open").recall == 0.8
    assert precision_recall(**sets, k=2, ball="closed").recall == 1.0


def test_chamfer_by_hand() -> None:
    result = chamfer(real=HAND_REAL, generated=HAND_GENERATED)
    assert (result.r2g, result.g2r, result.baseline) == (2.8, 2.125, 4.2)
    assert result.chamfer == pytest.approx((2.8 + 2.125) / 2, rel=1e-15)
    assert result.self_ratio == pytest.approx(1.25 / 4.2, rel=1e-15)
    assert result.r2g_ratio == pytest.approx(2.8 / 4.2, rel=1e-15)
    assert result.g2r_ratio == pytest.approx(2.125 / 4.2, rel=1e-15)
    logs = np.abs(np.log([2.8 / 4.2, 2.125 / 4.2, 1.25 / 4.2]))
    assert result.deviation == pytest.approx(logs.sum(), rel=1e-14)
    assert (result.fidelity, result.coverage) == (1.0, 1.0)


def test_frechet_of_moments_by_hand() -> None:
    def distance(*moments: Any) -> float:
        sides = [statistics_from_moments(mean=np.array(m), covariance=np.array(s)) for m, s in moments]
        return frechet_from_statistics(real=sides[0], generated=sides[1]).distance

    zero, spread = [0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]]
    assert distance((zero, spread), ([3.0, 4.0], spread)) == pytest.approx(25, rel=1e-12)
    assert distance((zero, np.diag([1.0, 4])), (zero, np.diag([9.0, 16]))) == pytest.approx(8, rel=1e-12)
    assert distance((zero, spread), (zero, np.diag([1.0, 3]))) == pytest.approx(0.5166852264521173, rel=1e-12)
    assert distance((zero, np.diag([1.0, 0])), (zero, np.diag([4.0, 0]))) == pytest.approx(1, rel=1e-12)
    assert distance((zero, np.zeros((2, 2))), (zero, np.zeros((2, 2)))) == 0


def test_kernel_distance_by_hand() -> None:
    result = kernel_distance(real=np.array([[0], [1]]), generated=np.array([[1], [2]]))
    assert result.mmd2 == 9.5


def test_expected_coverage() -> None:
    assert expected_coverage(n=3000, m=3000, k=5) == pytest.approx(0.96883, abs=5e-6)


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_balls_on_small_features(small: dict[str, Array], small_values: dict[str, Any], k: int) -> None:
    check_balls(small["train"], small["gen"], small_values[f"prdc0.2 k={k} real=train"], k)


def test_balls_on_small_features_with_another_reference(
    small: dict[str, Array], small_values: dict[str, Any]
) -> None:
    check_balls(small["test"], small["gen"], small_values["prdc0.2 k=5 real=test"], 5)


def check_balls(real: Array, generated: Array, expected: dict[str, float], k: int) -> None:
    ours = precision_recall(real=real, generated=generated, k=k, ball="open")
    depth = density_coverage(real=real, generated=generated, k=k, ball="open")
    for name, value in zip(
        ("precision", "recall", "density", "coverage"),
        (ours.precision, ours.recall, depth.density, depth.coverage),
        strict=True,
    ):
        assert value == pytest.approx(expected[name], abs=1e-12), name


@pytest.mark.parametrize(
    ("reference", "k", "key"),
    [
        ("train", 1, "k1"),
        ("train", 3, "k3_mean"),
        ("train", 5, "k5_mean"),
        ("test", 1, "k1"),
        ("test", 5, "k5_mean"),
    ],
)
def test_chamfer_on_small_features(
    small: dict[str, Array], small_values: dict[str, Any], reference: str, k: int, key: str
) -> None:
    expected = small_values[f"chamfer float64 direct ref={reference}"][key]
    result = chamfer(real=small[reference], generated=small["gen"], k=k)
    assert result.r2g == pytest.approx(expected["r2g"], rel=1e-9)
    assert result.g2r == pytest.approx(expected["g2r"], rel=1e-9)
    assert result.baseline == pytest.approx(expected["self"], rel=1e-9)


def test_squared_chamfer_on_small_features(small: dict[str, Array]) -> None:
    result = chamfer(real=small["train"], generated=small["gen"], squared=True)
    assert result.r2g == pytest.approx(5.5310641070, rel=1e-9)
    assert result.g2r == pytest.approx(6.9347036760, rel=1e-9)
    assert result.baseline == pytest.approx(4.0832105733, rel=1e-9)


@pytest.mark.parametrize(("generated", "expected"), [("gen", 10.4763295987), ("test", 3.1567643725)])
def test_frechet_on_small_features(small: dict[str, Array], generated: str, expected: float) -> None:
    result = frechet_distance(real=small["train"], generated=small[generated])
    assert result.distance == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("generated", "expected"), [("gen", 187.519421879), ("test", 14.0326722927)])
def test_kernel_distance_on_small_features(small: dict[str, Array], generated: str, expected: float) -> None:
    result = kernel_distance(real=small["train"], generated=small[generated])
    assert result.mmd2 == pytest.approx(expected, rel=1e-9)
    assert np.isnan(result.deviation)


def test_kernel_distance_over_subsets(small: dict[str, Array]) -> None:
    result = kernel_distance(real=small["train"], generated=small["gen"], subsets=Subsets(size=100))
    assert result.mmd2 == pytest.approx(190.8731, rel=1e-3)
    assert result.deviation == pytest.approx(231.1101, rel=1e-3)


SCENARIOS = [
    "heldout",
    "copies_of_reference",
    "shrink_0.9",
    "shrink_0.5",
    "drop_labels_5_to_9",
    "100_distinct_x30",
]


def scenario(fashion: dict[str, Array], name: str) -> Array:
    real, held_out = fashion["train"], fashion["test"]
    centre = real.mean(0)
    made: dict[str, Array] = {
        "heldout": held_out,
        "copies_of_reference": real,
        "shrink_0.9": (centre + 0.9 * (held_out - centre)).astype(np.float32),
        "shrink_0.5": (centre + 0.5 * (held_out - centre)).astype(np.float32),
        "drop_labels_5_to_9": held_out[fashion["test_label"] < 5],
        "100_distinct_x30": np.tile(held_out[:100], (30, 1)),
    }
    return made[name]


@pytest.mark.parametrize("name", SCENARIOS)
def test_neighbours_on_fashion_features(
    fashion: dict[str, Array], fashion_values: dict[str, Any], name: str
) -> None:
    expected = fashion_values[name]
    result = neighbor_metrics(
        real=fashion["train"], generated=scenario(fashion, name), ks=(1, 5), ball_ks=(3, 5), ball="open"
    )
    for k in (3, 5):
        balls, depth = result.precision_recall[k], result.density_coverage[k]
        assert balls.precision == pytest.approx(expected[f"prdc_k{k}"]["precision"], abs=1e-12)
        assert balls.recall == pytest.approx(expected[f"prdc_k{k}"]["recall"], abs=1e-12)
        assert depth.density == pytest.approx(expected[f"prdc_k{k}"]["density"], abs=1e-12)
        assert depth.coverage == pytest.approx(expected[f"prdc_k{k}"]["coverage"], abs=1e-12)
    for k in (1, 5):
        ours, values = result.chamfer[k], expected[f"chamfer_k{k}"]
        assert ours.r2g == pytest.approx(values["r2g"], rel=1e-6)
        assert ours.g2r == pytest.approx(values["g2r"], rel=1e-6)
        assert ours.baseline == pytest.approx(values["real_self"], rel=1e-6)
        assert ours.self_ratio * ours.baseline == pytest.approx(values["gen_self"], rel=1e-6)


@pytest.mark.parametrize("name", SCENARIOS)
def test_frechet_on_fashion_features(
    fashion: dict[str, Array], fashion_values: dict[str, Any], name: str
) -> None:
    result = frechet_distance(real=fashion["train"], generated=scenario(fashion, name))
    assert result.distance == pytest.approx(fashion_values[name]["fd"], rel=1e-6, abs=5e-6)


@pytest.mark.parametrize(("ball", "density"), [("open", 1.0), ("closed", 1.2)])
def test_copies_have_exact_density(fashion: dict[str, Array], ball: Ball, density: float) -> None:
    """Every decision is a tie here: rounding in any of them would show."""
    real = fashion["train"]
    assert density_coverage(real=real, generated=real.copy(), ball=ball).density == density
    assert frechet_distance(real=real, generated=real.copy()).distance == pytest.approx(0, abs=1e-8)


def wide_and_few() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    first = rng.standard_normal((100, 2048)).astype(np.float32)
    return first, (rng.standard_normal((100, 2048)) + 0.1).astype(np.float32)


def test_frechet_with_fewer_samples_than_features() -> None:
    real, generated = wide_and_few()
    result = frechet_distance(real=real, generated=generated)
    assert result.distance == pytest.approx(3406.00341661, abs=1e-6)
    assert result.flags == ("n<d",)


@pytest.mark.parametrize("offset", [1e4, -1e4])
def test_a_common_offset_does_not_change_the_frechet_distance(offset: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2000, 32)), rng.standard_normal((2000, 32)) * 1.1 + 0.2
    # On a grid that float32 holds beside the offset, so that the data themselves stay the same.
    x, y = np.round(x * 256) / 256, np.round(y * 256) / 256
    plain = frechet_distance(real=x.astype(np.float32), generated=y.astype(np.float32)).distance
    moved = frechet_distance(
        real=(x + offset).astype(np.float32), generated=(y + offset).astype(np.float32)
    ).distance
    assert moved == pytest.approx(plain, abs=1e-9)
