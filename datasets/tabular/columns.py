"""What one column holds: its kind, found from real data, and its values as numbers or levels."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types as dtypes

from bench.datasets.tabular.values import is_known, plain, sort_levels

Kind = Literal["numeric", "integer", "categorical", "ordinal", "boolean", "datetime", "id"]
KINDS: tuple[Kind, ...] = ("numeric", "integer", "categorical", "ordinal", "boolean", "datetime", "id")
NUMBERS: frozenset[Kind] = frozenset({"numeric", "integer", "datetime"})
LEVELS: frozenset[Kind] = frozenset({"categorical", "ordinal", "boolean"})

MAX_DECIMALS = 15
EXACT = 2**53  # whole numbers up to here are exact as float64
_EVEN_RANGE = 12  # more evenly spaced whole numbers than this are a quantity, not codes
_FEWEST_ROWS_FOR_ID = 50  # in fewer rows all values of an ordinary column may differ by chance


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One column of a table.

    `categories` are the levels seen (categorical, boolean: sorted; ordinal: in their order; else None).
    `decimals` is the largest number of decimals seen (numeric, at most 15; else None). `offset` is
    subtracted before whole numbers beyond 2^53 are stored as floats.
    """

    name: Hashable
    kind: Kind
    categories: tuple[Hashable, ...] | None = None
    nullable: bool = True
    decimals: int | None = None
    offset: int = 0


class UnusableColumn(ValueError):
    """A column holds what no table may hold; the message is the reason."""


def infer_column(
    column: pd.Series[Any],
    name: Hashable,
    *,
    kind: Kind | None = None,
    max_int_categories: int = 20,
    id_unique_share: float = 0.95,
) -> ColumnSpec:
    """The `ColumnSpec` of a column of real data; a given `kind` is kept and only the rest inferred.

    bool -> boolean; datetime64 and periods -> datetime; `category` -> categorical, or ordinal if ordered;
    text and mixed objects -> categorical; whole numbers of an integer type -> categorical if there are at
    most `max_int_categories` values, unless these are more than 12 evenly spaced ones, else integer;
    floats (and timedeltas in seconds) -> integer if all are whole, else numeric. Text and integer types of
    which more than `id_unique_share` of the values differ (from 50 values on) -> id.
    """
    column = dense(column)
    present = column[column.notna()]
    nullable = len(present) < len(column)
    if kind is None:
        kind = _kind(present, max_int_categories, id_unique_share)
    if kind in LEVELS:
        return ColumnSpec(name, kind, tuple(levels_of(present, ordered=kind == "ordinal")), nullable)
    if kind == "numeric":
        return ColumnSpec(name, kind, None, nullable, count_decimals(present))
    offset = _offset(present) if kind == "integer" else 0
    return ColumnSpec(name, kind, None, nullable, None, offset)


def dense(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column without sparse storage, periods as their start."""
    if isinstance(column.dtype, pd.SparseDtype):
        column = pd.Series(column.array.to_dense(), index=column.index)
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    return column


def _kind(present: pd.Series[Any], max_int_categories: int, id_unique_share: float) -> Kind:
    dtype: Any = present.dtype
    if dtypes.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return "boolean"
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "categorical"
    if dtypes.is_datetime64_any_dtype(dtype):
        return "datetime"
    if dtypes.is_timedelta64_dtype(dtype) or dtypes.is_float_dtype(dtype):
        numbers = to_float(present)
        numbers = numbers[np.isfinite(numbers)]
        return "integer" if len(numbers) and bool((numbers == np.floor(numbers)).all()) else "numeric"
    if dtypes.is_complex_dtype(dtype):
        raise UnusableColumn("holds complex numbers; split them into two columns")
    if dtypes.is_integer_dtype(dtype):
        return _kind_of_integers(present, max_int_categories, id_unique_share)
    return "id" if _mostly_distinct(present, len(_distinct(present)), id_unique_share) else "categorical"


def _kind_of_integers(present: pd.Series[Any], max_int_categories: int, id_unique_share: float) -> Kind:
    distinct = sorted(int(value) for value in present.unique())
    if _mostly_distinct(present, len(distinct), id_unique_share):
        return "id"
    if len(distinct) > max_int_categories:
        return "integer"
    steps = {high - low for low, high in pairwise(distinct)}
    even = len(distinct) > _EVEN_RANGE and len(steps) == 1
    return "integer" if even else "categorical"


def _mostly_distinct(present: pd.Series[Any], distinct: int, share: float) -> bool:
    return len(present) >= _FEWEST_ROWS_FOR_ID and distinct > share * len(present)


def _distinct(present: pd.Series[Any]) -> list[Any]:
    """Distinct values, 1 beside True, as plain objects; `UnusableColumn` for objects that are no single values."""
    values = present.tolist() if present.dtype == object else present.unique().tolist()
    try:
        found = [value for _, value in dict.fromkeys((type(v), v) for v in map(plain, values))]
    except TypeError as error:
        raise UnusableColumn(f"holds values that are not hashable ({error})") from None
    strange = next((value for value in found if not is_known(value)), None)
    if strange is not None:
        raise UnusableColumn(
            f"holds values of type {type(strange).__name__}; convert them to text or numbers"
        )
    return found


def levels_of(present: pd.Series[Any], *, ordered: bool = False) -> list[Hashable]:
    """Levels among non-missing values. Those of a `category` type keep its order if `ordered`."""
    if isinstance(present.dtype, pd.CategoricalDtype):
        used = present.cat.remove_unused_categories().cat.categories
        levels = _distinct(used.to_series())
        return levels if ordered or present.cat.ordered else sort_levels(levels)
    return sort_levels(_distinct(present))


def count_decimals(present: pd.Series[Any]) -> int:
    """Largest number of decimals among finite values, at most 15."""
    numbers = np.unique(to_float(present))
    numbers = numbers[np.isfinite(numbers)]
    for decimals in range(MAX_DECIMALS):
        numbers = numbers[np.round(numbers, decimals) != numbers]
        if not len(numbers):
            return decimals
    return MAX_DECIMALS


def to_float(column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Numbers as float64: booleans 0/1, times in seconds (since 1970-01-01 UTC), missing NaN.

    Single precision becomes what it is printed as, so that 0.1 is the same number in either precision.
    """
    dtype: Any = column.dtype
    if dtypes.is_datetime64_any_dtype(dtype) or dtypes.is_timedelta64_dtype(dtype):
        return _seconds(column)
    numbers = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    if dtypes.is_float_dtype(dtype) and dtype.itemsize < 8:
        distinct, codes = np.unique(numbers, return_inverse=True)
        numbers = np.array([float(str(value)) for value in distinct.astype(np.float32)])[codes]
    return numbers


def _seconds(column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Whole seconds and their remainder are converted apart, so that only the sum is rounded."""
    index: Any = pd.DatetimeIndex(column) if dtypes.is_datetime64_any_dtype(column.dtype) else None
    if index is None:
        index = pd.TimedeltaIndex(column)
    elif index.tz is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[index.unit]
    ticks = index.asi8
    seconds = ticks // per_second + (ticks % per_second) / per_second
    return np.where(index.isna(), np.nan, seconds)


def _offset(present: pd.Series[Any]) -> int:
    """Minimum of whole numbers some of which are not exact as float64, else 0."""
    if not dtypes.is_integer_dtype(present.dtype) or not len(present):
        return 0
    low, high = int(present.min()), int(present.max())
    return low if max(abs(low), abs(high)) > EXACT else 0
