"""Verbs that work on a results store without running a model: rescore, verify, merge, export."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
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
from bench.cli.run import SizeName


class FormatName(StrEnum):
    csv = "csv"
    parquet = "parquet"
    jsonl = "jsonl"


def register(app: typer.Typer) -> None:
    app.command()(rescore)
    app.command()(verify)
    app.command()(merge)
    app.command()(export)


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
        place = {True: "moved to quarantine/", False: ""}
        rows = [[p.kind, place[p.quarantined], p.path, p.message] for p in problems]
        show_table(["problem", "", "file", "what is wrong"], rows)
    else:
        typer.echo(f"{results}: every file is as it was written")
    raise typer.Exit(1 if problems else 0)


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Results stores to add.")],
    results: ResultsDir = DEFAULT_RESULTS,
) -> None:
    """Add the results of other stores; exit 1, with nothing written, if two of them contradict each other."""
    from bench.errors import UsageError
    from bench.store import Store

    stores = [Store.open(source) for source in sources]
    target = Store.open(results, create=True)
    stores = [store for store in stores if not store.path.samefile(target.path)]
    if not stores:
        raise UsageError(f"nothing to merge: {results} is the store that others are to be added to")
    target.probe()
    new = target.merge(stores)
    typer.echo(f"{new} new jobs from {len(stores)} stores -> {results}")


def export(
    file: Annotated[Path, typer.Argument(help="File to write, e.g. results.csv.")],
    file_format: Annotated[
        FormatName | None, typer.Option("--format", help="Default: what the file's name ends with.")
    ] = None,
    size: Annotated[SizeName | None, typer.Option("--size", help="Only results of this size.")] = None,
    results: ResultsDir = DEFAULT_RESULTS,
) -> None:
    """Write the current results as one flat table: a row per metric value, with all that is known of it."""
    from bench.errors import UsageError
    from bench.store import Store

    ending = file.suffix.removeprefix(".")
    if file_format is None:
        if ending not in list(FormatName):
            raise UsageError(
                f"cannot tell the format from the name {file.name!r}; end it with .csv, .parquet or .jsonl, "
                "or say --format"
            )
        file_format = FormatName(ending)
    store = Store.open(results)
    versions = {name: (t.info.version, t.info.scoring) for name, t in full_registry().tasks.items()}
    rows = store.export(file, file_format.value, versions=versions, size=size.value if size else None)
    typer.echo(f"{rows} rows -> {file}")
