"""What each check asks of a metric of fidelity and of one of diversity, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench.datasets.images.sanity import EQUAL
from bench.metrics.images.curve_shapes import (
    falls,
    falls_early,
    is_bell,
    is_close,
    is_flat,
    rises,
    settles,
)

Part = Literal["shape", "values"]
Reading = Literal["yes", "no", "low", "high"]
PARTS: tuple[Part, ...] = ("shape", "values")
MEMBERS = ("fidelity", "diversity")


@dataclass(frozen=True, slots=True)
class Curve:
    """Means of a metric over the draws at each place of one case."""

    places: Sequence[float]
    values: Sequence[float]

    def at(self, place: float) -> int:
        return min(range(len(self.places)), key=lambda index: abs(self.places[index] - place))


@dataclass(frozen=True, slots=True)
class Criterion:
    """`words` say what is asked, in `variant` alone if one is named.

    Either of two readings of diversity may be asked for: then `holds` says which.
    """

    part: Part
    words: str
    holds: Callable[[Curve], Reading]
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """`asks`: criteria by member of a pair; `axis`: what changes along the curve."""

    title: str
    axis: str
    asks: Mapping[str, tuple[Criterion, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Whether one member of a pair meets one part of a check in all its variants; `missed`: what it does not."""

    check: str
    member: str
    part: Part
    missed: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.missed


def judge_check(name: str, member: str, curves: Mapping[str, Curve]) -> tuple[Judged, ...]:
    """The verdicts on one member in one check, from its curves by variant.

    Where generated points spread wider than real ones a metric of diversity may be high, as real points are reached,
    or low, as few generated ones are near them; but it has to decide for the same in all variants.
    """
    found = []
    for part in PARTS:
        asked = [criterion for criterion in CHECKS[name].asks[member] if criterion.part == part]
        read = {
            f"{criterion.words}, {variant}": criterion.holds(curve)
            for variant, curve in curves.items()
            for criterion in asked
            if criterion.variant in ("", variant)
        }
        missed = tuple(words for words, reading in read.items() if reading == "no")
        if not missed and {"low", "high"} <= set(read.values()):
            missed = ("low in one place and high in another",)
        found.append(Judged(check=name, member=member, part=part, missed=missed))
    return tuple(found)


def _said(holds: bool) -> Reading:
    return "yes" if holds else "no"


def _shape(words: str, holds: Callable[[Sequence[float]], bool]) -> Criterion:
    return Criterion("shape", words, lambda curve: _said(holds(curve.values)))


def _bell(place: float) -> Criterion:
    return Criterion("shape", "bell", lambda curve: _said(is_bell(curve.values, peak=curve.at(place))))


def _equal(check: str) -> Criterion:
    place = EQUAL[check]
    return Criterion(
        "values", "equal sets give 1", lambda curve: _said(is_close(curve.values[curve.at(place)], 1.0))
    )


def _first(target: float, words: str) -> Criterion:
    return Criterion(
        "values", f"{words} give {target:g}", lambda curve: _said(is_close(curve.values[0], target))
    )


def _last(target: float, words: str) -> Criterion:
    return Criterion(
        "values", f"{words} give {target:g}", lambda curve: _said(is_close(curve.values[-1], target))
    )


def _either(
    part: Part, words: str, *, low: Callable[[Curve], bool], high: Callable[[Curve], bool]
) -> Criterion:
    def holds(curve: Curve) -> Reading:
        return "low" if low(curve) else "high" if high(curve) else "no"

    return Criterion(part, words, holds)


def _low_or_high(index: int, words: str) -> Criterion:
    return _either(
        "values",
        f"{words} give 0 or 1",
        low=lambda curve: is_close(curve.values[index], 0.0),
        high=lambda curve: is_close(curve.values[index], 1.0),
    )


_FLAT = _shape("flat", is_flat)
_FALLS, _RISES = _shape("falls", falls), _shape("rises", rises)
_SETTLES = _shape("settles", settles)
_APART = (_first(0, "disjoint sets at the start"), _last(0, "disjoint sets at the end"))
_BELL_OR_RISES = _either(
    "shape", "bell, or rises", low=lambda curve: is_bell(curve.values, peak=curve.at(1.0)),
    high=lambda curve: rises(curve.values),
)  # fmt: skip
_FALLS_OR_FLAT = _either(
    "shape", "falls, or flat", low=lambda curve: falls(curve.values), high=lambda curve: is_flat(curve.values)
)


def _both(*criteria: Criterion) -> dict[str, tuple[Criterion, ...]]:
    return dict.fromkeys(MEMBERS, criteria)


def _each(fidelity: Iterable[Criterion], diversity: Iterable[Criterion]) -> dict[str, tuple[Criterion, ...]]:
    return {"fidelity": tuple(fidelity), "diversity": tuple(diversity)}


def _falls_early(share: float) -> Criterion:
    return _shape("falls in time", lambda values: falls_early(values, share=share))


def _ends(target: float, variant: str) -> tuple[Criterion, ...]:
    ends = (_first(target, "few whole numbers"), _last(target, "many whole numbers"))
    return tuple(replace(criterion, variant=variant) for criterion in ends)


def _either_end(variant: str) -> tuple[Criterion, ...]:
    ends = (_low_or_high(0, "few whole numbers"), _low_or_high(-1, "many whole numbers"))
    return tuple(replace(criterion, variant=variant) for criterion in ends)


_LOST = _last(1, "real modes alone")

CHECKS: Mapping[str, Check] = {
    "mean_shift": Check("Mean", "mean of generated points", _both(_bell(0.0), _equal("mean_shift"), *_APART)),
    "outlier": Check(
        "Mean, one outlier", "mean of generated points", _both(_bell(0.0), _equal("outlier"), *_APART)
    ),
    "std_ratio": Check(
        "Spread",
        "standard deviation, generated over real",
        _each(
            (_FALLS, _equal("std_ratio"), _first(1, "narrow points"), _last(0, "wide points")),
            (
                _BELL_OR_RISES,
                _equal("std_ratio"),
                _first(0, "narrow points"),
                _low_or_high(-1, "wide points"),
            ),
        ),
    ),
    "thinned_modes": Check(
        "Modes thinned",
        "share of points lost by nine of ten modes",
        _each(
            (_FLAT, _equal("thinned_modes"), _LOST),
            (_falls_early(0.95), _equal("thinned_modes")),
        ),
    ),
    "dropped_modes": Check(
        "Modes dropped",
        "modes dropped of ten",
        _each(
            (_FLAT, _equal("dropped_modes"), _LOST),
            (_falls_early(0.5), _equal("dropped_modes")),
        ),
    ),
    "invented_modes": Check(
        "Modes invented",
        "generated modes; five are real",
        _each(
            (_FALLS, _equal("invented_modes"), _first(1, "real modes alone")),
            (_RISES, _equal("invented_modes"), _last(1, "all real modes and others")),
        ),
    ),
    "sphere": Check("Sphere", "radius of generated points", _both(_bell(1.0), _equal("sphere"), *_APART)),
    "cubes_n": Check(
        "Cubes, both sizes",
        "points of both sets",
        _both(_SETTLES, _last(0.2, "a fifth of the volume shared")),
    ),
    "cubes_m": Check(
        "Cubes, one size", "generated points", _both(_SETTLES, _last(0.2, "a fifth of the volume shared"))
    ),
    "torus": Check("Ball in a torus", "generated points", _both(_SETTLES, _last(0, "disjoint sets"))),
    "two_modes": Check(
        "Two modes as one",
        "distance of the real modes",
        _each((_FALLS, _equal("two_modes")), (_FALLS_OR_FLAT, _equal("two_modes"))),
    ),
    "scaled_dimension": Check("Unit of a dimension", "factor", _both(_FLAT, *_APART)),
    "pareto": Check(
        "Mean, heavy tail", "mean of generated points", _both(_bell(0.0), _equal("pareto"), *_APART)
    ),
    "disjoint_dimension": Check("One dimension apart", "other dimensions", _both(_FLAT, *_APART)),
    "rounded": Check(
        "Whole numbers",
        "standard deviation before rounding",
        _each(
            (_FLAT, *_ends(0.0, "real whole"), *_ends(1.0, "generated whole")),
            (_FLAT, *_either_end("real whole"), *_ends(0.0, "generated whole")),
        ),
    ),
}
