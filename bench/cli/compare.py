"""The verb `compare`: two models, task by task."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bench.cli.common import (
    DEFAULT_RESULTS,
    DEFAULT_SUBMISSIONS,
    AsJson,
    SubmissionsDir,
    full_registry,
    show_json,
    show_table,
)
from bench.cli.run import SizeName
from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.leaderboard.matchup import Matchup


def register(app: typer.Typer) -> None:
    app.command()(compare)


def compare(
    a: Annotated[str, typer.Argument(help="A model with results.")],
    b: Annotated[str, typer.Argument(help="Another model with results.")],
    task: Annotated[list[str] | None, typer.Option("--task", help="Task name or glob (repeatable).")] = None,
    metric: Annotated[
        str, typer.Option("--metric", help="Metric; the primary one of each task if not given.")
    ] = "",
    size: Annotated[
        SizeName, typer.Option("--size", envvar="BENCH_SIZE", help="Size of the results.")
    ] = SizeName.small,
    alpha: Annotated[
        float, typer.Option("--alpha", min=1e-6, max=0.5, help="Chance that any verdict is wrong.")
    ] = 0.05,
    anytime: Annotated[
        bool,
        typer.Option(
            "--anytime", help="Judge repeats sequentially, as after `bench run --stop-when-decided`."
        ),
    ] = False,
    common: Annotated[
        bool, typer.Option("--common", help="Compare on the repeats both models have, although some failed.")
    ] = False,
    results: Annotated[
        list[Path] | None,
        typer.Option("--results", envvar="BENCH_RESULTS", help="Results store (repeatable)."),
    ] = None,
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
    as_json: AsJson = False,
) -> None:
    """Compare two models on the tasks they share: difference, interval, evidence, verdict.

    Exits 0 if every task could be compared (whatever the verdict), 1 if units are missing on one side.
    """
    from fnmatch import fnmatch

    from bench.leaderboard.build import read
    from bench.leaderboard.matchup import matchups

    registry = full_registry(submissions)
    jobs = [job for job in read(results or [DEFAULT_RESULTS], registry) if job.size == size.value]
    if task:
        jobs = [job for job in jobs if any(fnmatch(job.task, pattern) for pattern in task)]
    if not jobs:
        raise UsageError(f"no results of size {size.value}" + (f" for {', '.join(task)}" if task else ""))
    found = matchups(jobs, registry, a, b, metric=metric, alpha=alpha, anytime=anytime, common=common)
    if as_json:
        show_json(
            {"a": a, "b": b, "alpha": alpha, "size": size.value, "tasks": [_plain(m, a, b) for m in found]}
        )
    else:
        _show(found, a, b)
    raise typer.Exit(1 if any(m.result is None for m in found) else 0)


def _plain(line: Matchup, a: str, b: str) -> dict[str, Any]:
    return {**dataclasses.asdict(line), "words": line.verdict(a, b)}


def _show(found: list[Matchup], a: str, b: str) -> None:
    head = [
        "task",
        "better",
        "difference",
        "interval",
        "p (Holm)",
        "ln E",
        "n",
        "needed",
        "metric",
        "data set",
    ]
    typer.echo(f"A = {a}, B = {b}; difference = A - B")
    show_table(head, [_row(line, a, b) for line in found])
    for line in found:
        if line.scale:
            typer.echo(f"{line.task} / {line.dataset}: {line.scale}")
    typer.echo(
        "\nIntervals are of one task alone; p is adjusted over all tasks. What is valid at any time may be looked at "
        "again and\nagain; what differs in this data was tested once, with a number of repeats fixed in advance."
    )


def _row(line: Matchup, a: str, b: str) -> list[str]:
    place = [line.task, line.better(a, b)]
    r = line.result
    if r is None:
        return [*place, "", "", "", "", "", "", line.metric, line.dataset]
    return [
        *place,
        f"{r.difference:+.4g}",
        "none" if r.low is None or r.high is None else f"{r.low:.4g} to {r.high:.4g}",
        "" if r.adjusted_p is None else f"{r.adjusted_p:.2g}",
        "" if r.log_e is None else f"{r.log_e:.2f}",
        f"{r.n} {line.unit}s",
        "" if r.samples_needed is None else f"~{r.samples_needed}",
        line.metric,
        line.dataset,
    ]
