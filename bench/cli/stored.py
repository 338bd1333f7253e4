"""Verbs that work on a results store without running a model: rescore, verify."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bench.cli.common import (
    DEFAULT_RESULTS,
    AsJson,
    ProgressName,
    ResultsDir,
    full_registry,
    show_json,
    show_table,
)


def register(app: typer.Typer) -> None:
    app.command()(rescore)
    app.command()(verify)


def rescore(
    task: Annotated[list[str] | None, typer.Option("--task", help="Task name or glob (repeatable).")] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Model name or glob, as stored (repeatable).")
    ] = None,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Only what an older scoring version made.")
    ] = False,
    results: ResultsDir = DEFAULT_RESULTS,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Jobs at a time.")] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:0,1.")] = "auto",
    progress: Annotated[ProgressName, typer.Option("--progress", help="How to report.")] = ProgressName.auto,
) -> None:
    """Compute the numbers of stored artifacts again; no model runs."""
    from bench import runner
    from bench.rescore import rescore_plan
    from bench.store import Store

    settings = runner.Settings(results=results, workers=workers, device=device, progress=progress.value)
    store = Store.open(results)
    plan = rescore_plan(
        full_registry(),
        store.current().to_pylist(),
        tasks=tuple(task or ()),
        models=tuple(model or ()),
        only_outdated=outdated,
    )
    prepared = runner.Prepared(plan=plan, store=store, past=store.history())
    summary = runner.execute(prepared, settings, sys.argv[1:])
    typer.echo(summary.line(results), err=True)
    raise typer.Exit(summary.exit_code)


def verify(
    results: ResultsDir = DEFAULT_RESULTS,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Move damaged and foreign files out of the way.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every file of the store against its hash and schema; exit 1 if anything is wrong."""
    import dataclasses

    from bench.store import Store

    problems = Store.open(results).verify(quarantine=quarantine)
    if as_json:
        show_json([dataclasses.asdict(p) for p in problems])
    elif problems:
        show_table(["problem", "file"], [[p.kind, p.path] for p in problems])
    else:
        typer.echo(f"{results}: every file is as it was written")
    raise typer.Exit(1 if problems else 0)
