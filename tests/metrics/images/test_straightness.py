"""Straightness of flows whose trajectories are known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bench.metrics.images import chord_straightness, straightness, trajectory_straightness

Array = npt.NDArray[np.floating]
MEAN, SPREAD = np.array([3.0, -1.0]), 0.5


def start(n: int = 400) -> Array:
    return np.random.default_rng(0).standard_normal((n, 2))


def independent(x: Array, t: Array) -> Array:
    """Flow from N(0, I) to N(MEAN, SPREAD^2 I) with independent coupling."""
    time = t[:, None]
    variance = (1 - time) ** 2 + time**2 * SPREAD**2
    moved: Array = MEAN + (time * SPREAD**2 - (1 - time)) * (x - time * MEAN) / variance
    return moved


def to_two_points(x: Array, t: Array) -> Array:
    """Exact flow matching to the finite training set {-4, 4}."""
    points, time = np.array([-4.0, 4.0]), t[:, None]
    logits = -((x - time * points) ** 2) / (2 * (1 - time) ** 2)
    weights = np.exp(logits - logits.max(1, keepdims=True))
    target = (weights * points).sum(1, keepdims=True) / weights.sum(1, keepdims=True)
    velocity: Array = (target - x) / (1 - time)
    return velocity


def test_one_euler_step_of_independent_coupling_ends_at_the_mean() -> None:
    x = start()
    assert x + independent(x, np.zeros(len(x))) == pytest.approx(np.tile(MEAN, (len(x), 1)), abs=1e-12)


def test_value_follows_from_the_flow_map() -> None:
    """x_t = t m + sqrt((1-t)^2 + t^2 s^2) x_0, so that velocity and chord are known at every time."""
    x, times = start(), np.arange(10) / 10
    root = np.sqrt((1 - times) ** 2 + times**2 * SPREAD**2)
    slope = (times * SPREAD**2 - (1 - times)) / root
    bend = ((slope - (SPREAD - 1)) ** 2).mean() * (x**2).sum()
    expected = bend / ((MEAN + (SPREAD - 1) * x) ** 2).sum()
    fine = straightness(velocity=independent, start=x, steps=20_000)
    assert fine.value == pytest.approx(expected, rel=1e-3)
    assert fine.times == pytest.approx(tuple(times))
    assert straightness(velocity=independent, start=x).value == pytest.approx(expected, rel=0.1)


def test_the_coupling_by_translation_is_straight() -> None:
    result = straightness(velocity=lambda x, t: np.broadcast_to(MEAN, x.shape), start=start())
    assert result.value == pytest.approx(0, abs=1e-25)


def test_exact_flow_to_two_separated_points_bends() -> None:
    assert straightness(velocity=to_two_points, start=start()[:, :1]).value > 0.1


def test_images_keep_their_shape_and_the_start_is_left_alone() -> None:
    images = np.random.default_rng(0).standard_normal((4, 1, 3, 3)).astype(np.float32)
    before, seen = images.copy(), []

    def velocity(x: Any, t: Any) -> Any:
        seen.append((x.shape, t.shape))
        return -x

    straightness(velocity=velocity, start=images)
    assert set(seen) == {((4, 1, 3, 3), (4,))}
    assert len(seen) == 100
    assert np.array_equal(images, before)


def test_given_trajectories_say_the_same_as_their_velocity() -> None:
    x, path = start(), [start()]
    for step in range(10):
        path.append(path[-1] + independent(path[-1], np.full(len(x), step / 10)) / 10)
    given = trajectory_straightness(points=np.stack(path))
    assert given.value == pytest.approx(straightness(velocity=independent, start=x, steps=10).value, rel=1e-9)
    assert trajectory_straightness(points=np.stack([x, 2 * x, 3 * x])).value == pytest.approx(0, abs=1e-25)


def test_detours_count_and_points_that_stay_have_no_value() -> None:
    """Out and half-way back: chord 1, speeds 4 and -2."""
    assert trajectory_straightness(points=np.array([[[0.0]], [[2]], [[1]]])).value == pytest.approx(9)
    assert np.isnan(trajectory_straightness(points=np.zeros((3, 2, 1))).value)


def test_bad_velocities_and_steps() -> None:
    with pytest.raises(ValueError, match=r"\(400, 2\), got \(400,\)"):
        straightness(velocity=lambda x, t: t, start=start())
    with pytest.raises(ValueError, match="not finite"):
        straightness(velocity=lambda x, t: x * np.nan, start=start())
    with pytest.raises(ValueError, match="multiple of times, got 15 and 10"):
        straightness(velocity=independent, start=start(), steps=15)
    with pytest.raises(ValueError, match="at least one step"):
        trajectory_straightness(points=np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="must be finite"):
        trajectory_straightness(points=np.full((2, 2, 2), np.inf))


def test_ends_and_a_few_velocities_give_what_following_the_flow_gives() -> None:
    point, velocities = start(50), []
    for step in range(100):
        speed = independent(point, np.full(len(point), step / 100))
        if step % 10 == 0:
            velocities.append(speed)
        point = point + speed / 100
    found = chord_straightness(start=start(50), end=point, velocities=np.stack(velocities))
    expected = straightness(velocity=independent, start=start(50))
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.times == expected.times


@pytest.mark.parametrize(
    ("velocities", "message"),
    [
        (np.zeros((10, 4, 3)), r"\(10, 4, 3\), \(4, 2\) and \(4, 2\)"),
        (np.zeros((0, 4, 2)), "velocities must be"),
        (np.full((1, 4, 2), np.nan), "must be finite"),
    ],
)
def test_trajectories_that_do_not_fit_are_refused(velocities: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chord_straightness(start=np.zeros((4, 2)), end=np.ones((4, 2)), velocities=velocities)
