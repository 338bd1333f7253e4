"""Straightness of the trajectories of a flow: 0 for lines run at constant speed, which one step can follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]
Velocity = Callable[[Array, Array], Array]
"""Velocities like x (n, ...) of points x (n, ...) at times t (n,) in [0, 1)."""


@dataclass(frozen=True)
class Straightness:
    """value >= 0, lower better: mean |v(x_t, t) - (x_1 - x_0)|^2 over ten times / mean |x_1 - x_0|^2.

    1 would be the value of a velocity of 0; nan when no point moves.
    """

    value: float
    times: tuple[float, ...]


def straightness(*, velocity: Velocity, start: Array, steps: int = 100, times: int = 10) -> Straightness:
    """Follow `velocity` from `start` (n, ...) by `steps` Euler steps from time 0 to 1 and compare it with the chord.

    `times` of the steps, evenly spaced from the first one on, are compared. Raises ValueError when a velocity has
    another shape, is not finite, or `steps` is no multiple of `times`.

    The measure of Liu, Gong, Liu, "Flow Straight and Fast", ICLR 2023, divided by the squared length of the chord.

    >>> import numpy as np
    >>> start = np.array([[0.0], [1.0]])
    >>> straightness(velocity=lambda x, t: np.full_like(x, 3.0), start=start).value < 1e-25
    True
    """
    if times < 1 or steps < 1 or steps % times:
        raise ValueError(f"steps must be a multiple of times, got {steps} and {times}")
    first = np.asarray(start, dtype=np.float64)
    point, seen = first.copy(), []
    for step in range(steps):
        speed = _checked(velocity(point, np.full(len(point), step / steps)), point)
        if step % (steps // times) == 0:
            seen.append(speed)
        point = point + speed / steps
    at = tuple(step / times for step in range(times))
    return _compare(np.stack(seen), point - first, at)


def trajectory_straightness(*, points: Array) -> Straightness:
    """Straightness of given trajectories: `points` (steps + 1, n, ...) at evenly spaced times from 0 to 1.

    Velocities are the differences between consecutive points. Raises ValueError for fewer than two times.
    """
    path = np.asarray(points, dtype=np.float64)
    if path.ndim < 2 or len(path) < 2:
        raise ValueError(f"points must be (steps + 1, n, ...) with at least one step, got shape {path.shape}")
    if not np.isfinite(path).all():
        raise ValueError("points must be finite")
    steps = len(path) - 1
    at = tuple(step / steps for step in range(steps))
    return _compare(np.diff(path, axis=0) * steps, path[-1] - path[0], at)


def chord_straightness(*, start: Array, end: Array, velocities: Array) -> Straightness:
    """Straightness of trajectories of which only the ends and some velocities on the way were kept.

    start, end: (n, ...), velocities: (times, n, ...) at evenly spaced times from 0 on. Raises ValueError for shapes
    that do not fit and values that are not finite.
    """
    first, last, speeds = (np.asarray(part, dtype=np.float64) for part in (start, end, velocities))
    if speeds.ndim < 2 or not len(speeds) or not first.shape == last.shape == speeds.shape[1:]:
        raise ValueError(
            "velocities must be (times, n, ...) like start and end (n, ...), got "
            f"{speeds.shape}, {first.shape} and {last.shape}"
        )
    if not all(np.isfinite(part).all() for part in (first, last, speeds)):
        raise ValueError("start, end and velocities must be finite")
    return _compare(speeds, last - first, tuple(step / len(speeds) for step in range(len(speeds))))


def _compare(speeds: Array, chord: Array, times: tuple[float, ...]) -> Straightness:
    length = float((chord**2).sum())
    bend = float(((speeds - chord) ** 2).sum()) / len(speeds)
    return Straightness(bend / length if length > 0 else float("nan"), times)


def _checked(speed: Array, point: Array) -> Array:
    found = np.asarray(speed, dtype=np.float64)
    if found.shape != point.shape:
        raise ValueError(f"velocity must return an array like x, {point.shape}, got {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError("velocity returned values that are not finite")
    return found
