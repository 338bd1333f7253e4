"""What a task page shows, and what figures are made of: one task at one size."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.leaderboard import cells, lines, pairing, separation, tables, text, undeclared
from bench.leaderboard.cells import Estimate
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.records import JobRecord
from bench.leaderboard.separation import SamplePairs, Separation
from bench.leaderboard.standings import Standing, standing
from bench.leaderboard.tables import Column, Table
from bench.registry import Registry
from bench.spec import DatasetInfo, MetricInfo, SizePlan, TaskInfo

HEADLINE = ""  # the facet of a task's own values


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetView:
    """The table of one facet: the headline, or secondary values such as "encoder=pixels"."""

    facet: str
    title: str
    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatRow:
    """One job: its values as text, or its status."""

    line: Line
    repeat: int
    status: str
    failure: str
    values: tuple[str, ...]
    seconds: str
    memory: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetView:
    """One task on one dataset."""

    name: str
    slug: str
    title: str
    card: DatasetInfo | None
    sha256: tuple[str, ...]  # of the data that the results were made with
    label: str  # real, generated, subset
    lines: tuple[Line, ...]
    jobs: Mapping[LineKey, Sequence[JobRecord]]
    facets: tuple[FacetView, ...]
    repeats: tuple[RepeatRow, ...]
    estimates: Mapping[tuple[LineKey, str, str], Estimate]  # line, facet, metric
    standings: Mapping[tuple[str, str], Standing]  # facet, metric
    separations: Mapping[tuple[str, str], Separation]  # facet, metric
    sample_pairs: SamplePairs | None  # of the primary metric
    ratio: float  # n_test / n_train where repeats resample one data set, else 0
    evidence: str  # level of evidence that the scores state, "" where the task knows of none

    def estimate(self, line: Line, metric: str, facet: str = HEADLINE) -> Estimate:
        return self.estimates.get((line.key, facet, metric), Estimate(kind="missing"))

    @property
    def headline(self) -> Table:
        return self.facets[0].table


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """One task at one size: everything that its page and its figures show."""

    info: TaskInfo
    slug: str
    size: str
    retired: bool
    imported: bool  # made elsewhere, known from a table only
    settings: Mapping[str, object]
    versions: tuple[str, ...]  # "1.2" = protocol version 1, scoring 2
    datasets: tuple[DatasetView, ...]


def build(
    name: str, size: str, jobs: Sequence[JobRecord], registry: Registry, failure_ids: Mapping[str, str]
) -> TaskView:
    """The view of task `name` from its jobs at `size`."""
    registered = registry.tasks.get(name)
    info = registered.info if registered else undeclared.task_info(name, jobs)
    imported = registered is None and any(j.imported for j in jobs)
    by_dataset: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        by_dataset[job.dataset].append(job)
    order = {d: i for i, d in enumerate(plan.datasets)} if (plan := _plan(info, size)) else {}
    names = sorted(by_dataset, key=lambda d: (order.get(d, len(order)), d))
    return TaskView(
        info=info,
        slug=text.slug(name),
        size=size,
        retired=registered is None and not imported,
        imported=imported,
        settings=dict(plan.settings) if plan else {},
        versions=tuple(sorted({f"{j.task_version}.{j.scoring}" for j in jobs})),
        datasets=tuple(_dataset(d, info, by_dataset[d], registry, failure_ids) for d in names),
    )


def _plan(info: TaskInfo, size: str) -> SizePlan | None:
    return next((plan for s, plan in info.sizes.items() if s == size), None)


def _dataset(
    name: str, info: TaskInfo, jobs: Sequence[JobRecord], registry: Registry, failure_ids: Mapping[str, str]
) -> DatasetView:
    grouped = lines.by_line(jobs)
    shown = tuple(lines.line(group, registry) for _, group in sorted(grouped.items()))
    names = _facet_metrics(info, jobs)
    estimates = {
        (key, facet, metric.name): cells.estimate(group, facet, metric.name, failure_ids)
        for key, group in grouped.items()
        for facet, metrics in names.items()
        for metric in metrics
    }
    by_key = {line.key: line for line in shown}
    ratio = pairing.resampling_ratio(info, jobs[0].size, jobs)
    pairs = _sample_pairs(f"{info.name}|{name}", names[HEADLINE], shown, grouped, estimates)
    separations = {
        (facet, m.name): separation.separate(
            m,
            shown,
            grouped,
            {key: estimates[key, facet, m.name] for key in grouped},
            facet=facet,
            ratio=ratio,
            found=pairs if m.primary and facet == HEADLINE else None,
        )
        for facet, metrics in names.items()
        for m in metrics
    }
    views = tuple(
        _facet(facet, metrics, shown, estimates, grouped, separations) for facet, metrics in names.items()
    )
    registered = registry.datasets.get(name)
    label = next((j.data for j in jobs if j.data), registered.info.data if registered else "")
    return DatasetView(
        name=text.visible(name, 64),
        slug=text.slug(name),
        title=registered.info.title if registered else undeclared.dataset_title(name, jobs),
        card=registered.info if registered else None,
        sha256=tuple(sorted({j.dataset_sha256 for j in jobs if j.dataset_sha256})),
        label=text.visible(label, 24),
        lines=shown,
        jobs=grouped,
        facets=views,
        repeats=tuple(_repeats(shown, grouped, views[0].table.columns, failure_ids)),
        estimates=estimates,
        standings={
            (facet, m.name): standing(m, {k: estimates[k, facet, m.name] for k in grouped}, by_key)
            for facet, metrics in names.items()
            for m in metrics
        },
        separations=separations,
        sample_pairs=pairs,
        ratio=ratio,
        evidence=next((str(j.notes["evidence"]) for j in jobs if "evidence" in j.notes), ""),
    )


def _sample_pairs(
    seed: str,
    metrics: Sequence[MetricInfo],
    shown: Sequence[Line],
    jobs: Mapping[LineKey, Sequence[JobRecord]],
    estimates: Mapping[tuple[LineKey, str, str], Estimate],
) -> SamplePairs | None:
    """All pairs over per-sample scores of the primary metric, among the best models."""
    if not metrics or not metrics[0].primary:
        return None
    lead = metrics[0]

    def place(line: Line) -> float:
        mean = estimates[line.key, HEADLINE, lead.name].mean
        return math.inf if mean is None else -tables.goodness(lead, mean)

    return separation.sample_pairs(lead, sorted(shown, key=place), jobs, seed)


def _facet_metrics(info: TaskInfo, jobs: Sequence[JobRecord]) -> dict[str, list[MetricInfo]]:
    """The metrics of each facet, headline first, primary metric first."""
    seen: dict[str, set[str]] = defaultdict(set)
    for job in jobs:
        for facet, values in job.values.items():
            seen[facet].update(values)
    ordered = sorted(info.metrics, key=lambda m: not m.primary)
    found = {HEADLINE: ordered}
    for facet in sorted(seen.keys() - {HEADLINE}, key=_by_numbers):
        metrics = [m for m in ordered if m.name in seen[facet]]
        if metrics:
            found[facet] = metrics
    return found


def _by_numbers(facet: str) -> list[tuple[int, int, str]]:
    """A key by which k=10 comes after k=5; texts before numbers where they differ."""
    parts = re.findall(r"\d{1,9}|\D+", facet)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def _facet(
    facet: str,
    metrics: Sequence[MetricInfo],
    shown: Sequence[Line],
    estimates: Mapping[tuple[LineKey, str, str], Estimate],
    jobs: Mapping[LineKey, Sequence[JobRecord]],
    separations: Mapping[tuple[str, str], Separation],
) -> FacetView:
    columns = [Column(key=m.name, metric=m, title="") for m in metrics]
    table = tables.build(
        columns,
        shown,
        lambda key, c: estimates[key, facet, c.metric.name],
        jobs,
        tied=lambda c: separations[facet, c.metric.name].tied,
    )
    return FacetView(facet=facet, title=text.visible(facet, 64) if facet else "headline", table=table)


def _repeats(
    shown: Sequence[Line],
    jobs: Mapping[LineKey, Sequence[JobRecord]],
    columns: Sequence[Column],
    failure_ids: Mapping[str, str],
) -> list[RepeatRow]:
    rows = [(line, job) for line in shown for job in jobs[line.key]]
    texts: dict[str, list[str]] = {}
    for column in columns:
        found = [job.values.get(HEADLINE, {}).get(column.metric.name) for _, job in rows]
        decimals = text.decimals_for([r.value for r in found if r and r.value is not None])
        texts[column.key] = [
            "" if r is None else "not measurable" if r.value is None else text.number(r.value, decimals)
            for r in found
        ]
    return [
        RepeatRow(
            line=line,
            repeat=job.repeat,
            status=text.visible(job.status, 24),
            failure=failure_ids.get(job.job_key, ""),
            values=tuple(texts[c.key][i] or ("not reported" if job.ok else "") for c in columns),
            seconds=text.seconds(job.duration_s),
            memory=text.megabytes(job.peak_rss_mb),
        )
        for i, (line, job) in enumerate(rows)
    ]
