"""What a table is made of: kinds, gaps, levels and ranges of its columns, and what metrics will stumble over."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bench.datasets.tabular.columns import LEVELS
from bench.datasets.tabular.reading import read_levels, read_numbers
from bench.datasets.tabular.schema import ColumnSpec, TableSchema


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column: shares in [0, 1]; `values` describes its range or its most frequent levels."""

    name: str
    kind: str
    missing: float
    distinct: int
    values: str
    remark: str


@dataclass(frozen=True, slots=True)
class TableProfile:
    """A table: rows, how many repeat an earlier one, the task that the target poses, columns."""

    rows: int
    duplicates: int
    target: str | None
    task: str | None
    columns: tuple[ColumnProfile, ...]


def profile(frame: pd.DataFrame, target: Hashable | None = None) -> TableProfile:
    """Profile `frame`; `SchemaError` for a column that no table may hold, or a target that is not there."""
    schema = TableSchema.infer(frame, target)
    columns = [
        _column(frame.iloc[:, j], spec, label)
        for j, (spec, label) in enumerate(zip(schema.columns, schema.labels, strict=True))
    ]
    duplicates = int(frame.astype(object).map(repr).duplicated().sum()) if len(frame) else 0
    return TableProfile(
        len(frame), duplicates, None if target is None else str(target), schema.task, tuple(columns)
    )


def _column(column: pd.Series[Any], spec: ColumnSpec, label: str) -> ColumnProfile:
    missing = float(column.isna().mean()) if len(column) else 0.0
    if spec.kind in LEVELS:
        distinct, values = _levels(column, spec)
    elif spec.kind == "id":
        distinct, values = int(column.nunique()), "identifies rows"
    else:
        distinct, values = _numbers(column, spec)
    remark = "not measured" if spec.kind == "id" else "constant" if distinct <= 1 else ""
    return ColumnProfile(label, spec.kind, missing, distinct, values, remark)


def _levels(column: pd.Series[Any], spec: ColumnSpec) -> tuple[int, str]:
    levels = spec.categories or ()
    codes = read_levels(column, spec).codes
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    order = np.argsort(-counts, kind="stable")[:4]
    shown = ", ".join(f"{str(levels[i])[:24]} {counts[i] / max(1, counts.sum()):.0%}" for i in order)
    return len(levels), shown + (", ..." if len(levels) > len(order) else "")


def _numbers(column: pd.Series[Any], spec: ColumnSpec) -> tuple[int, str]:
    values = read_numbers(column, spec).values
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0, "no finite value"
    quantiles = [*np.quantile(finite, (0, 0.5, 1))]
    if spec.kind == "datetime":
        shown = [str(pd.Timestamp(q, unit="s").date()) for q in quantiles]
    else:
        shown = [f"{q + spec.offset:.6g}" for q in quantiles]
    return len(np.unique(finite)), f"{shown[0]} to {shown[2]}, median {shown[1]}"
