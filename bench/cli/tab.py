"""Verbs for people who have two tables and no model: tab score, tab profile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from bench.cli.common import AsJson, show_json, show_table
from bench.errors import BenchError, UsageError

TargetName = Annotated[
    str | None, typer.Option("--target", help="The column that models are to predict, if there is one.")
]


def register(app: typer.Typer) -> None:
    tab = typer.Typer(help="Measure a synthetic table, or look at a real one.", no_args_is_help=True)
    tab.command()(score)
    tab.command()(profile)
    app.add_typer(tab, name="tab")


def score(
    real: Annotated[Path, typer.Argument(help="Rows the generator was trained on: .csv or .parquet.")],
    synthetic: Annotated[Path, typer.Argument(help="Rows it made, with the same columns.")],
    target: TargetName = None,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="As many fresh real rows: privacy metrics need them.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option("--test", help="Fresh real rows to test models on: structure, efficacy.")
    ] = None,
    metrics: Annotated[
        str, typer.Option("--metrics", help="default, light, a dimension, or names with commas between.")
    ] = "default",
    seed: Annotated[int, typer.Option("--seed", help="Seed of subsamples, folds and models.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="Write a report as a page there.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a synthetic table against real ones, without any adapter."""
    from bench.registry import resolve

    score_files = resolve("bench.tasks.tabular.files:score_files")
    names = metrics.split(",") if "," in metrics else metrics
    with _explained():
        report = score_files(
            real, synthetic, target=target, holdout=holdout, test=test, metrics=names, seed=seed
        )
    if html is not None:
        report.to_html(html)
    if as_json:
        show_json(report.to_dict())
        return
    _show_report(report)
    if html is not None:
        typer.echo(f"\nreport: {html}")


def profile(
    data: Annotated[Path, typer.Argument(help="A table: .csv or .parquet.")],
    target: TargetName = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a table is made of: kinds of columns, gaps, levels, ranges, duplicates."""
    import dataclasses

    from bench.registry import resolve

    with _explained():
        found = resolve("bench.tasks.tabular.files:profile_file")(data, target=target)
    if as_json:
        show_json(dataclasses.asdict(found))
        return
    task = f", target {found.target} ({found.task})" if found.target else ""
    show_table(["table"], [[f"{found.rows} rows, {found.duplicates} of them repeat an earlier one{task}"]])
    typer.echo()
    rows = [[c.name[:40], c.kind, f"{c.missing:.1%}", c.distinct, c.remark, c.values] for c in found.columns]
    show_table(["column", "kind", "missing", "distinct", "remark", "values"], rows)


def _show_report(report: Any) -> None:
    rows = ", ".join(f"{n} {name}" for name, n in report.sizes.items())
    show_table(["rows", "badges"], [[rows, ", ".join(report.badges) or "none"]])
    for dimension in dict.fromkeys(score.spec.dimension for score in report.values()):
        typer.echo()
        shown = [(n, s) for n, s in report.items() if s.spec.dimension == dimension]
        show_table([dimension, "value", "95 %", "best", "remarks"], [_row(n, s) for n, s in shown])
    if report.remarks:
        typer.echo()
        remarks = [[column or "(table)", count or "", remark] for column, remark, count in report.remarks]
        show_table(["column", "rows", "remark on the synthetic table"], remarks)


def _row(name: str, score: Any) -> list[str]:
    value = "-" if score.value is None else f"{score.value:.4f}"
    interval = "" if score.interval is None else "{:.3f} to {:.3f}".format(*score.interval)
    arrow = {"max": "higher", "min": "lower", "none": ""}[score.spec.direction]
    best = arrow if score.spec.target is None else f"{score.spec.target:g}"
    excluded = f"{score.n_excluded} left out" if score.n_excluded else ""
    return [
        name,
        value,
        interval,
        best,
        score.reason or ", ".join((*score.flags, *([excluded] if excluded else []))),
    ]


@contextmanager
def _explained() -> Iterator[None]:
    """Turns what is wrong with a table into a message with exit code 2."""
    try:
        yield
    except BenchError:
        raise
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from error
