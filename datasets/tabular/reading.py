"""Columns of any table, synthetic ones above all, read as the numbers or levels a schema promises.

Nothing is cast silently: every value that had to be interpreted, or could not be, is counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types as dtypes

from bench.datasets.tabular.columns import EXACT, ColumnSpec, dense, to_float
from bench.datasets.tabular.values import plain

MISSING = -1  # code of a missing level; an unseen one has code K = len(spec.categories)


@dataclass(frozen=True, slots=True)
class Numbers:
    """float64 values, NaN where missing; `texts` were read from text, `unreadable` became missing."""

    values: npt.NDArray[np.float64]
    texts: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Levels:
    """int32 codes: 0..K-1 known, K unseen, -1 missing; `unseen` counts the rows of each unseen level."""

    codes: npt.NDArray[np.int32]
    unseen: Mapping[Hashable, int] = field(default_factory=dict)


def read_numbers(column: pd.Series[Any], spec: ColumnSpec) -> Numbers:
    """The column as float64, less `spec.offset`; datetimes in seconds since 1970-01-01 UTC.

    Booleans are 0 and 1. Text is parsed; what does not parse, or is no number at all, becomes missing.
    """
    column = dense(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if not column.hasnans else object)
    if spec.kind == "datetime":
        return _read_times(column)
    dtype: Any = column.dtype
    if dtypes.is_integer_dtype(dtype) and spec.offset:
        return Numbers(_less(column, spec.offset))
    if dtypes.is_datetime64_any_dtype(dtype):
        return Numbers(np.full(len(column), np.nan), 0, int(column.notna().sum()))
    if dtypes.is_numeric_dtype(dtype) or dtypes.is_timedelta64_dtype(dtype):
        values = np.real(column.to_numpy()) if dtypes.is_complex_dtype(dtype) else to_float(column)
        return Numbers(values - spec.offset if spec.offset else values)
    return _parse_numbers(column, spec.offset)


def _less(column: pd.Series[Any], offset: int) -> npt.NDArray[np.float64]:
    """Whole numbers minus `offset`, subtracted exactly and then converted."""
    codes, distinct = pd.factorize(column)
    shifted = np.array([float(int(value) - offset) for value in distinct] + [np.nan])
    return shifted[codes]


def _parse_numbers(column: pd.Series[Any], offset: int) -> Numbers:
    """Objects and text: numbers are kept, text is parsed, anything else is unreadable."""
    codes, distinct = _factorize(column)
    parsed = np.full(len(distinct) + 1, np.nan)
    text = np.zeros(len(distinct) + 1, dtype=bool)
    for i, value in enumerate(distinct):
        text[i] = isinstance(value, str)
        parsed[i] = _number(value, offset)
    unreadable = np.isnan(parsed[:-1])[codes[codes >= 0]]
    read = text[codes] & ~np.isnan(parsed[codes])
    return Numbers(parsed[codes], int(read.sum()), int(unreadable.sum()))


def _number(value: Any, offset: int) -> float:
    """`value` less `offset`, NaN if it is no number; whole numbers in text are exact at any size."""
    value = plain(value)
    if isinstance(value, pd.Timedelta):
        value = value.total_seconds()
    try:
        if isinstance(value, (int, str)):
            return float(int(value) - offset)
    except (ValueError, OverflowError):
        pass
    try:
        return float(value) - offset
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _read_times(column: pd.Series[Any]) -> Numbers:
    if dtypes.is_datetime64_any_dtype(column.dtype):
        return Numbers(to_float(column))
    if dtypes.is_numeric_dtype(column.dtype):
        return Numbers(np.full(len(column), np.nan), 0, int(column.notna().sum()))
    codes, distinct = _factorize(column)
    moments = [_moment(value) for value in distinct]
    seconds = np.array([*moments, np.nan])
    text = np.array([isinstance(value, str) for value in distinct] + [False])
    unreadable = np.isnan(seconds[:-1])[codes[codes >= 0]]
    read = text[codes] & ~np.isnan(seconds[codes])
    return Numbers(seconds[codes], int(read.sum()), int(unreadable.sum()))


def _moment(value: Any) -> float:
    if isinstance(value, (int, float)):
        return float("nan")
    try:
        return float(to_float(pd.Series([pd.Timestamp(value)]))[0])
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def read_levels(column: pd.Series[Any], spec: ColumnSpec) -> Levels:
    """The column as codes of `spec.categories`; equality is Python's, so 1, 1.0 and True are one level."""
    assert spec.categories is not None
    known = {level: code for code, level in enumerate(spec.categories)}
    codes, distinct = _factorize(dense(column))
    mapped = [known.get(plain(value), len(known)) for value in distinct]
    table = np.array([*mapped, MISSING], dtype=np.int32)
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    unseen = {
        plain(value): int(n)
        for value, code, n in zip(distinct, mapped, counts, strict=True)
        if code == len(known) and n
    }
    return Levels(table[codes], unseen)


def _factorize(column: pd.Series[Any]) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Codes (-1 missing) and distinct values; values that can't be hashed are replaced by their text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.intp), column.cat.categories.tolist()
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:
        codes, distinct = pd.factorize(column.map(_hashable).astype(object))
    return codes, pd.Series(distinct).tolist() if not isinstance(distinct, np.ndarray) else list(distinct)


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value  # type: ignore[no-any-return]


def count_off_grid(values: npt.NDArray[np.float64], spec: ColumnSpec) -> int:
    """Finite values with more decimals than were ever seen (integer: that are not whole)."""
    decimals = 0 if spec.kind == "integer" else spec.decimals
    if decimals is None:
        return 0
    finite = values[np.isfinite(values) & (np.abs(values) < EXACT)]
    return int((np.abs(np.round(finite, decimals) - finite) > 1e-12 * np.maximum(1.0, np.abs(finite))).sum())
