"""An edition: everything the site shows of one size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.leaderboard import exhibits, failures, model_view, overview, task_view
from bench.leaderboard.failures import Failure
from bench.leaderboard.figures import Figure, figures_of
from bench.leaderboard.model_view import ModelView
from bench.leaderboard.overview import FamilyView
from bench.leaderboard.records import JobRecord
from bench.leaderboard.task_view import TaskView
from bench.registry import Registry


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
    tasks: tuple[TaskView, ...]
    figures: dict[str, list[Figure]]  # by task name
    models: tuple[ModelView, ...]
    failures: tuple[Failure, ...]
    pictures: tuple[tuple[str, Path], ...]  # path on the site, source


def build_edition(size: str, jobs: Sequence[JobRecord], registry: Registry, prefix: str) -> Edition:
    """Turn the current jobs of one size into views."""
    failed, failure_ids = failures.group(jobs)
    by_task: dict[str, list[JobRecord]] = defaultdict(list)
    by_model: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        by_task[job.task].append(job)
        by_model[job.model].append(job)
    tasks = [task_view.build(name, size, by_task[name], registry, failure_ids) for name in sorted(by_task)]
    models = [model_view.build(by_model[name], tasks, failed, registry) for name in sorted(by_model)]
    return Edition(
        size=size,
        prefix=prefix,
        totals=_totals(jobs),
        families=tuple(overview.build(tasks, registry)),
        tasks=tuple(tasks),
        figures={task.info.name: figures_of(task) for task in tasks},
        models=tuple(models),
        failures=tuple(failed),
        pictures=tuple(sorted(exhibits.files(jobs).items())),
    )


def _totals(jobs: Sequence[JobRecord]) -> Totals:
    return Totals(
        models=len({j.model for j in jobs}),
        tasks=len({j.task for j in jobs}),
        datasets=len({j.dataset for j in jobs}),
        results=sum(j.ok for j in jobs),
        failed=sum(j.failed for j in jobs),
        skipped=sum(j.status == "skipped" for j in jobs),
    )
