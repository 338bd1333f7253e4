"""Runs the scenarios and judges the metrics: the verdicts, and how many of them are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bench.metrics.images.verdicts import Verdict, judge, steadiness
from bench.spec import Measure
from bench.tasks.images.audit.audited import AUDITED, Measuring, Values
from bench.tasks.images.audit.pools import DRAWS
from bench.tasks.images.audit.scenarios import Aspect, Material, Scenario, scenarios

K = "k"  # the scenario that changes the metrics, not the samples
ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a metric does in a scenario, and what it should do: "tracks", "blind", "steady", or "any" but be fooled."""

    metric: str
    scenario: Scenario
    verdict: Verdict
    expected: str

    @property
    def is_right(self) -> bool:
        if self.expected == ANY:
            return self.verdict.word != "fooled"
        return self.verdict.word == self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """`held_out`: values on the held-out draws; `curves[scenario]`: values at each severity."""

    names: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    held_out: tuple[Values, ...]
    curves: Mapping[str, tuple[Values, ...]]
    judged: tuple[Judged, ...]

    def share(self, metric: str | None, aspect: str | None = None) -> Measure:
        """Share of right verdicts, of one metric or of all; over scenarios that damage `aspect` where it is given."""
        found = [j for j in self.judged if metric in (None, j.metric) and _concerns(j.scenario, aspect)]
        if not found:
            return Measure(
                value=None, reason="not defined on the held-out images, or in no scenario of this kind"
            )
        right = sum(j.is_right for j in found)
        reason = f"no interval: {right} of {len(found)} verdicts, on scenarios that were chosen, not drawn"
        return Measure(value=right / len(found), n=len(found), reason=reason)


def examine(material: Material, measuring: Measuring, progress: Callable[[int, int], None]) -> Findings:
    """Measure every scenario at every severity and judge."""
    made = scenarios(material.plan)
    names = measuring.names()
    held_out = tuple(measuring.values(*material.draw(index)) for index in range(DRAWS))
    curves: dict[str, tuple[Values, ...]] = {}
    for number, scenario in enumerate(made):
        progress(number, len(made))
        curves[scenario.name] = tuple(
            _mean(
                measuring.at_k(*pair, k=round(level)) if scenario.name == K else measuring.values(*pair)
                for pair in scenario.build(material, level)
            )
            for level in scenario.levels
        )
    judged = tuple(
        found
        for scenario in made
        for name in names
        if (found := _judged(name, scenario, curves[scenario.name], held_out)) is not None
    )
    return Findings(names=names, scenarios=made, held_out=held_out, curves=curves, judged=judged)


def _mean(found: Iterable[Values]) -> Values:
    """Metric by metric; nan where one is nan."""
    several = list(found)
    return {name: sum(values[name] for values in several) / len(several) for name in several[0]}


def _judged(
    name: str, scenario: Scenario, curve: tuple[Values, ...], held_out: tuple[Values, ...]
) -> Judged | None:
    """None where the metric cannot be judged: it has no k, or is not defined at some severity."""
    values = [found.get(name, math.nan) for found in curve]
    draws = [found[name] for found in held_out]
    if not all(map(math.isfinite, (*values, *draws))):
        return None
    audited = AUDITED[name]
    if not scenario.damages:
        verdict = steadiness(values=values, held_out=draws, worse=audited.worse, spread=scenario.scatter)
        return Judged(metric=name, scenario=scenario, verdict=verdict, expected="steady")
    verdict = judge(values=values, held_out=draws, worse=audited.worse)
    return Judged(
        metric=name, scenario=scenario, verdict=verdict, expected=_expected(audited.aspects, scenario.damages)
    )


def _expected(claimed: tuple[Aspect, ...], damaged: tuple[Aspect, ...]) -> str:
    """What a metric that claims to measure some aspects should do where others are damaged.

    Samples that are no longer like real ones leave fewer that are: a metric of coverage may notice, but need not.
    """
    if set(claimed) & set(damaged):
        return "tracks"
    return ANY if "fidelity" in damaged and "coverage" in claimed else "blind"


def _concerns(scenario: Scenario, aspect: str | None) -> bool:
    if aspect is None:
        return True
    return aspect in scenario.damages if aspect else not scenario.damages
