"""The encoded table: the only form in which data reach the tabular metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["numeric", "integer", "datetime", "categorical", "ordinal", "boolean"]
Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

NUMERIC_KINDS = ("numeric", "integer", "datetime")
CODED_KINDS = ("categorical", "ordinal", "boolean")
MISSING = -1
"""Code of a missing category; a missing number is NaN."""


@dataclass(frozen=True)
class Column:
    """Name and kind; `levels` known categories K of a coded column, `decimals` digits kept of a numeric one."""

    name: str
    kind: Kind
    levels: int = 0
    decimals: int | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers (float64) instead of codes (int32)."""
        return self.kind in NUMERIC_KINDS


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """n rows of numbers and codes, in the column order of one schema.

    columns: every column in the schema's order.
    numbers: float64 (n, p), the numeric, integer and datetime columns in that order; NaN is missing, infinity is kept.
    codes: int32 (n, q), the categorical, ordinal and boolean columns; 0..K-1 known level, K unseen level, -1 missing.
    target: index into `columns` of what a predictor predicts, or None.

    Raises ValueError when shapes, dtypes, kinds, codes or names contradict each other.
    """

    columns: tuple[Column, ...]
    numbers: Numbers
    codes: Codes
    target: int | None = None

    def __post_init__(self) -> None:
        _check_columns(self.columns, self.target)
        wanted = [sum(c.is_numeric for c in self.columns), sum(not c.is_numeric for c in self.columns)]
        blocks = (("numbers", self.numbers, np.float64), ("codes", self.codes, np.int32))
        for (name, block, dtype), width in zip(blocks, wanted, strict=True):
            if not isinstance(block, np.ndarray) or block.dtype != dtype or block.ndim != 2:
                raise ValueError(f"{name} must be a 2-D {np.dtype(dtype).name} array, got {_describe(block)}")
            if block.shape[1] != width:
                raise ValueError(f"{name} has {block.shape[1]} columns, the column list asks for {width}")
        if len(self.numbers) != len(self.codes):
            raise ValueError(f"numbers has {len(self.numbers)} rows and codes has {len(self.codes)}")
        self._check_codes()

    def _check_codes(self) -> None:
        if not self.codes.size:
            return
        levels = np.array([c.levels for c in self.columns if not c.is_numeric])
        bad = (self.codes.min(0) < MISSING) | (self.codes.max(0) > levels)
        if bad.any():
            column = [c for c in self.columns if not c.is_numeric][int(np.flatnonzero(bad)[0])]
            raise ValueError(
                f"codes of column {column.name!r} must lie in -1..{column.levels} (-1 missing, {column.levels} unseen)"
            )

    def __len__(self) -> int:
        return len(self.numbers)

    def position(self, column: int) -> int:
        """Place of a column within its block (`numbers` or `codes`)."""
        return self._positions[column]

    @cached_property
    def _positions(self) -> list[int]:
        seen = {True: 0, False: 0}
        places = []
        for column in self.columns:
            places.append(seen[column.is_numeric])
            seen[column.is_numeric] += 1
        return places

    def values(self, column: int) -> npt.NDArray[Any]:
        """The column's numbers (float64) or codes (int32), (n,)."""
        block = self.numbers if self.columns[column].is_numeric else self.codes
        return block[:, self.position(column)]

    def missing(self, column: int) -> npt.NDArray[np.bool_]:
        """Where the column has no value, (n,)."""
        values = self.values(column)
        mask: npt.NDArray[np.bool_] = (
            np.isnan(values) if self.columns[column].is_numeric else values == MISSING
        )
        return mask

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content, the same for equal tables."""
        digest = hashlib.blake2b(repr((self.columns, self.target, len(self))).encode(), digest_size=16)
        for block in (self.numbers, self.codes):
            digest.update(np.ascontiguousarray(block).tobytes())
        return digest.hexdigest()

    def take(self, rows: npt.NDArray[Any]) -> EncodedTable:
        """The chosen rows (indices or a mask), in the order given."""
        return replace(self, numbers=self.numbers[rows], codes=self.codes[rows])

    def subsample(self, size: int, *, seed: int) -> EncodedTable:
        """At most `size` rows drawn without replacement, in their original order; all rows when there are no more."""
        if len(self) <= size:
            return self
        chosen = np.random.default_rng(seed).choice(len(self), size=size, replace=False)
        return self.take(np.sort(chosen))


def concatenate(tables: Sequence[EncodedTable]) -> EncodedTable:
    """All rows of tables with one layout, in order."""
    check_same_layout(**{f"table {i}": table for i, table in enumerate(tables)})
    numbers, codes = (
        np.concatenate([t.numbers for t in tables]),
        np.concatenate([t.codes for t in tables]),
    )
    return replace(tables[0], numbers=numbers, codes=codes)


def check_same_layout(**tables: EncodedTable) -> None:
    """Raise ValueError naming the first table that is empty or differs in columns from the first one."""
    (first_name, first), *others = tables.items()
    for name, table in tables.items():
        if len(table) == 0:
            raise ValueError(f"{name} has no rows")
    for name, table in others:
        if table.columns == first.columns and table.target == first.target:
            continue
        if len(table.columns) != len(first.columns):
            raise ValueError(
                f"{name} has {len(table.columns)} columns and {first_name} has {len(first.columns)}"
            )
        differing = [c for c, d in zip(table.columns, first.columns, strict=True) if c != d]
        what = f"column {differing[0].name!r}" if differing else "the target"
        raise ValueError(f"{name} and {first_name} were encoded by different schemas: {what} differs")


def _check_columns(columns: tuple[Column, ...], target: int | None) -> None:
    if not columns:
        raise ValueError("a table needs at least one column")
    names = [c.name for c in columns]
    if len(set(names)) != len(names):
        raise ValueError(f"column names must differ, {max(names, key=names.count)!r} occurs more than once")
    for column in columns:
        if column.kind not in NUMERIC_KINDS + CODED_KINDS:
            raise ValueError(f"column {column.name!r} has the unknown kind {column.kind!r}")
        if column.levels < 0 or (column.is_numeric and column.levels):
            raise ValueError(
                f"column {column.name!r} of kind {column.kind} can't have {column.levels} levels"
            )
    if target is not None and not 0 <= target < len(columns):
        raise ValueError(f"target {target} is no index of {len(columns)} columns")


def _describe(block: Any) -> str:
    if isinstance(block, np.ndarray):
        return f"{block.ndim}-D {block.dtype}"
    return type(block).__name__
