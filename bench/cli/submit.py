"""Verbs that take submissions in and out: seal, submit, remove."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bench.cli.common import DEFAULT_SUBMISSIONS, SubmissionsDir, full_registry, printable_lines, warn

Folder = Annotated[Path, typer.Argument(help="Folder with submission.toml.")]


def register(app: typer.Typer) -> None:
    app.command()(seal)
    app.command()(submit)
    app.command()(remove)


def seal(folder: Folder) -> None:
    """Write the hashes of artifacts made elsewhere into the card that declares them."""
    from bench.submissions.sealing import seal as write

    found = write(folder)
    for what in ("filled", "changed"):
        for unit in getattr(found, what):
            typer.echo(f"{what}  {unit.path}  {unit.sha256}")
    kept, absent = len(found.kept), len(found.absent)
    total = len(found.filled) + len(found.changed) + kept
    typer.echo(f"{total} artifacts sealed ({kept} as before); {absent} units without an artifact")


def submit(
    folder: Folder,
    no_check: Annotated[
        str | None,
        typer.Option(
            "--no-check", metavar="WHY", help="Submit without the check, for a reason kept on record."
        ),
    ] = None,
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """Copy a model's folder into the submissions, check that copy, and let every run include it."""
    from bench.check import check_model
    from bench.cli.author import show_checks
    from bench.errors import UsageError
    from bench.submissions.submitting import staged

    if no_check is not None and not no_check.strip():
        raise UsageError("--no-check needs a reason, e.g. --no-check 'needs the GPU of another machine'")
    registry = full_registry(submissions)
    warn(registry)
    with staged(folder, submissions, registry) as copy:
        if no_check is None:
            registry.add(copy.model)
            if not show_checks(check_model(registry, copy.model.info.name)):
                typer.echo("nothing was submitted", err=True)
                raise typer.Exit(1)
        target = copy.accept(printable_lines(no_check or ""))
    typer.echo(f"submitted as {target}; `bench run --suite all` includes it")


def remove(
    name: Annotated[str, typer.Argument(help="Name of the submitted model.")],
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """Remove a submission; the results of its runs are kept."""
    from bench.submissions.submitting import remove as take_out

    folder = take_out(name, submissions)
    typer.echo(f"removed {folder}; results it already has stay in the store and on the site")
