"""Stops collecting repeats of two models once it is decided which of them is better.

Each pair of results of the same unit moves an e-process, task by task; when it reaches its level the rest of
the two models' jobs on that task and data set are left out. The decision stays valid although it was looked
at after every result. A failed repeat scores 0, the worst there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bench.errors import UsageError
from bench.planned import Plan, PlannedJob
from bench.stats.eprocess import RunningComparison
from bench.stats.unit_scale import Scale, scale_for
from bench.work import FAILED, Outcome

if TYPE_CHECKING:
    from bench.store import Store

Place = tuple[str, str]  # task, data set
Scores = Mapping[int | str, float]  # sample -> score; the whole repeat is the sample ""
WHOLE: int | str = ""
UPPER_BOUND_TAGS = {"oracle", "upper-bound"}


class Watcher(Protocol):
    """What a run asks before it starts a job and tells when one is stored."""

    def order(self, jobs: Sequence[PlannedJob]) -> list[PlannedJob]: ...
    def wants(self, planned: PlannedJob) -> bool: ...
    def stored(self, planned: PlannedJob, outcome: Outcome, run_id: str) -> str: ...


@dataclass
class _Race:
    """Two models on one task and data set: their results so far, and what follows from them."""

    scale: Scale
    running: RunningComparison
    results: dict[str, dict[int, Scores]] = field(default_factory=dict)  # model -> repeat -> scores
    next_repeat: int = 0
    seen: set[int | str] = field(default_factory=set)

    def advance(self, a: str, b: str, seeds: Mapping[int, int]) -> None:
        """Take in every repeat that both sides have, in the order of the repeats."""
        left, right = self.results.get(a, {}), self.results.get(b, {})
        while self.running.winner is None and self.next_repeat in left and self.next_repeat in right:
            repeat = self.next_repeat
            self.next_repeat += 1
            for sample in self._new_samples(left[repeat], right[repeat], seeds.get(repeat, repeat)):
                self.running.update(left[repeat][sample], right[repeat][sample])
                if self.running.winner is not None:
                    return

    def _new_samples(self, left: Scores, right: Scores, seed: int) -> list[int | str]:
        """Samples of a repeat not seen in an earlier one, in an order drawn from the unit's seed.

        A sample that comes again in another repeat is no independent evidence. Where one side failed, its
        whole repeat scores 0, and so do its samples.
        """
        import numpy as np

        if WHOLE in left or WHOLE in right:
            if left.keys() != right.keys():
                return []
            return [WHOLE]
        if left.keys() != right.keys():
            return []
        fresh = sorted((s for s in left if s not in self.seen), key=repr)
        self.seen.update(fresh)
        return [fresh[i] for i in np.random.default_rng(seed).permutation(len(fresh))]


class StopWhenDecided:
    """Watches the jobs of models `a` and `b` in a plan; see the module.

    All decisions together are wrong with probability at most `alpha`: each of the N comparisons gets alpha/N.
    """

    def __init__(self, store: Store, plan: Plan, a: str, b: str, *, alpha: float = 0.05) -> None:
        self._store, self._a, self._b = store, a, b
        jobs = [p for p in plan.jobs if p.job.model in (a, b)]
        shared = [place for place in _places(jobs, a) if place in _places(jobs, b)]
        if a == b or not shared:
            raise UsageError(f"--stop-when-decided needs two models with a task in common; got {a} and {b}")
        self._seeds = {(_place(p), p.job.repeat): p.unit.seed for p in jobs}
        self.notes: list[str] = []
        self._races = self._start(jobs, shared, alpha / len(shared))
        for planned in jobs:
            if planned.action == "cached" and not planned.has_failed:
                self._add(planned, self._stored_scores(planned))
            elif planned.has_failed:
                self._add(planned, {WHOLE: 0.0})
        self._advance_all()
        self.left_out = 0

    def order(self, jobs: Sequence[PlannedJob]) -> list[PlannedJob]:
        """The jobs of both models side by side, repeat by repeat, after those of others."""
        mine = [p for p in jobs if self._race_of(p) is not None]
        others = [p for p in jobs if self._race_of(p) is None]
        return others + sorted(mine, key=lambda p: (_place(p), p.job.repeat, p.job.model != self._a))

    def wants(self, planned: PlannedJob) -> bool:
        """Whether a job still has to run."""
        race = self._race_of(planned)
        if race is None or race.running.winner is None:
            return True
        self.left_out += 1
        return False

    def stored(self, planned: PlannedJob, outcome: Outcome, run_id: str) -> str:
        """Take in a stored result; returns what it decided, in words, or ""."""
        race = self._race_of(planned)
        if race is None or race.running.winner is not None:
            return ""
        if outcome.status == "ok":
            scores = self._scores(planned, outcome, run_id)
        elif outcome.status in FAILED and outcome.status != "lost":
            scores = {WHOLE: 0.0}
        else:
            return ""  # cancelled or skipped: nobody knows how it would have ended
        self._add(planned, scores)
        self._advance(_place(planned))
        return self._words(_place(planned)) if race.running.winner is not None else ""

    def report(self) -> list[str]:
        """How every comparison stands, one line each."""
        return [*self.notes, *(self._words(place) for place in self._races)]

    def _words(self, place: Place) -> str:
        running = self._races[place].running
        where = f"{place[0]} / {place[1]}"
        evidence = f"ln E = {max(running.max_log_e_a, running.max_log_e_b):.2f}"
        if running.winner is None:
            return f"undecided: {where} after {running.n} pairs, {evidence}"
        names = (self._a, self._b) if running.winner == "A" else (self._b, self._a)
        scale = self._races[place].scale.words
        return f"decided: {names[0]} beats {names[1]} on {where} after {running.n} pairs, {evidence}; {scale}"

    def _race_of(self, planned: PlannedJob) -> _Race | None:
        if planned.job.model not in (self._a, self._b):
            return None
        return self._races.get(_place(planned))

    def _start(self, jobs: Sequence[PlannedJob], places: Iterable[Place], alpha: float) -> dict[Place, _Race]:
        races = {}
        for place in places:
            metric = next(p.task.info.primary for p in jobs if _place(p) == place)
            scale, why = None, "its primary metric has no direction"
            if metric.direction != "none":
                why = "its range is not finite, and no baseline and upper bound in the store make a scale"
                floor, bound = self._anchors(place, metric.name, jobs[0], higher=metric.direction == "max")
                scale = scale_for(
                    lo=metric.lo,
                    hi=metric.hi,
                    higher_is_better=metric.direction == "max",
                    baseline=floor,
                    bound=bound,
                )
            if scale is None:
                self.notes.append(f"cannot stop early on {place[0]} / {place[1]}: {why}")
            else:
                races[place] = _Race(scale=scale, running=RunningComparison(alpha=alpha))
        return races

    def _anchors(
        self, place: Place, metric: str, like: PlannedJob, *, higher: bool
    ) -> tuple[float | None, float | None]:
        """Mean of the worst baseline and of the best upper bound in the store, A and B left out."""
        where = {"task": place[0], "dataset": place[1], "size": like.job.size, "status": "ok"}
        jobs = [
            r
            for r in self._store.read("jobs", _ANCHOR_COLUMNS, where).to_pylist()
            if r["limit"] == like.job.limit
        ]
        values = self._values(metric, [r["job_key"] for r in jobs])
        floors, bounds = _means(jobs, values, self._a, self._b)
        worst, best = (min, max) if higher else (max, min)
        return worst(floors, default=None), best(bounds, default=None)

    def _values(self, metric: str, keys: Sequence[str]) -> dict[tuple[str, int], float]:
        if not keys:
            return {}
        where = {"job_key": keys, "metric": metric}
        rows = self._store.read("metrics", ("job_key", "attempt", "facet", "value"), where).to_pylist()
        return {
            (r["job_key"], r["attempt"]): r["value"]
            for r in rows
            if not r["facet"] and r["value"] is not None
        }

    def _stored_scores(self, planned: PlannedJob) -> Scores:
        columns = ("job_key", "run_id", "attempt", "status", "n_samples")
        rows = self._store.read("jobs", columns, {"job_key": planned.job.key, "status": "ok"}).to_pylist()
        row = max(rows, key=lambda r: r["attempt"])
        samples = self._samples(planned, row["run_id"], row["attempt"]) if row["n_samples"] else None
        values = self._values(planned.task.info.primary.name, [planned.job.key])
        return samples or self._whole(planned, values.get((planned.job.key, row["attempt"])))

    def _scores(self, planned: PlannedJob, outcome: Outcome, run_id: str) -> Scores:
        metric = planned.task.info.primary.name
        value = next((r.measure.value for r in outcome.rows if r.metric == metric and not r.facet), None)
        samples = self._samples(planned, run_id, outcome.attempt) if outcome.samples_file else None
        return samples or self._whole(planned, value)

    def _whole(self, planned: PlannedJob, value: float | None) -> Scores:
        race = self._race_of(planned)
        return {WHOLE: race.scale.score(value)} if race is not None else {}

    def _samples(self, planned: PlannedJob, run_id: str, attempt: int) -> Scores | None:
        """Scores of single samples, where the metric is their mean and its range is declared."""
        metric, race = planned.task.info.primary, self._race_of(planned)
        if race is None or metric.kind != "sample_mean" or race.scale.basis != "range":
            return None
        table = self._store.samples(run_id, planned.job.key, attempt)
        if table is None or metric.name not in table.column_names:
            return None
        rows = zip(table["sample_id"].to_pylist(), table[metric.name].to_pylist(), strict=True)
        return {sample: race.scale.score(value) for sample, value in rows}

    def _add(self, planned: PlannedJob, scores: Scores) -> None:
        race = self._race_of(planned)
        if race is None or not scores:
            return
        race.results.setdefault(planned.job.model, {})[planned.job.repeat] = scores

    def _advance(self, place: Place) -> None:
        seeds = {repeat: seed for (where, repeat), seed in self._seeds.items() if where == place}
        race = self._races[place]
        _spread_failures(race, self._a, self._b)
        race.advance(self._a, self._b, seeds)

    def _advance_all(self) -> None:
        for place in self._races:
            self._advance(place)


def _spread_failures(race: _Race, a: str, b: str) -> None:
    """A failed repeat scores 0 on each sample that the other side has."""
    for mine, other in ((a, b), (b, a)):
        for repeat, scores in race.results.get(mine, {}).items():
            rival = race.results.get(other, {}).get(repeat)
            if rival and scores == {WHOLE: 0.0} and WHOLE not in rival:
                race.results[mine][repeat] = dict.fromkeys(rival, 0.0)


_ANCHOR_COLUMNS = ("job_key", "attempt", "model", "model_info", "baseline", "limit")


def _means(
    jobs: Sequence[Mapping[str, Any]], values: Mapping[tuple[str, int], float], a: str, b: str
) -> tuple[list[float], list[float]]:
    """Mean values of the baselines and of the upper bounds, one per model."""
    import json

    found: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    for row in jobs:
        value = values.get((row["job_key"], row["attempt"]))
        if value is None or row["model"] in (a, b):
            continue
        try:
            tags = set(json.loads(row["model_info"] or "{}").get("tags", ()))
        except (ValueError, AttributeError, TypeError):
            tags = set()
        if tags & UPPER_BOUND_TAGS:
            found[1].setdefault(row["model"], []).append(value)
        elif row["baseline"]:
            found[0].setdefault(row["model"], []).append(value)
    floors, bounds = ([math.fsum(v) / len(v) for v in group.values()] for group in found)
    return floors, bounds


def _place(planned: PlannedJob) -> Place:
    return planned.job.task, planned.job.dataset


def _places(jobs: Sequence[PlannedJob], model: str) -> list[Place]:
    return list(dict.fromkeys(_place(p) for p in jobs if p.job.model == model and p.action != "skip"))
