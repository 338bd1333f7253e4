"""The training table as arrays, and the way back to a frame with the same names and types."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types as dtypes

from bench.datasets.tabular.schema import ColumnSpec, TableSchema

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

_NUMBERS = ("numeric", "integer", "datetime")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Table:
    """n training rows of p numeric and q categorical columns.

    numbers: float64 (n, p), NaN missing, infinite values moved to the finite range; times in seconds after
    the earliest one, whole numbers beyond 2^53 less the smallest one.
    codes: int64 (n, q), 0..levels[j]-1 over the levels that occur; a missing value is a level of its own.
    `numeric` and `coded` are the places of these columns in the schema. Columns of kind id are in neither.
    """

    def __init__(self, train: pd.DataFrame, schema: TableSchema) -> None:
        if not len(train):
            raise ValueError("a table without rows cannot be learned")
        self.schema = schema
        self._columns = [_plain(train.iloc[:, j], spec) for j, spec in enumerate(schema.columns)]
        self.n = len(train)
        self.numeric = [j for j, spec in enumerate(schema.columns) if spec.kind in _NUMBERS]
        self.coded = [j for j, spec in enumerate(schema.columns) if spec.kind not in (*_NUMBERS, "id")]
        self._scales = [_Scale(self._columns[j], schema.columns[j]) for j in self.numeric]
        self.numbers: Numbers = _stack([scale.values for scale in self._scales], self.n, np.float64)
        coded = [_codes(self._columns[j]) for j in self.coded]
        self.codes: Codes = _stack([codes for codes, _ in coded], self.n, np.int64)
        self.levels = [len(first) for _, first in coded]
        self._first = [first for _, first in coded]  # a training row that has the level

    @property
    def modelled(self) -> list[int]:
        """Places in the schema of all columns but ids, numeric ones first."""
        return [*self.numeric, *self.coded]

    def from_rows(self, rows: Codes) -> pd.DataFrame:
        """Values of training rows: `rows` (m,) for whole rows, or (m, p + q) in the order of `modelled`."""
        if rows.ndim == 1:
            rows = np.broadcast_to(rows[:, None], (len(rows), len(self.modelled)))
        parts = {j: self._columns[j].iloc[rows[:, i]] for i, j in enumerate(self.modelled)}
        return self._frame(parts, len(rows))

    def assemble(self, numbers: Numbers, codes: Codes) -> pd.DataFrame:
        """A frame of `numbers` (m, p) and `codes` (m, q), with the training table's types.

        Numbers are clipped to the range of training values and rounded to as many decimals as were seen.
        """
        parts = {j: self._scales[i].restore(numbers[:, i]) for i, j in enumerate(self.numeric)}
        for i, j in enumerate(self.coded):
            parts[j] = self._columns[j].iloc[self._first[i][codes[:, i]]]
        return self._frame(parts, len(numbers))

    def _frame(self, parts: dict[int, pd.Series[Any]], m: int) -> pd.DataFrame:
        for j, spec in enumerate(self.schema.columns):
            if spec.kind == "id":
                parts[j] = _new_ids(self._columns[j], m)
        ordered = [parts[j].reset_index(drop=True) for j in range(len(self.schema.columns))]
        frame = pd.concat(ordered, axis=1) if ordered else pd.DataFrame(index=range(m))
        frame.columns = pd.Index(list(self.schema.names), dtype=object, tupleize_cols=False)
        return frame


class _Scale:
    """One numeric column as floats, and back."""

    def __init__(self, column: pd.Series[Any], spec: ColumnSpec) -> None:
        self._column = column
        self._decimals = spec.decimals
        self._offset = 0
        self._ticks = 0  # per second, of times
        self._step = 1  # all times are this many ticks apart, or a multiple of it
        self.values = self._read(column, spec)
        finite = self.values[np.isfinite(self.values)]
        self.low = float(finite.min()) if len(finite) else 0.0
        self.high = float(finite.max()) if len(finite) else 0.0
        self.values = np.clip(self.values, self.low, self.high)  # NaN stays

    def _read(self, column: pd.Series[Any], spec: ColumnSpec) -> Numbers:
        dtype: Any = column.dtype
        if dtypes.is_datetime64_any_dtype(dtype) or dtypes.is_timedelta64_dtype(dtype):
            index: Any = pd.Index(column)
            self._ticks = _PER_SECOND[index.unit]
            missing = np.asarray(index.isna())
            ticks = index.asi8
            self._offset = int(ticks[~missing].min()) if not missing.all() else 0
            self._step = max(1, int(np.gcd.reduce(ticks[~missing] - self._offset)))
            return np.where(missing, np.nan, (ticks - self._offset) / self._ticks)
        if dtypes.is_integer_dtype(dtype) and spec.offset:
            self._offset = int(column.min())
            return np.array([np.nan if v is pd.NA else float(int(v) - self._offset) for v in column])
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)

    def restore(self, values: Numbers) -> pd.Series[Any]:
        """A column of the training type; missing where NaN, unless the type has no missing value."""
        missing = np.isnan(values)
        values = np.clip(np.where(missing, self.low, values), self.low, self.high)
        dtype: Any = self._column.dtype
        if self._ticks:
            return self._times(values, missing)
        if dtypes.is_integer_dtype(dtype):
            return self._whole(values, missing)
        if self._decimals is not None:
            values = np.round(values, self._decimals)
        elif not dtypes.is_bool_dtype(dtype):
            values = np.rint(values)  # an integer column stored as floats
        column = pd.Series(np.where(missing, np.nan, values))
        return column.astype(dtype) if dtypes.is_float_dtype(dtype) else column

    def _times(self, values: Numbers, missing: npt.NDArray[np.bool_]) -> pd.Series[Any]:
        steps = np.rint(values * self._ticks / self._step).astype(np.int64)
        ticks = steps * self._step + self._offset
        ticks[missing] = np.iinfo(np.int64).min  # NaT
        dtype: Any = self._column.dtype
        zone = getattr(dtype, "tz", None)
        unit = next(unit for unit, count in _PER_SECOND.items() if count == self._ticks)
        kind = "m8" if dtypes.is_timedelta64_dtype(dtype) else "M8"
        column = pd.Series(ticks.view(f"{kind}[{unit}]"))
        return column if zone is None else column.dt.tz_localize("UTC").dt.tz_convert(zone)

    def _whole(self, values: Numbers, missing: npt.NDArray[np.bool_]) -> pd.Series[Any]:
        dtype: Any = self._column.dtype
        whole = np.rint(values)
        if self._offset or np.abs(whole).max(initial=0.0) >= 2**62:
            exact = np.array([int(v) + self._offset for v in whole], dtype=object)
            top = int(self._column.max())
            column = pd.Series([min(value, top) for value in exact], dtype=object)
        else:
            column = pd.Series(whole.astype(np.int64))
        if isinstance(dtype, np.dtype):
            return column.astype(dtype)
        return column.astype(dtype).mask(missing)


def _plain(column: pd.Series[Any], spec: ColumnSpec) -> pd.Series[Any]:
    """Rows numbered from 0; sparse columns dense, periods as their start, numbers among objects as floats."""
    column = column.reset_index(drop=True)
    if isinstance(column.dtype, pd.SparseDtype):
        column = pd.Series(np.asarray(column))
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    numeric = dtypes.is_numeric_dtype(column.dtype)
    timed = dtypes.is_datetime64_any_dtype(column.dtype) or dtypes.is_timedelta64_dtype(column.dtype)
    if spec.kind in _NUMBERS and not numeric and not timed:
        column = pd.to_numeric(column.astype(object))
    return column


def _codes(column: pd.Series[Any]) -> tuple[Codes, Codes]:
    """Codes of the levels that occur, in a fixed order, and the first row of each; missing comes last."""
    codes, distinct = pd.factorize(column)
    order = np.array(
        sorted(range(len(distinct)), key=lambda i: (type(distinct[i]).__name__, str(distinct[i])))
    )
    rank = np.empty(len(distinct) + 1, dtype=np.int64)
    rank[order] = np.arange(len(distinct))
    rank[-1] = len(distinct)
    ranked = rank[codes]
    _, first = np.unique(ranked, return_index=True)
    return ranked, first.astype(np.int64)


def _new_ids(column: pd.Series[Any], m: int) -> pd.Series[Any]:
    """Ids that no training row has, as far as the type allows."""
    if dtypes.is_integer_dtype(column.dtype):
        start = min(int(column.max()) + 1, int(np.iinfo(np.int64).max) - m)
        return pd.Series(np.arange(start, start + m))
    return pd.Series([f"synthetic-{i}" for i in range(m)], dtype=object)


def _stack(parts: list[Any], n: int, dtype: Any) -> Any:
    return np.column_stack(parts).astype(dtype) if parts else np.empty((n, 0), dtype=dtype)
