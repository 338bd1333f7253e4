"""Verbs for people who bring a model: new, check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bench.cli.common import DEFAULT_SUBMISSIONS, SubmissionsDir, full_registry


def register(app: typer.Typer) -> None:
    new = typer.Typer(help="Write the files of a new model.", no_args_is_help=True)
    new.command("model")(new_model)
    app.add_typer(new, name="new")
    app.command()(check)


def new_model(
    name: Annotated[str, typer.Argument(help="Name of the model: a-z, 0-9, '.', '_', '-'.")],
    family: Annotated[str, typer.Option("--family", help="The family whose adapter it is.")] = "images",
    parent: Annotated[Path, typer.Option("--in", help="Where the model's folder is made.")] = Path(),
) -> None:
    """Write a runnable adapter, its submission.toml and a test into a new folder."""
    from bench.scaffold import new_model as write

    written = write(name, family, parent)
    for path in written:
        typer.echo(str(path))
    folder = written[0].parent
    typer.echo(f"next: bench check {folder}/   then   bench run --suite {family} --model {folder}/")


def check(
    model: Annotated[str, typer.Argument(help="Model name, FILE.py:CLASS or submission folder.")],
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """Test a model's contract on tiny data in isolated processes; one line per check, exit 0 or 1."""
    from bench.check import check_model
    from bench.cli.run import find_models

    registry = full_registry(submissions, [model])
    name = find_models(registry, [model])[0]
    passed = True
    for result in check_model(registry, name):
        passed = passed and result.passed
        typer.echo(f"{'pass' if result.passed else 'FAIL'}  {result.name}: {result.detail}")
    raise typer.Exit(0 if passed else 1)
