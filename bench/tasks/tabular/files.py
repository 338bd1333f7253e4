"""Tables in files, for the command line: CSV and Parquet, real ones read freely, synthetic ones by the schema."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from bench.datasets.tabular.schema import TableSchema
from bench.errors import InvalidOutput, UsageError
from bench.tasks.tabular.artifact import read_csv
from bench.tasks.tabular.evaluate import evaluate
from bench.tasks.tabular.profiling import TableProfile, profile
from bench.tasks.tabular.report import Report


def score_files(
    real: Path,
    synthetic: Path,
    *,
    target: str | None = None,
    holdout: Path | None = None,
    test: Path | None = None,
    metrics: str | Iterable[str] = "default",
    seed: int = 0,
) -> Report:
    """`evaluate` on files. The schema is inferred from all real rows, and text in `synthetic` is read by it.

    Raises `UsageError` for a file that can't be read, `SchemaError` for a table that doesn't fit.
    """
    train = read_frame(real)
    others = {"holdout": holdout, "test": test}
    fresh = {name: read_frame(path) for name, path in others.items() if path is not None}
    schema = TableSchema.infer(pd.concat([train, *fresh.values()], ignore_index=True), target)
    made = _synthetic(synthetic, schema)
    return evaluate(train, made, schema=schema, metrics=metrics, seed=seed, **fresh)  # type: ignore[arg-type]


def profile_file(path: Path, *, target: str | None = None) -> TableProfile:
    """`profile` of a table in a file."""
    return profile(read_frame(path), target)


def read_frame(path: Path) -> pd.DataFrame:
    """A .csv (also compressed) or .parquet file as pandas reads it; `UsageError` if it can't."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    try:
        if suffixes[-1:] == [".parquet"]:
            return pd.read_parquet(path)
        if ".csv" in suffixes:
            return pd.read_csv(path)
    except Exception as error:  # every reader raises its own kinds
        raise UsageError(f"{path} can't be read: {type(error).__name__}: {error}") from error
    raise UsageError(f"{path} is neither .csv nor .parquet")


def _synthetic(path: Path, schema: TableSchema) -> pd.DataFrame:
    if not path.is_file() or path.suffix.lower() != ".csv":
        return read_frame(path)
    try:
        return read_csv(path, schema)
    except InvalidOutput as error:
        raise UsageError(str(error)) from None
