"""Single values of a table: what counts as missing, which types are known, how they are written as JSON.

Two values are the same level if Python says they are equal: 1, 1.0 and True are, 1 and "1" are not.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

JSONValue = str | int | float | bool | dict[str, Any]


class _Written(NamedTuple):
    kind: str
    type: type
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


# Types JSON has no word for. A subclass comes before its base: Timestamp is a datetime, which is a date.
_TYPES = (
    _Written("timestamp", pd.Timestamp, str, pd.Timestamp),
    _Written("datetime", dt.datetime, dt.datetime.isoformat, dt.datetime.fromisoformat),
    _Written("date", dt.date, dt.date.isoformat, dt.date.fromisoformat),
    _Written("time", dt.time, dt.time.isoformat, dt.time.fromisoformat),
    _Written("timedelta", pd.Timedelta, lambda v: v.isoformat(), pd.Timedelta),
    _Written("decimal", Decimal, str, Decimal),
    _Written("bytes", bytes, bytes.hex, bytes.fromhex),
    _Written(
        "tuple",
        tuple,
        lambda v: [value_to_json(part) for part in v],
        lambda v: tuple(value_from_json(part) for part in v),
    ),
    _Written(
        "interval",
        pd.Interval,
        lambda v: [value_to_json(v.left), value_to_json(v.right), v.closed],
        lambda v: pd.Interval(value_from_json(v[0]), value_from_json(v[1]), v[2]),
    ),
    _Written("period", pd.Period, lambda v: [str(v), v.freqstr], lambda v: pd.Period(v[0], v[1])),
)


def plain(value: Any) -> Any:
    """`value` as a plain Python object: NumPy scalars unpacked, a timedelta as `pd.Timedelta`."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dt.timedelta) and not isinstance(value, pd.Timedelta):
        return pd.Timedelta(value)
    return value


def is_missing(value: Any) -> bool:
    """Whether `value` is None, NaN, NaT or `pd.NA`."""
    missing = pd.isna(value)
    return missing if isinstance(missing, bool) else False


def is_known(value: Any) -> bool:
    """Whether values of this type may stand in a table."""
    return isinstance(value, (str, int, float, *(entry.type for entry in _TYPES)))


def sort_levels(levels: Iterable[Any]) -> list[Hashable]:
    """Distinct levels in an order that does not depend on rows: numbers, then text, then other types."""
    found: dict[Hashable, Any] = {}
    for level in levels:
        known = found.get(level)
        if known is None or _rank(level) < _rank(known):
            found[level] = level
    groups: dict[tuple[int, str], list[Any]] = {}
    for level in found.values():
        groups.setdefault(_group(level), []).append(level)
    return [level for _, group in sorted(groups.items()) for level in _sorted(group)]


def _rank(level: Any) -> int:
    """Of equal levels the one kept: an int before a bool before a float."""
    return 1 if isinstance(level, bool) else 0 if isinstance(level, int) else 2


def _group(level: Any) -> tuple[int, str]:
    if isinstance(level, (int, float)):
        return 0, ""
    return (1, "") if isinstance(level, str) else (2, type(level).__name__)


def _sorted(levels: list[Any]) -> list[Hashable]:
    try:
        return sorted(levels)
    except TypeError:  # tuples of mixed types, times with and without a zone
        return sorted(levels, key=repr)


def value_to_json(value: Any) -> JSONValue:
    """A JSON value from which `value_from_json` makes an equal value of the same type."""
    value = plain(value)
    if isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, float):
        return {"type": "float", "value": str(value)}
    for entry in _TYPES:
        if isinstance(value, entry.type):
            return {"type": entry.kind, "value": entry.write(value)}
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")


def value_from_json(value: Any) -> Any:
    """Inverse of `value_to_json`."""
    if not isinstance(value, dict):
        return value
    if value["type"] == "float":
        return float(value["value"])
    entry = next(entry for entry in _TYPES if entry.kind == value["type"])
    return entry.read(value["value"])
