"""Task `images.sanity`: the contestants are pairs of metrics, measured on sets of points whose likeness is known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from bench.artifacts import load_npz
from bench.datasets.images.sanity import FEWEST, Case, Points, SanitySets
from bench.errors import InvalidOutput, UsageError
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit, derived_seed
from bench.tasks.images.sanity.checks import CHECKS, MEMBERS, PARTS, Curve, Judged, judge_check
from bench.tasks.images.sanity.pairs import PAIRS

FILE = "values.npz"
Curves = Mapping[tuple[str, str], npt.NDArray[np.float64]]  # (check, variant) -> (draws, places, 2)
Measuring = Callable[[Points, Points], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SanityUnit:
    """A unit, worked out: the cases at the places of this size, `draws` seeds for each, `n` points a set."""

    cases: tuple[Case, ...]
    n: int
    draws: int
    seed: int

    def shape(self, case: Case) -> tuple[int, int, int]:
        return self.draws, len(case.places), len(MEMBERS)

    def seeds(self) -> Iterator[int]:
        return (derived_seed(self.seed, f"draw {index}") for index in range(self.draws))


class MetricSanity(Task):
    """Judges pairs of metrics by their curves.

    Artifact: `values.npz` with a float64 array (draws, places, 2) for each case, named check|variant; in the last
    axis fidelity, then diversity; NaN where a metric is not defined.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """The pair's values everywhere."""
        plan = sanity_unit(ctx.load_dataset(unit.dataset), unit)
        measure = _measure_of(adapter, ctx.device)
        values = {}
        for number, case in enumerate(plan.cases):
            ctx.progress(number, len(plan.cases))
            found = np.empty(plan.shape(case))
            for draw, seed in enumerate(plan.seeds()):
                for place in range(len(case.places)):
                    found[draw, place] = _checked(measure(*case.pair(place, seed=seed, n=plan.n)), case)
            values[_key(case)] = found
        np.savez(ctx.artifact_dir / FILE, **values)  # type: ignore[arg-type]
        return {"n": plan.n, "draws": plan.draws, "cases": len(plan.cases)}

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Shares of verdicts that are passed, the verdicts and the curves."""
        plan = sanity_unit(ctx.load_dataset(unit.dataset), unit)
        curves = _read(artifact, plan)
        judged = _verdicts(plan, curves)
        return TaskOutput(
            metrics={
                "passed": _share(judged),
                **{member: _share(j for j in judged if j.member == member) for member in MEMBERS},
                **{part: _share(j for j in judged if j.part == part) for part in PARTS},
                **{name: _share(j for j in judged if j.check == name) for name in CHECKS},
            },
            exhibits=_exhibits(plan, curves, judged, ctx.exhibit_dir),
            notes={"n": plan.n, "draws": plan.draws, "verdicts": len(judged)},
        )


def sanity_unit(sets: SanitySets, unit: Unit) -> SanityUnit:
    """Raises `UsageError` for sets that are too small."""
    n = int(unit.setting("n"))
    n = n if unit.limit is None else min(n, unit.limit)
    if n < FEWEST:
        raise UsageError(f"task {unit.task} needs at least {FEWEST} points a set, this unit has {n}")
    return SanityUnit(
        cases=sets.thinned(int(unit.setting("levels"))),
        n=n,
        draws=int(unit.setting("draws")),
        seed=derived_seed(unit.seed, "sanity"),
    )


def _measure_of(adapter: Any, device: str) -> Measuring:
    """The adapter's own pair, or the one of the bench that it names."""
    name = getattr(adapter, "pair", None)
    if name is None:
        own = getattr(adapter, "measure", None)
        if not callable(own):
            raise InvalidOutput("a pair of metrics has measure(real, generated); derive it from MetricPair")
        return own  # type: ignore[no-any-return]
    if name not in PAIRS:
        raise InvalidOutput(f"there is no pair {name!r}; the bench has {', '.join(PAIRS)}")
    measure = PAIRS[name]
    return lambda *pair: measure(*(torch.from_numpy(points).to(device) for points in pair))


def _checked(found: Any, case: Case) -> npt.NDArray[np.float64]:
    values = np.asarray(found, dtype=np.float64)
    if values.shape != (len(MEMBERS),) or np.isinf(values).any():
        raise InvalidOutput(
            f"measure returned {str(found)[:80]} in {_key(case)}; two numbers are expected, fidelity and diversity"
        )
    return values


def _key(case: Case) -> str:
    return f"{case.check}|{case.variant}"


def _read(artifact: Artifact, plan: SanityUnit) -> Curves:
    arrays = load_npz(artifact.path(FILE), [_key(case) for case in plan.cases])
    found = {}
    for case in plan.cases:
        array = arrays[_key(case)]
        if array.shape != plan.shape(case) or array.dtype.kind != "f" or np.isinf(array).any():
            raise InvalidOutput(
                f"{FILE}[{_key(case)}]: expected floats {plan.shape(case)}, none of them infinite"
            )
        found[case.check, case.variant] = array.astype(np.float64)
    return found


def _verdicts(plan: SanityUnit, curves: Curves) -> list[Judged]:
    return [
        verdict
        for name in CHECKS
        for index, member in enumerate(MEMBERS)
        for verdict in judge_check(
            name,
            member,
            {
                case.variant: Curve(case.places, _mean(curves[name, case.variant], index))
                for case in plan.cases
                if case.check == name
            },
        )
    ]


def _mean(values: npt.NDArray[np.float64], member: int) -> list[float]:
    """Over the draws; NaN where one is."""
    return [float(value) for value in values[:, :, member].mean(axis=0)]


def _share(judged: Any) -> Measure:
    found = list(judged)
    right = sum(verdict.passed for verdict in found)
    reason = f"no interval: {right} of {len(found)} verdicts, on checks that were chosen, not drawn"
    return Measure(value=right / len(found), n=len(found), reason=reason)


def _exhibits(plan: SanityUnit, curves: Curves, judged: list[Judged], folder: Path) -> tuple[Exhibit, ...]:
    verdicts = [
        {
            "check": j.check,
            "title": CHECKS[j.check].title,
            "member": j.member,
            "part": j.part,
            "passed": j.passed,
            "missed": "; ".join(j.missed),
        }
        for j in judged
    ]
    lines = [
        {
            "check": case.check,
            "variant": case.variant,
            "member": member,
            "axis": CHECKS[case.check].axis,
            "x": [_rounded(place) for place in case.places],
            "y": [_rounded(value) for value in _mean(curves[case.check, case.variant], index)],
        }
        for case in plan.cases
        for index, member in enumerate(MEMBERS)
    ]
    shown = {
        "verdicts": (verdicts, "Every verdict, and what is not met"),
        "curves": (lines, "Mean values over the draws, by check, variant and member of the pair"),
    }
    for name, (records, _) in shown.items():
        (folder / f"{name}.json").write_text(json.dumps(records, allow_nan=False), encoding="utf-8")
    return tuple(
        Exhibit(name=name, kind="table", file=f"{name}.json", caption=caption)
        for name, (_, caption) in shown.items()
    )


def _rounded(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None
