"""One table of all metrics of the family, and the properties that every one of them must have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.metrics.images import (
    chamfer,
    clipped_density_coverage,
    density_coverage,
    frechet_distance,
    kernel_distance,
    precision_recall,
    probabilistic_precision_recall,
    rbf_mmd,
    sliced_wasserstein_approximation,
    symmetric_precision_recall,
)

Array = npt.NDArray[Any]
K = 3


@dataclass(frozen=True)
class Case:
    """How one number behaves. `swapped` is the number that takes its place when the sets change places."""

    name: str
    measure: Callable[..., float]
    direction: int
    lo: float
    hi: float
    identical: float
    swapped: str | None
    moves_with_translation: bool = False
    whole_counts: bool = field(default=False)

    def __str__(self) -> str:
        return self.name


def read(metric: Callable[..., Any], attribute: str, **options: Any) -> Callable[..., float]:
    def measure(real: Array, generated: Array) -> float:
        value: float = getattr(metric(real=real, generated=generated, **options), attribute)
        return value

    return measure


def case(name: str, metric: Callable[..., Any], attribute: str, direction: int, **known: Any) -> Case:
    options = known.pop("options", None)
    if options is None:
        options = {"k": known.pop("k", K)}
    return Case(name, read(metric, attribute, **options), direction, **known)


CASES = [
    case("fd", frechet_distance, "distance", -1, lo=0, hi=math.inf, identical=0, swapped="fd", options={}),
    case(
        "kid",
        kernel_distance,
        "mmd2",
        -1,
        options={},
        lo=-math.inf,
        hi=math.inf,
        identical=math.nan,
        swapped="kid",
        moves_with_translation=True,
    ),
    case(
        "precision",
        precision_recall,
        "precision",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped="recall",
        whole_counts=True,
    ),
    case(
        "recall",
        precision_recall,
        "recall",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped="precision",
        whole_counts=True,
    ),
    case(
        "density",
        density_coverage,
        "density",
        1,
        lo=0,
        hi=math.inf,
        identical=1 + 1 / K,
        swapped=None,
        whole_counts=True,
    ),
    case(
        "coverage", density_coverage, "coverage", 1, lo=0, hi=1, identical=1, swapped=None, whole_counts=True
    ),
    case("r2g", chamfer, "r2g", -1, k=1, lo=0, hi=math.inf, identical=0, swapped="g2r"),
    case("g2r", chamfer, "g2r", -1, k=1, lo=0, hi=math.inf, identical=0, swapped="r2g"),
    case("chamfer", chamfer, "chamfer", -1, k=1, lo=0, hi=math.inf, identical=0, swapped="chamfer"),
    case("r2g_ratio", chamfer, "r2g_ratio", -1, k=1, lo=0, hi=math.inf, identical=0, swapped=None),
    case("g2r_ratio", chamfer, "g2r_ratio", -1, k=1, lo=0, hi=math.inf, identical=0, swapped=None),
    case("fidelity", chamfer, "fidelity", 1, k=1, lo=0, hi=1, identical=1, swapped=None),
    case("chamfer coverage", chamfer, "coverage", 1, k=1, lo=0, hi=1, identical=1, swapped=None),
    case(
        "rbf mmd",
        rbf_mmd,
        "mmd2",
        -1,
        options={"normalize": False},
        lo=-1e-9,
        hi=2000,
        identical=0,
        swapped="rbf mmd",
    ),
    case(
        "sliced approximation",
        sliced_wasserstein_approximation,
        "distance",
        -1,
        options={},
        lo=0,
        hi=math.inf,
        identical=0,
        swapped="sliced approximation",
    ),
    case(
        "symmetric precision",
        symmetric_precision_recall,
        "precision",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped=None,
        whole_counts=True,
    ),
    case(
        "symmetric recall",
        symmetric_precision_recall,
        "recall",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped=None,
        whole_counts=True,
    ),
    case(
        "clipped density",
        clipped_density_coverage,
        "density",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped=None,
        whole_counts=True,
    ),
    case(
        "clipped coverage",
        clipped_density_coverage,
        "coverage",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped=None,
        whole_counts=True,
    ),
    case(
        "p-precision",
        probabilistic_precision_recall,
        "precision",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped="p-recall",
    ),
    case(
        "p-recall",
        probabilistic_precision_recall,
        "recall",
        1,
        lo=0,
        hi=1,
        identical=1,
        swapped="p-precision",
    ),
    case("deviation, k=3", chamfer, "deviation", -1, lo=0, hi=math.inf, identical=math.nan, swapped=None),
]
BY_NAME = {entry.name: entry for entry in CASES}
every_case = pytest.mark.parametrize("entry", CASES, ids=str)


def sets(seed: int, *, n: int = 60, m: int = 60, d: int = 5) -> tuple[Array, Array]:
    """Two overlapping clouds with different means and spreads, without ties."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)) * rng.uniform(0.8, 1.3) + rng.normal(
        0, 0.3, d
    )


def close(entry: Case, value: float, expected: float) -> bool:
    return value == pytest.approx(expected, abs=0 if entry.whole_counts else 1e-9, rel=1e-9)


seeds = given(seed=st.integers(0, 10_000), n=st.integers(6, 50), m=st.integers(6, 50), d=st.integers(1, 12))


@every_case
@seeds
@settings(max_examples=25, deadline=None)
def test_values_lie_in_the_declared_range(entry: Case, seed: int, n: int, m: int, d: int) -> None:
    assert entry.lo <= entry.measure(*sets(seed, n=n, m=m, d=d)) <= entry.hi


@every_case
@seeds
@settings(max_examples=20, deadline=None)
def test_the_order_of_samples_and_features_does_not_matter(
    entry: Case, seed: int, n: int, m: int, d: int
) -> None:
    x, y = sets(seed, n=n, m=m, d=d)
    rng = np.random.default_rng(seed + 1)
    columns = rng.permutation(d)
    value = entry.measure(rng.permutation(x)[:, columns], rng.permutation(y)[:, columns])
    assert close(entry, value, entry.measure(x, y))


@every_case
@given(seed=st.integers(0, 10_000), offset=st.floats(-1000, 1000))
@settings(max_examples=20, deadline=None)
def test_rotating_and_moving_both_sets_does_not_matter(entry: Case, seed: int, offset: float) -> None:
    x, y = sets(seed)
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((x.shape[1],) * 2))[0]
    moved = [points @ rotation + (0 if entry.moves_with_translation else offset) for points in (x, y)]
    assert entry.measure(*moved) == pytest.approx(entry.measure(x, y), rel=1e-8, abs=1e-8)


@every_case
@given(seed=st.integers(0, 10_000), factor=st.floats(1e-6, 1e6))
@settings(max_examples=15, deadline=None)
def test_the_unit_of_features_sets_the_unit_of_distances(entry: Case, seed: int, factor: float) -> None:
    power = {"fd": 2, "r2g": 1, "g2r": 1, "chamfer": 1, "sliced approximation": 1}.get(entry.name, 0)
    if entry.name in ("kid", "rbf mmd"):
        return
    x, y = sets(seed)
    expected = entry.measure(x, y) * factor**power
    assert entry.measure(x * factor, y * factor) == pytest.approx(
        expected, rel=1e-8, abs=1e-12 * factor**power
    )


@every_case
@seeds
@settings(max_examples=20, deadline=None)
def test_identical_sets_get_the_best_value(entry: Case, seed: int, n: int, m: int, d: int) -> None:
    x, _ = sets(seed, n=n, d=d)
    if math.isnan(entry.identical):
        return
    assert entry.measure(x, x.copy()) == pytest.approx(entry.identical, abs=1e-9)


@every_case
@seeds
@settings(max_examples=20, deadline=None)
def test_swapping_the_sets_swaps_the_sides(entry: Case, seed: int, n: int, m: int, d: int) -> None:
    if entry.swapped is None:
        return
    x, y = sets(seed, n=n, m=m, d=d)
    assert BY_NAME[entry.swapped].measure(y, x) == pytest.approx(entry.measure(x, y), rel=1e-9, abs=1e-9)


@every_case
@given(seed=st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_moving_the_generated_samples_away_never_improves_the_value(entry: Case, seed: int) -> None:
    x, y = sets(seed)
    y += x.mean(0) - y.mean(0)
    direction = np.random.default_rng(seed).standard_normal(x.shape[1])
    direction /= np.linalg.norm(direction)
    steps = [entry.measure(x, y + step * direction) for step in (3.0, 9.0, 27.0, 81.0)]
    ranked = np.array(steps) * entry.direction
    assert (np.diff(ranked) <= 1e-12 * np.abs(ranked[1:])).all(), steps
    near = entry.measure(x, y) * entry.direction
    assert near >= ranked[0]
    if entry.name not in ("coverage", "chamfer coverage", "recall", "symmetric recall", "clipped coverage"):
        assert near > ranked[-1]


@every_case
@seeds
@settings(max_examples=15, deadline=None)
def test_the_type_of_the_same_numbers_does_not_matter(entry: Case, seed: int, n: int, m: int, d: int) -> None:
    x, y = (points.astype(np.float16) for points in sets(seed, n=n, m=m, d=d))
    expected = entry.measure(x.astype(np.float64), y.astype(np.float64))
    for dtype in (np.float16, np.float32):
        assert close(entry, entry.measure(x.astype(dtype), y.astype(dtype)), expected)
    mixed = entry.measure(x.astype(np.float32), y.astype(np.float64))
    assert close(entry, mixed, expected)


@pytest.mark.parametrize("ball", ["open", "closed"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_larger_balls_hold_more(ball: Any, seed: int) -> None:
    x, y = sets(seed)
    shares = []
    for k in (1, 2, 4, 8, 16):
        inside = precision_recall(real=x, generated=y, k=k, ball=ball)
        shares.append(
            (inside.precision, inside.recall, density_coverage(real=x, generated=y, k=k, ball=ball).coverage)
        )
    assert (np.diff(np.array(shares), axis=0) >= 0).all()


@given(seed=st.integers(0, 10_000), k=st.integers(1, 5))
@settings(max_examples=15, deadline=None)
def test_an_open_ball_holds_no_more_than_a_closed_one(seed: int, k: int) -> None:
    x, y = (np.round(points) for points in sets(seed, d=2))
    for metric, names in (
        (precision_recall, ("precision", "recall")),
        (density_coverage, ("density", "coverage")),
    ):
        opened, closed = (metric(real=x, generated=y, k=k, ball=ball) for ball in ("open", "closed"))  # type: ignore[operator]
        for name in names:
            assert getattr(opened, name) <= getattr(closed, name)
