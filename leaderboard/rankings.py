"""Who stands where over the tasks of a family: ranks, win rates, ratings, and what must be said beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.leaderboard import tables, text
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.records import JobRecord
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.spec import MetricInfo
from bench.stats import bradley_terry, ranking, scores
from bench.stats.bradley_terry import Rating
from bench.stats.scores import POLICIES, Policy, Row, Scores

BOOTSTRAPS = 200
MOST_RESAMPLED = 100  # models; beyond, ratings have no interval: resampling grows with the cube of the number
MATRIX = 40  # models in the win-rate matrix
ALPHA = 0.05
SKIPPED = "skipped"
Place = tuple[TaskView, DatasetView]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One ranked model."""

    line: Line
    position: (
        int | None
    )  # among the contenders by mean rank, 1 is best, equals share the better one; None: baseline
    mean_rank: float
    win_rate: float
    rating: Rating
    failed: int  # repeats that failed or are missing
    repeats: int
    tied: bool  # its mean rank is not separable from the best

    @property
    def rating_text(self) -> str:
        return f"{self.rating.rating:.0f}" if self.rating.rating is not None else self.rating.standing

    @property
    def rating_spread(self) -> str:
        """The interval in words; an end that the resamples leave open is written as an inequality."""
        low, high = self.rating.low, self.rating.high
        if self.rating.rating is None or (low is None and high is None):
            return ""
        if low is None or high is None:
            return f"≤{high:.0f}" if high is not None else f"≥{low:.0f}"
        return f"{low:.0f}{text.DASH}{high:.0f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The standings of a family, best first, with everything that has to be printed beside them."""

    standings: tuple[Standing, ...]
    columns: tuple[str, ...]  # keys of the columns that count
    scope: str  # "35 tasks", "1 task on 3 data sets"
    policy: Policy
    notes: tuple[str, ...]  # rule, fill values, what is left out
    warnings: tuple[str, ...]
    wins: npt.NDArray[np.float64]  # of the first `MATRIX` standings; share of tasks won by row against column
    critical_difference: float | None  # None where it means nothing
    friedman: ranking.Friedman
    n_failed: int

    by_key: Mapping[LineKey, Standing]

    @property
    def n_contenders(self) -> int:
        return sum(s.position is not None for s in self.standings)

    def of(self, key: LineKey) -> Standing | None:
        return self.by_key.get(key)


def build(places: Mapping[str, Place], lines: Sequence[Line], policy: Policy) -> Ranking | None:
    """Rank full results of all models but upper bounds over the columns of `places`; None for fewer than two."""
    ranked = {line.model: line for line in lines if line.limit is None and line.role != "bound"}
    shared = {key: place for key, place in places.items() if _n_measured(place, ranked) > 1}
    columns, evidence_note = _ranked_columns(shared)
    skipped, skip_note = _skipped(columns, ranked)
    ranked = {model: line for model, line in ranked.items() if model not in skipped}
    rows = [row for title, place in columns.items() for row in _rows(title, place, ranked)]
    present = sorted({row.model for row in rows})
    if len(present) < 2 or not any(row.utility is not None for row in rows):
        return None
    floors = {title: floor for title, place in columns.items() if (floor := _floor(place, ranked))}
    used, why = _usable_policy(rows, present, columns, floors, policy)
    table = scores.scores_from_rows(rows, policy=used, baseline=floors, models=present)
    scope = _scope([columns[key] for key in table.tasks])
    return _ranking(table, ranked, scope, [*why, *evidence_note, *_fill_notes(table, floors), *skip_note])


def _skipped(places: Mapping[str, Place], ranked: Mapping[str, Line]) -> tuple[frozenset[str], list[str]]:
    """Models of which every job of a column was skipped: what was not tried is no failure, and no success either."""
    found = []
    for model, line in ranked.items():
        jobs = (dataset.jobs.get(line.key, ()) for _, dataset in places.values())
        if any(mine and all(job.status == SKIPPED for job in mine) for mine in jobs):
            found.append(model)
    if not found:
        return frozenset(), []
    names = ", ".join(text.visible(ranked[model].title, 40) for model in found[:6])
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    return frozenset(found), [f"not ranked, as skipped on a whole data set or more: {names}{more}"]


def _scope(places: Sequence[Place]) -> str:
    tasks = {task.info.name for task, _ in places}
    words = text.count(len(tasks), "task")
    return words if len(tasks) == len(places) else f"{words} on {text.count(len(places), 'data set')}"


def _n_measured(place: Place, ranked: Mapping[str, Line]) -> int:
    """Models with a value; a column of one model ranks nobody."""
    task, dataset = place
    metric = primary(task)
    if metric is None:
        return 0
    return sum(dataset.estimate(line, metric.name).mean is not None for line in ranked.values())


def _ranked_columns(places: Mapping[str, Place]) -> tuple[dict[str, Place], list[str]]:
    """The columns that can be ranked, of one level of evidence: means are never taken across levels."""
    levels: dict[str, dict[str, Place]] = {}
    for key, (task, dataset) in places.items():
        metric = primary(task)
        if metric is not None and (metric.direction != "none" or metric.target is not None):
            levels.setdefault(dataset.evidence, {})[key] = (task, dataset)
    if not levels:
        return {}, []
    chosen = max(levels, key=lambda level: (len(levels[level]), level))
    left_out = sum(map(len, levels.values())) - len(levels[chosen])
    level = text.visible(chosen, 40) or "not stated"
    note = f"ranked over evidence “{level}” only; {text.count(left_out, 'task')} of other levels left out"
    return levels[chosen], [note] if left_out else []


def primary(task: TaskView) -> MetricInfo | None:
    """The metric a task is ranked by."""
    return next(
        (m for m in task.info.metrics if m.primary), task.info.metrics[0] if task.info.metrics else None
    )


def _rows(title: str, place: Place, ranked: Mapping[str, Line]) -> list[Row]:
    task, dataset = place
    metric = primary(task)
    assert metric is not None
    jobs = {m: dataset.jobs[line.key] for m, line in ranked.items() if line.key in dataset.jobs}
    units = sorted({job.unit for found in jobs.values() for job in found})
    number = {unit: i for i, unit in enumerate(units)}
    return [
        Row(model=model, task=title, repeat=number[job.unit], utility=utility)
        for model, found in jobs.items()
        for job, utility in zip(found, _utilities(metric, found), strict=True)
    ]


def _utilities(metric: MetricInfo, jobs: Sequence[JobRecord]) -> list[float | None]:
    """One for each job; repeats that were skipped count like the mean of those that were run."""
    values = [_utility(metric, job) for job in jobs]
    measured = [value for value in values if value is not None]
    mean = sum(measured) / len(measured) if measured else None
    return [mean if job.status == SKIPPED else value for job, value in zip(jobs, values, strict=True)]


def _utility(metric: MetricInfo, job: JobRecord) -> float | None:
    value = job.measured(metric.name)
    return None if value is None else tables.goodness(metric, value)


def _floor(place: Place, ranked: Mapping[str, Line]) -> str:
    """The trivial baseline of a task: of the baselines with a value on every repeat, the one with the worst mean."""
    rows = [r for r in _rows("", place, ranked) if ranked[r.model].role == "baseline"]
    units = {r.repeat for r in _rows("", place, ranked)}
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.utility is not None:
            found.setdefault(row.model, []).append(row.utility)
    complete = {model: sum(v) / len(v) for model, v in found.items() if len(v) == len(units)}
    return min(complete, key=lambda model: (complete[model], model)) if complete else ""


def _usable_policy(
    rows: Sequence[Row],
    models: Sequence[str],
    columns: Mapping[str, Place],
    floors: Mapping[str, str],
    wanted: Policy,
) -> tuple[Policy, list[str]]:
    """The policy asked for, or "worst" where that one cannot be followed, with the reason."""
    if wanted == "worst":
        return wanted, []
    table = scores.scores_from_rows(rows, policy="worst", models=models)
    holes = [task for task, failed in zip(table.tasks, table.failed.T, strict=True) if failed.any()]
    if wanted == "exclude":
        if len(holes) < len(table.tasks):
            return wanted, []
        return "worst", ["policy “exclude” would leave no task, so that “worst” is followed"]
    bare = [task for task in holes if task not in floors]
    if not bare:
        return wanted, []
    titles = ", ".join(_title(columns[task]) for task in bare[:3])
    more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
    return "worst", [f"no complete baseline on {titles}{more}, so that policy “worst” is followed"]


def _title(place: Place) -> str:
    task, dataset = place
    return text.visible(task.info.title, 60) + (f" ({dataset.title})" if len(task.datasets) > 1 else "")


def _fill_notes(table: Scores, floors: Mapping[str, str]) -> list[str]:
    filled = [t for t, failed in zip(table.tasks, table.failed.T, strict=True) if failed.any()]
    notes = []
    if table.policy == "baseline" and filled:
        names = sorted({floors[task] for task in filled})
        notes.append(
            f"filled in from {', '.join(text.visible(n, 40) for n in names[:4])} on {text.count(len(filled), 'task')}"
        )
    if table.excluded:
        notes.append(f"{text.count(len(table.excluded), 'task')} left out as incomplete")
    return notes


def _ranking(table: Scores, ranked: Mapping[str, Line], scope: str, notes: Sequence[str]) -> Ranking:
    means, rates = ranking.mean_rank(table), ranking.win_rate(table)
    ratings = bradley_terry.bradley_terry(
        table, bootstraps=BOOTSTRAPS if len(table.models) <= MOST_RESAMPLED else 0
    )
    k, n = table.utility.shape
    warnings = ranking.rank_warnings(table)
    cd = ranking.critical_difference(k, n, alpha=ALPHA) if len(warnings) == 1 else None
    rivals = means[[ranked[name].competes for name in table.models]]
    best = min(rivals, default=means.min())
    order = sorted(range(k), key=lambda i: (means[i], table.models[i]))
    standings = tuple(
        Standing(
            line=ranked[table.models[i]],
            position=1 + int((rivals < means[i] - 1e-12).sum()) if ranked[table.models[i]].competes else None,
            mean_rank=float(means[i]),
            win_rate=float(rates[i]),
            rating=ratings[i],
            failed=int(table.failed[i].sum()),
            repeats=int(table.n_repeats.sum()),
            tied=cd is not None and ranked[table.models[i]].competes and bool(0 < means[i] - best <= cd),
        )
        for i in order
    )
    return Ranking(
        standings=standings,
        by_key={s.line.key: s for s in standings},
        columns=table.tasks,
        scope=scope,
        policy=table.policy,
        notes=(POLICIES[table.policy], *notes),
        warnings=warnings,
        wins=ranking.wins(table)[np.ix_(order[:MATRIX], order[:MATRIX])] / n,
        critical_difference=cd,
        friedman=ranking.friedman(table),
        n_failed=int(table.failed.sum()),
    )
