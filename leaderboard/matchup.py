"""Two models side by side on every task they share: what `bench compare` prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.errors import UsageError
from bench.leaderboard import pairing, undeclared
from bench.leaderboard.lines import UPPER_BOUND_TAGS, card, strings
from bench.leaderboard.pairing import Unit
from bench.leaderboard.records import JobRecord
from bench.registry import Registry, unknown
from bench.spec import MetricInfo, TaskInfo
from bench.stats.compare import TaskComparison, TaskPairs, compare
from bench.stats.paired import PairingError
from bench.stats.unit_scale import Scale, scale_for

_SHORT = {
    "undecided": "undecided",
    "too_few": "one repeat",
    "no_spread": "no spread",
    "invalid": "assumptions fail",
}
Place = tuple[str, str]  # task, data set
Values = Mapping[Unit, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matchup:
    """One task and data set: the comparison, or why there is none."""

    task: str
    dataset: str
    metric: str
    unit: str = "repeat"  # what a pair is: "sample" or "repeat"
    result: TaskComparison | None = None
    higher_is_better: bool = True
    problem: str = ""
    scale: str = ""  # of scores that are not the metric's own values

    def better(self, a: str, b: str) -> str:
        """Who is better, and in what sense, in a few words."""
        r = self.result
        if r is None:
            return self.problem
        if r.verdict in ("a_better", "b_better"):
            return f"{a if r.verdict == 'a_better' else b} (valid at any time)"
        if r.verdict == "differs":
            return f"{a if (r.difference > 0) == self.higher_is_better else b} (in this data)"
        return _SHORT[r.verdict]

    def verdict(self, a: str, b: str) -> str:
        """The outcome as a sentence; a test planned in advance speaks of this data only."""
        if self.result is None:
            return self.problem
        if self.result.verdict != "differs":
            return self.result.words(a, b)
        return f"{self.better(a, b).removesuffix(' (in this data)')} is better: differs in this data"


def matchups(
    jobs: Sequence[JobRecord],
    registry: Registry,
    a: str,
    b: str,
    *,
    metric: str = "",
    alpha: float = 0.05,
    anytime: bool = False,
    common: bool = False,
) -> list[Matchup]:
    """Compare models `a` and `b` on every task and data set for which both have jobs without a limit.

    `metric` replaces the primary metrics. With `anytime`, repeats are compared on a scale from 0 to 1 and
    sequentially, as `bench run --stop-when-decided` does; with `common`, on the repeats that both have.
    Raises `UsageError` if a model has no results or the two have no task in common.
    """
    groups: dict[Place, list[JobRecord]] = {}
    for job in jobs:
        if job.limit is None:
            groups.setdefault((job.task, job.dataset), []).append(job)
    _check_names(groups, a, b)
    lines: list[Matchup] = []
    pairs: list[TaskPairs | None] = []
    for place, found in groups.items():
        if {a, b} <= {job.model for job in found}:
            meeting = _Meeting(place, found, registry, a, b, anytime=anytime, common=common)
            line, mine = meeting.prepare(metric)
            lines.append(line)
            pairs.append(mine)
    wanted = [p for p in pairs if p is not None]
    done = iter(compare(wanted, alpha=alpha) if wanted else ())
    return [
        line if mine is None else dataclasses.replace(line, result=next(done))
        for line, mine in zip(lines, pairs, strict=True)
    ]


def _check_names(groups: Mapping[Place, Sequence[JobRecord]], a: str, b: str) -> None:
    known = sorted({job.model for found in groups.values() for job in found})
    for model in (a, b):
        if model not in known:
            raise UsageError(f"no results of this size: {unknown('model', model, known)}")
    if a == b:
        raise UsageError(f"{a!r} is compared with itself; name two models")
    if not any({a, b} <= {job.model for job in found} for found in groups.values()):
        raise UsageError(f"models {a!r} and {b!r} have no task in common at this size")


class _Meeting:
    """Two models on one task and data set, before the test."""

    def __init__(
        self,
        place: Place,
        jobs: Sequence[JobRecord],
        registry: Registry,
        a: str,
        b: str,
        *,
        anytime: bool,
        common: bool,
    ) -> None:
        registered = registry.tasks.get(place[0])
        self._info: TaskInfo = registered.info if registered else undeclared.task_info(place[0], jobs)
        self._place, self._jobs = place, jobs
        self._sides = [[job for job in jobs if job.model == model] for model in (a, b)]
        self._anytime, self._common = anytime, common
        self._seed = pairing.seed_number(f"{place[0]}|{place[1]}")

    def prepare(self, name: str) -> tuple[Matchup, TaskPairs | None]:
        """The line to print, and the pairs to test; None with the reason in the line."""
        metric = self._metric(name)
        line = Matchup(task=self._place[0], dataset=self._place[1], metric=metric.name if metric else name)
        if metric is None:
            return dataclasses.replace(line, problem="the task has no such metric"), None
        if metric.direction == "none" and metric.target is None:
            return dataclasses.replace(line, problem="a descriptive metric ranks nobody"), None
        line = dataclasses.replace(line, higher_is_better=metric.direction == "max" and metric.target is None)
        try:
            return self._over_samples(line, metric) or self._over_repeats(line, metric)
        except PairingError as error:
            problem = f"not paired: {error.missing_a} of A and {error.missing_b} of B missing"
            return dataclasses.replace(line, problem=problem), None

    def _metric(self, name: str) -> MetricInfo | None:
        metrics = self._info.metrics
        if name:
            return next((m for m in metrics if m.name == name), None)
        return next((m for m in metrics if m.primary), metrics[0] if metrics else None)

    def _over_samples(self, line: Matchup, metric: MetricInfo) -> tuple[Matchup, TaskPairs] | None:
        """None unless both models have scores of exactly the same samples."""
        if not pairing.has_samples(metric) or metric.target is not None:
            return None
        a, b = (pairing.sample_scores(jobs, metric.name) for jobs in self._sides)
        if not a or a.keys() != b.keys():
            return None
        pairs = TaskPairs(
            task=self._place[0],
            metric=metric.name,
            keys_a=list(a),
            a=_clip(a.values(), metric),
            keys_b=list(b),
            b=_clip(b.values(), metric),
            higher_is_better=line.higher_is_better,
            samples=True,
            lo=metric.lo,
            hi=metric.hi,
            seed=self._seed,
        )
        return dataclasses.replace(line, unit="sample"), pairs

    def _over_repeats(self, line: Matchup, metric: MetricInfo) -> tuple[Matchup, TaskPairs | None]:
        a, b = (pairing.repeat_values(jobs, metric.name) for jobs in self._sides)
        scale = self._scale(metric) if self._anytime else None
        if self._anytime and scale is None:
            problem = "no scale from 0 to 1: no finite range, and no baseline and upper bound that make one"
            return dataclasses.replace(line, problem=problem), None
        if scale is not None:  # a failed repeat has a score: 0
            a, b = (
                {job.unit: scale.score(values.get(job.unit)) for job in jobs}
                for values, jobs in zip((a, b), self._sides, strict=True)
            )
            line = dataclasses.replace(line, scale=scale.words, higher_is_better=True)
        elif metric.target is not None:
            a, b = ({unit: abs(v - metric.target) for unit, v in values.items()} for values in (a, b))
        a, b = self._on_common_units(a, b)
        if not a:
            return dataclasses.replace(line, problem="no repeat has a value for both models"), None
        pairs = TaskPairs(
            task=self._place[0],
            metric=metric.name,
            keys_a=list(a),
            a=list(a.values()),
            keys_b=list(b),
            b=list(b.values()),
            higher_is_better=line.higher_is_better,
            test_over_train=pairing.resampling_ratio(self._info, self._jobs[0].size, self._jobs),
        )
        if scale is not None:
            pairs = dataclasses.replace(
                pairs, samples=True, lo=0.0, hi=1.0, seed=self._seed, test_over_train=0.0
            )
        return line, pairs

    def _on_common_units(self, a: Values, b: Values) -> tuple[dict[Unit, float], dict[Unit, float]]:
        """Both sides on the same units in the same order; `PairingError` if a unit is missing and must not be."""
        wanted = {job.unit for jobs in self._sides for job in jobs}
        missing_a, missing_b = wanted - a.keys(), wanted - b.keys()
        if (missing_a or missing_b) and not self._common:
            example = min(missing_a or missing_b)
            raise PairingError(len(missing_a), len(missing_b), len(a), len(b), example)
        shared = sorted(a.keys() & b.keys())
        return {unit: a[unit] for unit in shared}, {unit: b[unit] for unit in shared}

    def _scale(self, metric: MetricInfo) -> Scale | None:
        """From the metric's range, or from the baseline and upper bound among the other models."""
        if metric.target is not None:
            return None
        higher = metric.direction == "max"
        floors, bounds = self._anchors(metric)
        worst, best = (min, max) if higher else (max, min)
        return scale_for(
            lo=metric.lo,
            hi=metric.hi,
            higher_is_better=higher,
            baseline=worst(floors, default=None),
            bound=best(bounds, default=None),
        )

    def _anchors(self, metric: MetricInfo) -> tuple[list[float], list[float]]:
        """Mean values of baselines and of upper bounds, without the two models compared."""
        floors, bounds = [], []
        compared = {jobs[0].model for jobs in self._sides}
        for model in sorted({job.model for job in self._jobs} - compared):
            mine = [job for job in self._jobs if job.model == model]
            values = list(pairing.repeat_values(mine, metric.name).values())
            if not values:
                continue
            if UPPER_BOUND_TAGS.intersection(strings(card(mine, Registry()).get("tags"))):
                bounds.append(sum(values) / len(values))
            elif any(job.baseline for job in mine):
                floors.append(sum(values) / len(values))
        return floors, bounds


def _clip(values: Iterable[float], metric: MetricInfo) -> list[float]:
    """Scores are stored as float32; a hair beyond the range is rounding."""
    return [min(metric.hi, max(metric.lo, v)) for v in values]
