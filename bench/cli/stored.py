"""Verbs that work on a results store without running a model: rescore, verify."""

from __future__ import annotations

from typing import Annotated

import typer

from bench.cli.common import DEFAULT_RESULTS, AsJson, ResultsDir, show_json, show_table


def register(app: typer.Typer) -> None:
    app.command()(verify)


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
