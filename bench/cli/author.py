"""Verbs for people who bring a model: new, check, units."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bench.cli.common import (
    DEFAULT_SUBMISSIONS,
    AsJson,
    SubmissionsDir,
    full_registry,
    printable_lines,
    show_json,
    show_table,
    warn,
)
from bench.cli.run import SizeName, find_models

if TYPE_CHECKING:
    from bench.check import CheckResult
    from bench.plan import Selection


class KindName(StrEnum):
    python = "class"
    command = "command"
    artifacts = "artifacts"


def register(app: typer.Typer) -> None:
    new = typer.Typer(help="Write the files of a new model.", no_args_is_help=True)
    new.command("model")(new_model)
    app.add_typer(new, name="new")
    app.command()(check)
    app.command()(units)


def new_model(
    name: Annotated[str, typer.Argument(help="Name of the model: a-z, 0-9, '.', '_', '-'.")],
    family: Annotated[str, typer.Option("--family", help="The family it belongs to.")] = "images",
    kind: Annotated[
        KindName,
        typer.Option(
            "--kind", help="A Python class, a command in any language, or artifacts made elsewhere."
        ),
    ] = KindName.python,
    size: Annotated[
        SizeName, typer.Option("--size", help="Of artifacts: the size whose units are listed.")
    ] = SizeName.small,
    parent: Annotated[Path, typer.Option("--in", help="Where the model's folder is made.")] = Path(),
) -> None:
    """Write a model that runs, or a card for artifacts, into a new folder."""
    from bench.plan import Selection
    from bench.scaffold import new_model as write

    found: list[Any] = []
    if kind is KindName.artifacts:
        everything = _found(full_registry(), Selection(suites=(family,), size=size.value))
        # Of tasks for some models only, nobody knows yet whether this is one of them.
        found = [u for t, _, u in everything if not t.info.only_tags] or [u for *_, u in everything]
    written = write(name, family, parent, kind.value, found)
    for path in written:
        typer.echo(str(path))
    folder = written[0].parent
    if kind is KindName.artifacts:
        typer.echo(f"next: bench units --suite {family} --size {size.value} --export inputs/   then fill")
        typer.echo(
            f"      {folder}/artifacts/, bench seal {folder}/, bench check {folder}/, bench submit {folder}/"
        )
        return
    typer.echo(f"next: bench check {folder}/   then   bench run --suite {family} --model {folder}/")
    typer.echo(f"      bench submit {folder}/   makes it part of every bench run --suite all")


def check(
    model: Annotated[str, typer.Argument(help="Model name, FILE.py:CLASS or submission folder.")],
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """Test a model's contract on tiny data in isolated processes; one line per check, exit 0 or 1."""
    from bench.check import check_model

    registry = full_registry(submissions, [model])
    name = find_models(registry, [model])[0]
    raise typer.Exit(0 if show_checks(check_model(registry, name)) else 1)


def show_checks(results: Iterable[CheckResult]) -> bool:
    """Print the results as they come; whether all of them passed."""
    passed = True
    for result in results:
        passed = passed and result.passed
        typer.echo(printable_lines(f"{'pass' if result.passed else 'FAIL'}  {result.name}: {result.detail}"))
    return passed


def units(
    suite: Annotated[str, typer.Option("--suite", help="all, or one family.")] = "all",
    task: Annotated[list[str] | None, typer.Option("--task", help="Task name or glob (repeatable).")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", help="Dataset name or glob (repeatable).")
    ] = None,
    size: Annotated[SizeName, typer.Option("--size", help="Which size.")] = SizeName.small,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="Seeds per task and dataset.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the whole suite.")] = 0,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write what each unit asks for, with its data, there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the units of a task with their seeds: what a model is to be run on, here or elsewhere."""
    from bench.plan import Selection

    registry = full_registry()
    warn(registry)
    selection = Selection(
        suites=(suite,),
        tasks=tuple(task or ()),
        datasets=tuple(dataset or ()),
        size=size.value,
        repeats=repeats,
        seed=seed,
    )
    found = _found(registry, selection)
    if export is not None:
        _export(found, export)
        return
    head = ["task", "task_version", "dataset", "size", "repeat", "seed"]
    rows = [[u.task, t.info.version, u.dataset, u.size, u.repeat, u.seed] for t, _, u in found]
    settings = [u.settings for *_, u in found]
    if as_json:
        show_json(
            [
                {**dict(zip(head, row, strict=True)), "settings": s}
                for row, s in zip(rows, settings, strict=True)
            ]
        )
    else:
        show_table([*head, "settings"], [[*row, _settings(s)] for row, s in zip(rows, settings, strict=True)])


def _settings(settings: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _found(registry: Any, selection: Selection) -> list[Any]:
    from bench.errors import UsageError
    from bench.plan import list_units

    found = list_units(registry, selection)
    if not found:
        raise UsageError(f"no selected task has a unit at size {selection.size}")
    return found


def _export(found: list[Any], folder: Path) -> None:
    """Write the input folders of `found`; a unit that cannot be written here costs a line, not the rest."""
    from bench.errors import MissingRequirement
    from bench.exporting import export_unit
    from bench.scaffold import artifact_path

    failed = 0
    for task, dataset, unit in found:
        target = folder / artifact_path(unit)
        try:
            export_unit(task, dataset, unit, target)
        except MissingRequirement as error:
            failed += 1
            typer.echo(f"left out {target}: {printable_lines(str(error))}", err=True)
        else:
            typer.echo(str(target))
    raise typer.Exit(1 if failed == len(found) else 0)
