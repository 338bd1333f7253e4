"""An edition: everything the site shows of one size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.leaderboard import (
    exhibits,
    failures,
    model_view,
    overview,
    past,
    rankings,
    task_view,
    text,
    versus,
)
from bench.leaderboard.decisions import Decisions, decisions
from bench.leaderboard.failures import Failure
from bench.leaderboard.figures import Figure, Histories, figures_across, figures_of, ranks
from bench.leaderboard.model_view import ModelView
from bench.leaderboard.overview import Across, FamilyView
from bench.leaderboard.records import JobRecord
from bench.leaderboard.task_view import TaskView
from bench.registry import Registry
from bench.stats.scores import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    models: int
    tasks: int
    datasets: int
    results: int
    failed: int
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    size: str
    prefix: str  # "" or "tiny/"
    totals: Totals
    families: tuple[FamilyView, ...]
    across: Across | None
    tasks: tuple[TaskView, ...]
    figures: dict[str, list[Figure]]  # by task name
    decided: dict[str, dict[str, Decisions]]  # by task name, then slug of the data set
    rank_figures: dict[str, list[Figure]]  # by slug of the family
    versus: dict[str, Any]  # the data of the page that compares two models
    models: tuple[ModelView, ...]
    failures: tuple[Failure, ...]
    pictures: tuple[tuple[str, Path], ...]  # path on the site, source


def build_edition(
    size: str,
    jobs: Sequence[JobRecord],
    registry: Registry,
    *,
    prefix: str = "",
    policy: Policy = "baseline",
    histories: Mapping[past.Cell, tuple[past.Version, ...]] = MappingProxyType({}),
) -> Edition:
    """Turn the current jobs of one size into views."""
    failed, failure_ids = failures.group(jobs)
    by_task: dict[str, list[JobRecord]] = defaultdict(list)
    by_model: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        by_task[job.task].append(job)
        by_model[job.model].append(job)
    tasks = [task_view.build(name, size, by_task[name], registry, failure_ids) for name in sorted(by_task)]
    models = [model_view.build(by_model[name], tasks, failed, registry) for name in sorted(by_model)]
    families = overview.build(tasks, registry, policy)
    return Edition(
        size=size,
        prefix=prefix,
        totals=_totals(jobs),
        families=tuple(families),
        across=overview.across(families),
        tasks=tuple(tasks),
        figures={task.info.name: figures_of(task, _histories(size, task, histories)) for task in tasks},
        decided={task.info.name: _decided(task) for task in tasks},
        rank_figures={f.slug: _rank_figures(f) for f in families if f.ranking is not None},
        versus=versus.island(tasks),
        models=tuple(models),
        failures=tuple(failed),
        pictures=tuple(sorted(exhibits.files(jobs).items())),
    )


def _histories(
    size: str, task: TaskView, histories: Mapping[past.Cell, tuple[past.Version, ...]]
) -> Histories:
    found: dict[str, dict[str, tuple[past.Version, ...]]] = defaultdict(dict)
    for (cell_size, name, dataset, model), versions in histories.items():
        if cell_size == size and name == task.info.name:
            found[text.visible(dataset, 64)][model] = versions
    return found


def _decided(task: TaskView) -> dict[str, Decisions]:
    metric = rankings.primary(task)
    if metric is None:
        return {}
    found = {dataset.slug: decisions(dataset, metric) for dataset in task.datasets}
    return {slug: verdicts for slug, verdicts in found.items() if verdicts is not None}


def _rank_figures(family: FamilyView) -> list[Figure]:
    costs = {row.line.key: row.cost for row in family.table.everyone}
    if family.ranking is None:
        return []
    return ranks.figures(family.ranking, costs) + figures_across(family.name, family.tasks)


def _totals(jobs: Sequence[JobRecord]) -> Totals:
    return Totals(
        models=len({j.model for j in jobs}),
        tasks=len({j.task for j in jobs}),
        datasets=len({j.dataset for j in jobs}),
        results=sum(j.ok for j in jobs),
        failed=sum(j.failed for j in jobs),
        skipped=sum(j.status == "skipped" for j in jobs),
    )
