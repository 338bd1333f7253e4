"""What is wrong or odd about a table, measured by a schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from bench.datasets.tabular.columns import LEVELS, ColumnSpec
from bench.datasets.tabular.reading import MISSING, Numbers, count_off_grid, read_levels, read_numbers
from bench.datasets.tabular.schema import Issue, TableSchema

SMALL_SAMPLE = 50
_SHOWN = 5  # unseen levels named in a message


def find_issues(schema: TableSchema, df: Any, *, rows: int | None) -> list[Issue]:
    """All issues of `df`, fatal ones first; whatever `df` is, nothing is raised."""
    if not isinstance(df, pd.DataFrame):
        return [Issue(None, f"a {type(df).__name__} instead of a pandas DataFrame", fatal=True)]
    issues = list(fatal_issues(schema, df, rows=rows))
    if 0 < len(df) < SMALL_SAMPLE:
        issues.append(Issue(None, f"small sample: {len(df)} rows"))
    for spec, column in _pairs(schema, df):
        try:
            issues += _column_issues(column, spec)
        except Exception as error:  # a strange extension type: the table can't be scored, the bench goes on
            reason = f"cannot be read ({type(error).__name__}: {error})"
            issues.append(Issue(spec.name, reason, fatal=True))
    return sorted(issues, key=lambda issue: not issue.fatal)


def fatal_issues(schema: TableSchema, df: pd.DataFrame, *, rows: int | None) -> Iterator[Issue]:
    """Missing and extra columns, and a wrong number of rows."""
    wanted = Counter(schema.names)
    found: Counter[Hashable] = Counter(list(df.columns))
    for name in wanted - found:
        times = "" if wanted[name] == 1 else f" ({found[name]} of {wanted[name]} of that name)"
        yield Issue(name, f"is missing{times}; the table has {_some(list(df.columns))}", fatal=True)
    for name, count in (found - wanted).items():
        times = "" if count == found[name] == 1 else f" ({found[name]} instead of {wanted[name]})"
        yield Issue(name, f"is not in the schema{times}", fatal=True)
    if rows is not None and len(df) != rows:
        yield Issue(None, f"{len(df)} rows instead of {rows}", fatal=True)
    elif len(df) == 0:
        yield Issue(None, "no rows", fatal=True)


def positions(schema: TableSchema, df: pd.DataFrame) -> list[int]:
    """Position in `df` of every column of the schema; the k-th of a name is the k-th of that name."""
    at: dict[Hashable, list[int]] = {}
    for position, name in enumerate(df.columns):
        at.setdefault(name, []).append(position)
    return [at[name].pop(0) for name in schema.names]


def _pairs(schema: TableSchema, df: pd.DataFrame) -> Iterator[tuple[ColumnSpec, pd.Series[Any]]]:
    """The columns that are in both, ids left out."""
    at: dict[Hashable, list[int]] = {}
    for position, name in enumerate(df.columns):
        at.setdefault(name, []).append(position)
    for spec in schema.columns:
        places = at.get(spec.name)
        if places:
            position = places.pop(0)
            if spec.kind != "id":
                yield spec, df.iloc[:, position]


def _column_issues(column: pd.Series[Any], spec: ColumnSpec) -> Iterator[Issue]:
    if spec.kind in LEVELS:
        yield from _level_issues(column, spec)
    else:
        yield from _number_issues(read_numbers(column, spec), spec)


def _level_issues(column: pd.Series[Any], spec: ColumnSpec) -> Iterator[Issue]:
    levels = read_levels(column, spec)
    if levels.unseen:
        often = sorted(levels.unseen, key=lambda level: (-levels.unseen[level], repr(level)))
        reason = f"{len(often)} unseen levels: {_some(often)}"
        yield Issue(spec.name, reason, count=sum(levels.unseen.values()))
    yield from _missing_issue(int((levels.codes == MISSING).sum()), spec)
    if len(levels.codes) and levels.codes.min() == levels.codes.max():
        yield Issue(spec.name, "is constant", count=len(levels.codes))


def _number_issues(numbers: Numbers, spec: ColumnSpec) -> Iterator[Issue]:
    values = numbers.values
    if numbers.texts:
        yield Issue(spec.name, "numbers as text, parsed", count=numbers.texts)
    if numbers.unreadable:
        yield Issue(spec.name, "values that are no numbers, taken as missing", count=numbers.unreadable)
    if infinite := int(np.isinf(values).sum()):
        yield Issue(spec.name, "infinite values", count=infinite)
    if off := count_off_grid(values, spec):
        what = "whole numbers" if spec.kind == "integer" else f"numbers of {spec.decimals} decimals"
        yield Issue(spec.name, f"values that are not {what}", count=off)
    yield from _missing_issue(int(np.isnan(values).sum()) - numbers.unreadable, spec)
    present = values[~np.isnan(values)]
    if len(present) == len(values) > 0 and present.min() == present.max():
        yield Issue(spec.name, "is constant", count=len(values))


def _missing_issue(missing: int, spec: ColumnSpec) -> Iterator[Issue]:
    if missing and not spec.nullable:
        yield Issue(spec.name, "missing values, which the real column has not", count=missing)


def _some(values: list[Any]) -> str:
    shown = ", ".join(_short(value) for value in values[:_SHOWN])
    return shown + (f", ... ({len(values)} in all)" if len(values) > _SHOWN else "")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
