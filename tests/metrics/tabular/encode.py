"""A small encoder for the tests: data frames with plain dtypes in, encoded tables out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from bench.metrics.tabular.table import Column, EncodedTable


def encode(*frames: pd.DataFrame, target: str | None = None) -> list[EncodedTable]:
    """Encode frames with the columns of the first one; levels are the values seen in the first frame."""
    first = frames[0]
    numeric = [name for name in first if pd.api.types.is_numeric_dtype(first[name])]
    levels = {name: sorted(first[name].dropna().unique()) for name in first if name not in numeric}
    columns = tuple(
        Column(str(name), "numeric")
        if name in numeric
        else Column(str(name), "categorical", len(levels[name]))
        for name in first
    )
    at = None if target is None else list(first).index(target)
    return [_encode(frame, list(first), numeric, levels, columns, at) for frame in frames]


def _encode(
    frame: pd.DataFrame,
    names: Sequence[Any],
    numeric: Sequence[Any],
    levels: dict[Any, list[Any]],
    columns: tuple[Column, ...],
    target: int | None,
) -> EncodedTable:
    numbers = frame[list(numeric)].to_numpy(dtype=np.float64, na_value=np.nan)
    codes = np.empty((len(frame), len(levels)), dtype=np.int32)
    for slot, (name, known) in enumerate(levels.items()):
        places = {level: i for i, level in enumerate(known)}
        codes[:, slot] = [-1 if pd.isna(v) else places.get(v, len(known)) for v in frame[name]]
    return EncodedTable(columns, numbers, codes, target)


def numeric_table(
    values: Any, *, names: Sequence[str] | None = None, target: int | None = None
) -> EncodedTable:
    """A table of numbers only, (n, p)."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    names = names or [f"x{j}" for j in range(numbers.shape[1])]
    columns = tuple(Column(name, "numeric") for name in names)
    return EncodedTable(columns, numbers, np.empty((len(numbers), 0), dtype=np.int32), target)


def coded_table(codes: Any, levels: Sequence[int], *, target: int | None = None) -> EncodedTable:
    """A table of categories only, (n, q)."""
    block = np.asarray(codes, dtype=np.int32)
    columns = tuple(Column(f"c{j}", "categorical", k) for j, k in enumerate(levels))
    return EncodedTable(columns, np.empty((len(block), 0)), block, target)


def toy() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The toy tables of the specification: two numeric and two categorical columns without random numbers."""
    i = np.arange(200)
    real = pd.DataFrame(
        {
            "x": np.where(i % 17 == 0, np.nan, 10 * np.sin(i)),
            "y": ((37 * i) % 101) / 10,
            "g": [("abc")[(7 * j + j // 5) % 3] for j in i],
            "h": [None if j % 23 == 5 else "uvwxyz"[(j // 3) % 6] for j in i],
        }
    )
    i = np.arange(200, 350)
    generated = pd.DataFrame(
        {
            "x": 11 * np.sin(i) + 0.5,
            "y": ((41 * i) % 97) / 10,
            "g": ["abcd"[(5 * j) % 4] for j in i],
            "h": ["uvwxyz"[(j // 2) % 6] for j in i],
        }
    )
    return real, generated
