"""What several verbs share: option types, the registry with submissions, tables on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bench.registry import Registry


class ProgressName(StrEnum):
    auto = "auto"
    plain = "plain"
    json = "json"
    none = "none"


ResultsDir = Annotated[
    Path, typer.Option("--results", "--out", envvar="BENCH_RESULTS", help="Folder of the results store.")
]
SubmissionsDir = Annotated[
    Path, typer.Option("--submissions", envvar="BENCH_SUBMISSIONS", help="Folder of submitted models.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
DEFAULT_RESULTS = Path("results")
DEFAULT_SITE = Path("site")
DEFAULT_SUBMISSIONS = Path("submissions")


def full_registry(submissions: Path = DEFAULT_SUBMISSIONS, models: Iterable[str] = ()) -> Registry:
    """Everything that has a name here: built in, installed, submitted, and given as a path."""
    from bench import registry as registries
    from bench import submissions as submitted

    registry = registries.load()
    submitted.add_folder(registry, submissions)
    for text in models:
        if text not in registry.models and submitted.is_path(text):  # a folder may be called like a model
            registry.add(submitted.from_path(text))
    return registry


def printable_lines(text: str) -> str:
    """`text` without anything a terminal would obey; lines after the first are set in."""
    from bench.progress import plain_lines

    return plain_lines(text)


def warn(registry: Registry) -> None:
    """One line on stderr for each registration that could not be used."""
    from bench.progress import printable

    for warning in registry.warnings:
        typer.echo(f"warning: {printable(warning, 400)}", err=True)


def show_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Columns as wide as their content; the last one is cut to the terminal, never wrapped."""
    from shutil import get_terminal_size

    from bench.progress import printable

    cells = [[printable(str(c), 10_000) for c in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    width = get_terminal_size((120, 24)).columns
    for row in cells:
        line = "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        typer.echo(line if len(line) <= width else line[: width - 1] + "…")


def show_json(value: Any) -> None:
    """`value` as indented JSON on stdout."""
    typer.echo(json.dumps(value, indent=2, sort_keys=True, default=str))
