"""Pairs of made sets of points whose likeness is known: the 15 checks of metrics of Räisä et al. (2025).

A check is a family of curves, one for each variant (a number of dimensions, or a role); along a curve one thing
changes, and at each place of it there is a pair of sets: real points and generated ones, standardised by the mean
and standard deviation of the real ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Maker = Callable[[np.random.Generator, float, int], Points]

FEWEST = 24  # points of a set
_N = 1000  # of the publication; where the number of points changes, places are numbers of points at this n
_REACH = {1: 6.0, 8: 3.0, 64: 1.0}  # dimensions -> mean at which nothing overlaps
_DECADES = {1: 3.0, 8: 1.0, 64: 0.5}
_SPREAD = {1: 1 / 6, 8: 1 / 3, 64: 1.0}  # of a mode
_MODES = 10
_OVERLAP = 0.2  # volume that two hypercubes share
_PARETO = 1.01
_BALL, _RING, _TUBE = 0.8, 1.0, 0.1  # radii: a ball in the hole of a torus


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One check in one variant. `places` are in rising order; `fresh`: real points are drawn anew at each of them."""

    check: str
    variant: str
    places: tuple[float, ...]
    real: Maker
    generated: Maker
    fresh: bool = False

    def pair(self, index: int, *, seed: int, n: int) -> tuple[Points, Points]:
        """Real and generated points, (n or about n, d) each, at `places[index]`; same arguments, same points."""
        stream = zlib.crc32(f"{self.check}|{self.variant}".encode())
        place = self.places[index]
        real = self.real(np.random.default_rng([seed, stream, 0, index if self.fresh else 0]), place, n)
        generated = self.generated(np.random.default_rng([seed, stream, 1, index]), place, n)
        return standardised(real, generated)


@dataclass(frozen=True, slots=True)
class SanitySets:
    """All cases at the places of the publication."""

    cases: tuple[Case, ...]

    def thinned(self, levels: int) -> tuple[Case, ...]:
        """The same with about `levels` places a case: both ends, those at which sets are equal, and some between."""
        return tuple(_thin(case, levels) for case in self.cases)


def load() -> SanitySets:
    """The cases; nothing is drawn yet."""
    return SanitySets(_cases())


def content_sha256() -> str:
    """Of names and places: points follow from these and the seed."""
    described = [(c.check, c.variant, [f"{place:.9g}" for place in c.places]) for c in _cases()]
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()


def standardised(real: Points, generated: Points) -> tuple[Points, Points]:
    """Both sets less the mean of the real one, over its standard deviation; constant dimensions are only shifted.

    >>> real, generated = standardised(np.array([[0.0], [2.0]]), np.array([[3.0]]))
    >>> real.ravel().tolist(), generated.ravel().tolist()
    ([-1.0, 1.0], [2.0])
    """
    mean, spread = real.mean(axis=0), real.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (real - mean) / spread, (generated - mean) / spread


def _thin(case: Case, levels: int) -> Case:
    count = len(case.places)
    kept = set(np.linspace(0, count - 1, min(levels, count)).round().astype(int).tolist())
    kept |= {index for index, place in enumerate(case.places) if place == EQUAL.get(case.check)}
    return Case(
        check=case.check, variant=case.variant, places=tuple(case.places[index] for index in sorted(kept)),
        real=case.real, generated=case.generated, fresh=case.fresh,
    )  # fmt: skip


#: Check -> the place at which both sets have the same distribution, where there is one.
EQUAL: Mapping[str, float] = {
    "mean_shift": 0.0,
    "outlier": 0.0,
    "std_ratio": 1.0,
    "thinned_modes": 0.0,
    "dropped_modes": 0.0,
    "invented_modes": 5.0,
    "sphere": 1.0,
    "two_modes": 0.0,
    "pareto": 0.0,
}


def _gaussian(d: int, mean: float = 0.0, spread: float = 1.0) -> Maker:
    return lambda rng, _, n: mean + spread * rng.standard_normal((n, d))


def _shifted(d: int) -> Maker:
    return lambda rng, place, n: place + rng.standard_normal((n, d))


def _with_outlier(make: Maker, at: float) -> Maker:
    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        points = make(rng, place, n)
        return np.concatenate([points, np.full((1, points.shape[1]), at)])

    return made


def _scaled(d: int) -> Maker:
    return lambda rng, place, n: place * rng.standard_normal((n, d))


def mixture(
    rng: np.random.Generator, centres: Points, spread: float, shares: Sequence[float], n: int
) -> Points:
    """n points about `centres` (modes, d), of which each has its share; shares sum to 1."""
    return centres[rng.choice(len(centres), size=n, p=shares)] + spread * rng.standard_normal(
        (n, centres.shape[1])
    )


def _row(d: int) -> Points:
    """Modes on the diagonal, from 0 to 10."""
    return np.repeat(np.linspace(0.0, 10.0, _MODES)[:, None], d, axis=1)


def _first_thinned(d: int) -> Maker:
    """All modes but the first lose the share `place` of their points."""

    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        weights = np.array([1.0] + [1.0 - place] * (_MODES - 1))
        return mixture(rng, _row(d), _SPREAD[d], weights / weights.sum(), n)

    return made


def _last_dropped(d: int) -> Maker:
    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        kept = _MODES - round(place)
        return mixture(rng, _row(d)[:kept], _SPREAD[d], [1 / kept] * kept, n)

    return made


def _wheel(rng: np.random.Generator, place: float, n: int) -> Points:
    """The first `place` of ten modes on a circle: five real ones in every other place, then five between them."""
    angles = 2 * math.pi * np.array([0, 2, 4, 6, 8, 1, 3, 5, 7, 9]) / 10
    centres = 10 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    count = round(place)
    return mixture(rng, centres[:count], 0.25, [1 / count] * count, n)


def _sphere(d: int, radius: float | None = None) -> Maker:
    """The surface of a sphere, of radius `place` where none is given."""

    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        points = rng.standard_normal((n, d))
        norms = np.sqrt((points**2).sum(axis=1, keepdims=True))
        found: Points = (place if radius is None else radius) * points / norms
        return found

    return made


def _cube(d: int, start: float, varies: bool) -> Maker:
    """[start, start + 1]^d; with `place` points (of 1000) where their number varies."""
    return lambda rng, place, n: rng.uniform(start, start + 1, (_count(place, n) if varies else n, d))


def _count(place: float, n: int) -> int:
    return max(FEWEST, round(place * n / _N))


def ball(rng: np.random.Generator, n: int) -> Points:
    """A ball of radius .8 about the origin."""
    points = rng.standard_normal((n, 3))
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    found: Points = _BALL * points / norms * rng.random((n, 1)) ** (1 / 3)
    return found


def torus(rng: np.random.Generator, n: int) -> Points:
    """A ring of radius 1, its tube of radius .1; each cross-section is filled evenly."""
    turn, around = 2 * math.pi * rng.random((2, n))
    reach = _TUBE * np.sqrt(rng.random(n))
    out = _RING + reach * np.cos(around)
    return np.stack([out * np.cos(turn), out * np.sin(turn), reach * np.sin(around)], axis=1)


def _two_modes(d: int) -> Maker:
    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        centres = np.repeat(np.array([[-place / 2], [place / 2]]), d, axis=1)
        return mixture(rng, centres, 1.0, (0.5, 0.5), n)

    return made


def _one_mode(d: int) -> Maker:
    return lambda rng, place, n: math.sqrt(1 + place**2) * rng.standard_normal((n, d))


def _stretched(mean: float) -> Maker:
    """Two dimensions; `mean` in the first, the second multiplied by `place`."""
    return lambda rng, place, n: rng.standard_normal((n, 2)) * [1.0, place] + [mean, 0.0]


def _heavy(shifts: bool) -> Maker:
    """A Gaussian dimension, about `place` if it shifts, and one with a heavy tail."""

    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        first = rng.standard_normal(n) + (place if shifts else 0.0)
        return np.stack([first, 1 + rng.pareto(_PARETO, n)], axis=1)

    return made


def _one_apart(mean: float) -> Maker:
    """`mean` in the first dimension, and `place` more dimensions about 0."""

    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        points = rng.standard_normal((n, round(place) + 1))
        points[:, 0] += mean
        return points

    return made


def _rounded(whole: bool) -> Maker:
    def made(rng: np.random.Generator, place: float, n: int) -> Points:
        points = place * rng.standard_normal((n, 1))
        return np.round(points) if whole else points

    return made


def _powers(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(float(value) for value in np.logspace(low, high, count))


def _steps(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(round(float(value), 12) for value in np.linspace(low, high, count))


_SIZES = tuple(float(int(value)) for value in _powers(2, 4, 20))  # 100 to 10,000 points
_DIMS = (1, 8, 64)


def _cases() -> tuple[Case, ...]:
    plane, extra = _powers(-3, 3, 20), tuple(dict.fromkeys(float(int(v)) for v in _powers(0, 3, 20)))
    cube_starts = {d: 1 - _OVERLAP ** (1 / d) for d in _DIMS}
    made: list[Case] = []

    def add(
        check: str, variant: str, places: tuple[float, ...], real: Maker, generated: Maker, **how: bool
    ) -> None:
        made.append(Case(check=check, variant=variant, places=places, real=real, generated=generated, **how))

    for d in _DIMS:
        add("mean_shift", f"d={d}", _steps(-_REACH[d], _REACH[d], 51), _gaussian(d), _shifted(d))
    for d in _DIMS:
        places, real, far = _steps(-_REACH[d], _REACH[d], 51), _gaussian(d), _REACH[d]
        add("outlier", f"d={d}, real", places, _with_outlier(real, far), _shifted(d))
        add("outlier", f"d={d}, generated", places, real, _with_outlier(_shifted(d), far))
    for d in _DIMS:
        powers = _powers(-_DECADES[d], _DECADES[d], 51)
        add("std_ratio", f"d={d}", (*powers[:25], 1.0, *powers[26:]), _gaussian(d), _scaled(d))
    for d in _DIMS:
        real = _at(_last_dropped(d), 0.0)
        add("thinned_modes", f"d={d}", _steps(0, 1, 50), real, _first_thinned(d))
    for d in _DIMS:
        add("dropped_modes", f"d={d}", _steps(0, 9, 10), _at(_last_dropped(d), 0.0), _last_dropped(d))
    add("invented_modes", "d=2", _steps(1, 10, 10), _at(_wheel, 5.0), _wheel)
    for d in (2, 16, 128):
        add("sphere", f"d={d}", _steps(0.1, 1.9, 51), _sphere(d, 1.0), _sphere(d))
    for d in _DIMS:
        add("cubes_n", f"d={d}", _SIZES, _cube(d, 0.0, True), _cube(d, cube_starts[d], True), fresh=True)
    for d in _DIMS:
        add("cubes_m", f"d={d}", _SIZES, _cube(d, 0.0, False), _cube(d, cube_starts[d], True))
    solid: Maker = lambda rng, _, n: ball(rng, n)  # noqa: E731
    hollow: Maker = lambda rng, _, n: torus(rng, n)  # noqa: E731
    add("torus", "real ball", _SIZES, solid, lambda rng, place, n: torus(rng, _count(place, n)))
    add("torus", "real torus", _SIZES, hollow, lambda rng, place, n: ball(rng, _count(place, n)))
    for d in _DIMS:
        add("two_modes", f"d={d}", _steps(0, 5, 20), _two_modes(d), _one_mode(d), fresh=True)
    add("scaled_dimension", "d=2", plane, _stretched(0.0), _stretched(6.0), fresh=True)
    add("pareto", "d=2", _steps(-6, 6, 51), _heavy(False), _heavy(True))
    add("disjoint_dimension", "d=2 and more", extra, _one_apart(0.0), _one_apart(6.0), fresh=True)
    add("rounded", "real whole", _powers(0, 3, 20), _rounded(True), _rounded(False), fresh=True)
    add("rounded", "generated whole", _powers(0, 3, 20), _rounded(False), _rounded(True), fresh=True)
    return tuple(made)


def _at(make: Maker, place: float) -> Maker:
    """Always as at `place`."""
    return lambda rng, _, n: make(rng, place, n)
