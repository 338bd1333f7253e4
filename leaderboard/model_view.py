"""What a model page shows: the card, every score, and how to make them again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.leaderboard import cells, exhibits, lines, tables, text
from bench.leaderboard.cells import Cell
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.failures import Failure
from bench.leaderboard.figures import Figure
from bench.leaderboard.figures.exhibited import figures_from
from bench.leaderboard.lines import Line
from bench.leaderboard.records import IMPORTED, JobRecord
from bench.leaderboard.tables import Column, Cost
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.registry import Registry

MANY_PANELS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One metric of the model on one dataset, among all other models."""

    column: Column
    cell: Cell
    rank: str  # "2 of 9"
    strip: str  # whisker on the wide axis
    others: str  # ticks of the other models on the same axis
    log: bool
    repeats: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The scores of one line on one task and dataset, for one facet."""

    task: TaskView
    dataset: DatasetView
    line: Line
    facet: str
    scores: tuple[Score, ...]
    repeats: tuple[int, ...]
    cost: Cost
    command: str
    pictures: tuple[Picture, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of a card; `href` only where it is a web address."""

    name: str
    value: str
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """One model at one size."""

    name: str
    slug: str
    title: str
    summary: str
    badges: tuple[lines.Badge, ...]
    facts: tuple[Fact, ...]
    panels: tuple[Panel, ...]  # the headline of every task and dataset
    brief: bool  # too many panels to show strips and repeats of every metric
    commands: tuple[str, ...]  # that make all results again; instead of one per panel where `brief`
    facets: Mapping[tuple[str, str, str], tuple[Panel, ...]]  # (task, dataset, line) -> other facets
    failures: tuple[Failure, ...]
    environment: tuple[Fact, ...]
    packages: tuple[tuple[str, str], ...]


def build(
    jobs: Sequence[JobRecord], tasks: Sequence[TaskView], failures: Sequence[Failure], registry: Registry
) -> ModelView:
    """The view of the model that `jobs` belong to."""
    model = jobs[0].model
    info = lines.card(jobs, registry)
    shown = [lines.line(group, registry) for group in lines.by_line(jobs).values()]
    panels = [
        panel
        for task in tasks
        for dataset in task.datasets
        for line in dataset.lines
        if line.model == model
        for panel in _panels(task, dataset, line)
    ]
    headlines = tuple(p for p in panels if not p.facet)
    newest = max(jobs, key=lambda j: (j.ended_at.timestamp() if j.ended_at else 0.0, j.job_key))
    facets: dict[tuple[str, str, str], tuple[Panel, ...]] = {}
    for panel in (p for p in panels if p.facet):
        key = facet_key(panel)
        facets[key] = (*facets.get(key, ()), panel)
    return ModelView(
        name=text.visible(model, 80),
        slug=text.slug(model),
        title=text.visible(str(info.get("title") or model), 80),
        summary=text.visible(str(info.get("summary") or ""), 1_000),
        badges=tuple(dict.fromkeys(b for line in shown for b in line.badges if b.kind != "flag")),
        facts=tuple(_facts(info, newest)),
        panels=headlines,
        brief=len(headlines) > MANY_PANELS,
        commands=tuple(_commands(jobs)) if len(headlines) > MANY_PANELS else (),
        facets=facets,
        failures=tuple(f for f in failures if f.model_slug == text.slug(model)),
        environment=tuple(_environment(newest)),
        packages=_packages(newest),
    )


def facet_key(panel: Panel) -> tuple[str, str, str]:
    return panel.task.info.name, panel.dataset.name, str(panel.line.key)


def _panels(task: TaskView, dataset: DatasetView, line: Line) -> list[Panel]:
    jobs = tuple(dataset.jobs[line.key])
    return [
        Panel(
            task=task,
            dataset=dataset,
            line=line,
            facet=facet.facet,
            scores=tuple(_score(c, facet.facet, dataset, line) for c in facet.table.columns),
            repeats=tuple(j.repeat for j in jobs),
            cost=tables.cost(jobs),
            command=command(jobs),
            pictures=() if facet.facet else tuple(_pictures(jobs, dataset)),
            figures=() if facet.facet else tuple(figures_from(jobs, _panel_id(task, dataset, line))),
        )
        for facet in dataset.facets
        if not facet.facet or any(facet.facet in j.values for j in jobs)
    ]


def _panel_id(task: TaskView, dataset: DatasetView, line: Line) -> str:
    return f"x-{task.slug}-{dataset.slug}-{line.key[1]}"


def _pictures(jobs: Sequence[JobRecord], dataset: DatasetView) -> Iterable[Picture]:
    for job, exhibit in exhibits.images(jobs):
        caption = text.visible(exhibit.caption or exhibit.name, 200)
        label = f"Repeat {job.repeat}: {caption}"
        found = exhibits.picture(job, exhibit, label=label, alt=f"{caption}, {dataset.title}")
        if found is not None:
            yield found


def _score(column: Column, facet: str, dataset: DatasetView, line: Line) -> Score:
    name = column.metric.name
    mine = dataset.estimate(line, name, facet)
    standing = dataset.standings[facet, name]
    return Score(
        column=column,
        cell=cells.present(mine, None, standing.decimals),
        rank=standing.ranks.get(line.key, ""),
        strip=standing.strip(mine),
        others=standing.ticks,
        log=bool(standing.axis and standing.axis.log),
        repeats=tuple(_repeat_text(j, facet, name, standing.decimals) for j in dataset.jobs[line.key]),
    )


def _repeat_text(job: JobRecord, facet: str, metric: str, decimals: int) -> str:
    if not job.ok:
        return text.visible(job.status, 24)
    record = job.values.get(facet, {}).get(metric)
    if record is None:
        return "not reported"
    return "not measurable" if record.value is None else text.number(record.value, decimals)


def command(jobs: Sequence[JobRecord]) -> str:
    """The command line that makes exactly these results again; for what came from a table, where to look."""
    first = jobs[0]
    if first.engine == IMPORTED:
        return f"# imported by run {text.visible(first.run_id, 64)}; see the page of runs"
    words = ["bench", "run", "--model", first.model]
    for option, names in (("--task", {j.task for j in jobs}), ("--dataset", {j.dataset for j in jobs})):
        words += [word for name in sorted(names) for word in (option, name)]
    words += ["--size", first.size, "--repeats", str(1 + max(j.repeat for j in jobs))]
    words += ["--seed", str(first.suite_seed)]
    if first.limit is not None:
        words += ["--limit", str(first.limit)]
    return text.visible(shlex.join([*words, "--force"]), 8_000)


def _commands(jobs: Sequence[JobRecord]) -> Iterable[str]:
    """One command for all results with the same limit, seed and number of repeats."""
    repeats: dict[tuple[Any, ...], int] = {}
    for job in jobs:
        cell = (job.task, job.dataset, job.limit, job.suite_seed)
        repeats[cell] = max(repeats.get(cell, 0), job.repeat)
    groups: dict[tuple[Any, ...], list[JobRecord]] = {}
    for job in jobs:
        n = repeats[job.task, job.dataset, job.limit, job.suite_seed]
        groups.setdefault((job.limit is not None, job.limit, job.suite_seed, n), []).append(job)
    return (command(groups[key]) for key in sorted(groups, key=repr))


def _facts(info: Mapping[str, Any], newest: JobRecord) -> list[Fact]:
    """Every field of the model card that says something."""
    n = info.get("n_parameters")
    rows = [
        ("Version", newest.model_version),
        ("Families", ", ".join(lines.strings(info.get("families")))),
        ("Parameters", f"{n:,}" if isinstance(n, int) else "not stated"),
        ("Licence", str(info.get("license") or "not stated")),
        ("Training data", ", ".join(lines.strings(info.get("training_data"))) or "not stated"),
        ("Paper", str(info.get("paper") or "not stated")),
        ("Web page", str(info.get("url") or "not stated")),
        ("Constructor arguments", json.dumps(newest.model_params, sort_keys=True)),
        ("Needs", ", ".join(lines.strings(info.get("requires"))) or "nothing beyond the bench"),
        ("Tags", ", ".join(lines.strings(info.get("tags"))) or "none"),
        ("Entry", str(info.get("entry") or "not stated")),
        ("Resources", _resources(info.get("resources"))),
        ("Source SHA-256", newest.model_source_sha256),
    ]
    return [
        Fact(name=name, value=text.visible(value, 500), href=text.safe_url(value))
        for name, value in rows
        if value
    ]


def _resources(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return "as the task suggests" if value is None else str(value)


def _packages(job: JobRecord) -> tuple[tuple[str, str], ...]:
    found = sorted((str(k), str(v)) for k, v in job.packages.items())
    return tuple((text.visible(k, 64), text.visible(v, 64)) for k, v in found)


def _environment(job: JobRecord) -> list[Fact]:
    rows = [
        ("Bench", job.bench_version),
        ("Commit", job.git_sha + (" (with local changes)" if job.git_dirty else "")),
        ("Python", job.python_version),
        ("PyTorch", job.torch_version),
        ("CUDA", job.cuda_version),
        ("Platform", job.platform),
        ("Device", job.device_name or job.device),
        ("Run", job.run_id),
    ]
    return [Fact(name=name, value=text.visible(value, 300)) for name, value in rows if value]
