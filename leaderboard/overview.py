"""What the overview shows: per family one table of primary metrics, a row per model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bench.leaderboard import lines, tables
from bench.leaderboard.cells import Estimate
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.records import JobRecord
from bench.leaderboard.tables import Column, Table
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.registry import Registry

RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyView:
    """One family at one size."""

    name: str
    retired: bool
    tasks: tuple[TaskView, ...]
    table: Table
    tags: tuple[str, ...]  # of its models, for the filter
    waiting: tuple[str, ...]  # registered models without any result here


def build(tasks: Sequence[TaskView], registry: Registry) -> list[FamilyView]:
    """The families in alphabetical order; tasks that are no longer registered come last, under "retired"."""
    groups: dict[str, list[TaskView]] = defaultdict(list)
    for task in tasks:
        groups[RETIRED if task.retired else task.info.family].append(task)
    names = sorted(groups, key=lambda n: (n == RETIRED, n))
    return [_family(name, groups[name], registry) for name in names]


def column_key(task: TaskView, dataset: DatasetView) -> str:
    return f"{task.slug}~{dataset.slug}"


def _family(name: str, tasks: Sequence[TaskView], registry: Registry) -> FamilyView:
    places = {column_key(t, d): (t, d) for t in tasks for d in t.datasets if t.info.metrics}
    columns = [_column(t, d) for t, d in places.values()]
    jobs: dict[LineKey, list[JobRecord]] = defaultdict(list)
    for task in tasks:
        for dataset in task.datasets:
            for key, found in dataset.jobs.items():
                jobs[key] += found
    shown = [lines.line(found, registry) for _, found in sorted(jobs.items())]

    def find(key: LineKey, column: Column) -> Estimate:
        dataset = places[column.key][1]
        return dataset.estimates.get((key, "", column.metric.name), Estimate(kind="missing"))

    planned = sum(_repeats(t, d) for t, d in places.values())
    table = tables.build(columns, shown, find, jobs, {line.key: planned for line in shown})
    return FamilyView(
        name=name,
        retired=name == RETIRED,
        tasks=tuple(tasks),
        table=table,
        tags=tuple(sorted({tag for line in shown for tag in line.tags})),
        waiting=_waiting(name, shown, registry),
    )


def _column(task: TaskView, dataset: DatasetView) -> Column:
    metric = next((m for m in task.info.metrics if m.primary), task.info.metrics[0])
    return Column(
        key=column_key(task, dataset),
        metric=metric,
        title=dataset.title,
        group=task.info.title,
        href=f"task/{task.slug}.html",
    )


def _repeats(task: TaskView, dataset: DatasetView) -> int:
    """How many results a complete row has in this column: as declared, or as many as anybody has."""
    declared = next((p.repeats for s, p in task.info.sizes.items() if s == task.size), 0)
    return max([declared, *(len(found) for found in dataset.jobs.values())])


def _waiting(family: str, shown: Sequence[Line], registry: Registry) -> tuple[str, ...]:
    present = {line.model for line in shown}
    wanted = (m.info for m in registry.models.values() if family in m.info.families)
    return tuple(sorted(info.name for info in wanted if info.name not in present))
