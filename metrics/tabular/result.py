"""What every tabular metric returns: a number, what it was made of, and what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Cells = Sequence[Any] | Array
Detail = Mapping[str, Array]
"""A small table: equally long arrays by column name, one row per unit; `pandas.DataFrame(detail)` shows it."""


@dataclass(frozen=True, eq=False)
class Result:
    """A value and its evidence.

    value: None when no unit could be scored (never NaN); `reasons` then say why.
    n_used, n_excluded: units (columns, pairs, statements, rows) that entered and that the *real* data left undefined.
    reasons: one line per excluded unit, "unit: reason".
    detail: one row per unit.
    facets: companion numbers of the same measurement, for example quantiles or the value of each part.
    flags: remarks on the value such as "memorising" or "small-sample".
    interval: 95 % interval where the metric has one.
    """

    value: float | None
    n_used: int
    n_excluded: int = 0
    reasons: tuple[str, ...] = ()
    detail: Detail = field(default_factory=dict)
    facets: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None


def mean_of_units(
    values: Sequence[float],
    *,
    excluded: Sequence[str] = (),
    detail: Mapping[str, Cells] | None = None,
    facets: Mapping[str, float] | None = None,
    flags: tuple[str, ...] = (),
    nothing: str = "no unit is defined on the real data",
) -> Result:
    """The mean of the scored units; without any, a Result of None with the reason `nothing`."""
    reasons = tuple(excluded) if len(values) else (*excluded, nothing)
    return Result(
        value=float(np.mean(values)) if len(values) else None,
        n_used=len(values),
        n_excluded=len(excluded),
        reasons=reasons,
        detail=table_of(detail or {}),
        facets=dict(facets or {}),
        flags=flags,
    )


def undefined(reason: str, *, n_excluded: int = 0) -> Result:
    """A Result without a value."""
    return Result(None, 0, n_excluded, (reason,))


def table_of(columns: Mapping[str, Cells]) -> dict[str, Array]:
    """A detail table; strings become an object column, so that names of any length keep their text."""
    return {name: _column(values) for name, values in columns.items()}


def _column(values: Cells) -> Array:
    if len(values) and isinstance(values[0], str):
        column = np.empty(len(values), dtype=object)
        column[:] = list(values)
        return column
    return np.asarray(values)
