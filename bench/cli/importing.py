"""The verb `import`: results made elsewhere, from a table into a store."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench.cli.common import DEFAULT_RESULTS, ResultsDir
from bench.cli.run import SizeName
from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.spec import Direction, MetricInfo


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


def import_(
    table: Annotated[Path, typer.Argument(help="Parquet or CSV file.")],
    family: Annotated[str, typer.Option("--family", help="Family that the tasks belong to.")],
    columns: Annotated[
        list[str] | None, typer.Option("--map", help="ROLE=COLUMN, e.g. repeat=fold (repeatable).")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", help="COLUMN:max|min[:LO:HI] of a wide table, primary first (repeatable)."),
    ] = None,
    task: Annotated[str, typer.Option("--task", help="Task of a table without a column for it.")] = "table",
    size: Annotated[SizeName, typer.Option("--size", help="Size the results count as.")] = SizeName.full,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", help="A model that is a floor, not a contender (repeatable)."),
    ] = None,
    test_over_train: Annotated[
        float,
        typer.Option(
            "--test-over-train", min=0.0, help="n_test / n_train of resampled splits; 0: independent."
        ),
    ] = 0.0,
    source: Annotated[str, typer.Option("--source", help="Where the table comes from, in words.")] = "",
    results: ResultsDir = DEFAULT_RESULTS,
) -> None:
    """Import a table of results made elsewhere; the site labels them as imported."""
    from bench.importing import TableMap, import_table
    from bench.store import Store

    how = TableMap(
        family=family,
        columns=dict(_pair(text) for text in columns or ()),
        metrics=tuple(_metric(text, i == 0) for i, text in enumerate(metric or ())),
        task=task,
        size=size.value,
        baselines=tuple(baseline or ()),
        test_over_train=test_over_train,
        source=source,
    )
    done = import_table(table, Store.open(results, create=True), how, argv=sys.argv[1:])
    typer.echo(
        f"{done.jobs} results, {done.failed} of them failed, {done.known} known already -> {results}",
        err=True,
    )


def _pair(text: str) -> tuple[str, str]:
    role, sign, column = text.partition("=")
    if not (role and sign and column):
        raise UsageError(f"--map {text!r}: use ROLE=COLUMN, e.g. repeat=fold")
    return role, column


def _metric(text: str, primary: bool) -> MetricInfo:
    from bench.spec import MetricInfo, check_name

    name, *rest = text.split(":")
    if len(rest) not in (1, 3) or rest[0] not in ("max", "min"):
        raise UsageError(f"--metric {text!r}: use COLUMN:max or COLUMN:min:LO:HI")
    try:
        lo, hi = (float(end) for end in rest[1:]) if len(rest) == 3 else (-math.inf, math.inf)
    except ValueError:
        raise UsageError(f"--metric {text!r}: LO and HI must be numbers") from None
    direction: Direction = "max" if rest[0] == "max" else "min"
    return MetricInfo(
        name=check_name(name, "metric"), direction=direction, lo=lo, hi=hi, primary=primary, title=name
    )
