"""What the overview shows: per family one table of primary metrics, a row per model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bench.leaderboard import lines, rankings, tables, text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.rankings import Ranking, Standing
from bench.leaderboard.records import JobRecord
from bench.leaderboard.tables import Column, Table
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.registry import Registry
from bench.stats.scores import Policy

RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyView:
    """One family at one size."""

    name: str
    slug: str
    retired: bool
    tasks: tuple[TaskView, ...]
    shared: tuple[TaskView, ...]  # those of them that the table has columns of
    table: Table
    ranking: Ranking | None  # None for fewer than two models and for retired tasks
    tags: tuple[str, ...]  # of its models, for the filter
    waiting: tuple[str, ...]  # registered models without any result here


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossRow:
    """One model with its standing in each family; None where it is not ranked."""

    line: Line
    standings: tuple[Standing | None, ...]
    ok: int
    planned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """All ranked models and families, for sites with several families."""

    families: tuple[FamilyView, ...]
    rows: tuple[AcrossRow, ...]


def across(families: Sequence[FamilyView]) -> Across | None:
    """None unless some model is ranked in two families: else there is nothing to set side by side."""
    ranked = [f for f in families if f.ranking is not None]
    if len(ranked) < 2:
        return None
    lines: dict[LineKey, Line] = {}
    standings: dict[LineKey, list[Standing | None]] = {}
    jobs: dict[LineKey, list[int]] = {}
    for i, family in enumerate(ranked):
        costs = {row.line.key: row.cost for row in family.table.everyone}
        for standing in family.ranking.standings if family.ranking else ():
            key = standing.line.key
            lines.setdefault(key, standing.line)
            standings.setdefault(key, [None] * len(ranked))[i] = standing
            done = jobs.setdefault(key, [0, 0])
            done[0], done[1] = done[0] + costs[key].ok, done[1] + costs[key].planned
    if not any(sum(s is not None for s in found) > 1 for found in standings.values()):
        return None
    rows = [
        AcrossRow(line=lines[key], standings=tuple(found), ok=jobs[key][0], planned=jobs[key][1])
        for key, found in standings.items()
    ]
    rows.sort(
        key=lambda r: (r.line.role == "baseline", -max(s.win_rate for s in r.standings if s), r.line.model)
    )
    return Across(families=tuple(ranked), rows=tuple(rows))


def build(tasks: Sequence[TaskView], registry: Registry, policy: Policy) -> list[FamilyView]:
    """The families in alphabetical order; tasks that are no longer registered come last, under "retired"."""
    groups: dict[str, list[TaskView]] = defaultdict(list)
    for task in tasks:
        groups[RETIRED if task.retired else task.info.family].append(task)
    names = sorted(groups, key=lambda n: (n == RETIRED, n))
    return [_family(name, groups[name], registry, policy) for name in names]


def column_key(task: TaskView, dataset: DatasetView) -> str:
    return f"{task.slug}~{dataset.slug}"


def _family(name: str, tasks: Sequence[TaskView], registry: Registry, policy: Policy) -> FamilyView:
    shared = _for_everyone(tasks)
    places = {column_key(t, d): (t, d) for t in shared for d in t.datasets if t.info.metrics}
    columns = [_column(t, d) for t, d in places.values()]
    jobs: dict[LineKey, list[JobRecord]] = defaultdict(list)
    for task in shared:
        for dataset in task.datasets:
            for key, found in dataset.jobs.items():
                jobs[key] += found
    shown = [lines.line(found, registry) for _, found in sorted(jobs.items())]

    def find(key: LineKey, column: Column) -> Estimate:
        dataset = places[column.key][1]
        return dataset.estimates.get((key, "", column.metric.name), Estimate(kind="missing"))

    def tied(column: Column) -> frozenset[LineKey]:
        return places[column.key][1].separations["", column.metric.name].tied

    planned = sum(_repeats(t, d) for t, d in places.values())
    ranking = rankings.build(places, shown, policy) if name != RETIRED else None
    table = tables.build(
        columns,
        shown,
        find,
        jobs,
        planned={line.key: planned for line in shown},
        tied=tied,
        order={s.line.key: i for i, s in enumerate(ranking.standings)} if ranking else None,
    )
    return FamilyView(
        name=name,
        slug=text.slug(name),
        retired=name == RETIRED,
        ranking=ranking,
        tasks=tuple(tasks),
        shared=tuple(shared),
        table=table,
        tags=tuple(sorted({tag for line in shown for tag in line.tags})),
        waiting=_waiting(shared, shown, registry),
    )


def _column(task: TaskView, dataset: DatasetView) -> Column:
    metric = next((m for m in task.info.metrics if m.primary), task.info.metrics[0])
    return Column(
        key=column_key(task, dataset),
        metric=metric,
        title=dataset.title if len(task.datasets) > 1 else "",
        group=task.info.title,
        href=f"task/{task.slug}.html",
    )


def _repeats(task: TaskView, dataset: DatasetView) -> int:
    """How many results a complete row has in this column: as declared, or as many as anybody has."""
    declared = next((p.repeats for s, p in task.info.sizes.items() if s == task.size), 0)
    return max([declared, *(len(found) for found in dataset.jobs.values())])


def _for_everyone(tasks: Sequence[TaskView]) -> Sequence[TaskView]:
    """The tasks that every model of the family can take part in; all of them where there is no such task.

    The others have pages of their own: a table of all models would have holes that say nothing about them.
    """
    return [task for task in tasks if not task.info.only_tags] or tasks


def _waiting(tasks: Sequence[TaskView], shown: Sequence[Line], registry: Registry) -> tuple[str, ...]:
    present = {line.model for line in shown}
    wanted = (m.info for m in registry.models.values() if any(task.info.takes(m.info) for task in tasks))
    return tuple(sorted(info.name for info in wanted if info.name not in present))
