"""Infinite and absurd numbers, limited by the real range; and which columns never change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.table import EncodedTable, Numbers

RANGES_BEYOND = 10.0
"""Numbers farther than this many real ranges from the real range are moved to that distance."""


def finite_limits(real: EncodedTable) -> tuple[Numbers, Numbers]:
    """Lowest and highest finite real value of each numeric column, (p,) each; 0 and 0 for a column without any."""
    finite = np.isfinite(real.numbers)
    low = np.where(finite, real.numbers, np.inf).min(0)
    high = np.where(finite, real.numbers, -np.inf).max(0)
    empty = ~finite.any(0)
    low[empty], high[empty] = 0.0, 0.0
    return low, high


def spreads(low: Numbers, high: Numbers) -> Numbers:
    """high - low, at most the largest float."""
    with np.errstate(over="ignore"):
        return np.minimum(high - low, np.finfo(np.float64).max)


def bounded(table: EncodedTable, *, real: EncodedTable) -> EncodedTable:
    """The table with numbers clipped to the real range plus ten ranges on either side; missing stays missing."""
    if not table.numbers.shape[1]:
        return table
    low, high = finite_limits(real)
    with np.errstate(over="ignore"):
        reach = RANGES_BEYOND * spreads(low, high)
        # A constant real column still has to tell smaller, equal and larger values apart.
        reach = np.where(reach > 0, reach, np.maximum(np.abs(low), 1.0))
        largest = np.finfo(np.float64).max
        numbers = np.clip(table.numbers, np.maximum(low - reach, -largest), np.minimum(high + reach, largest))
    return replace(table, numbers=numbers)


def fractions(values: Numbers, low: float, spread: float) -> Numbers:
    """Places in the real range, 0 at its low end and 1 at its high end, NaN kept; survives ranges near the float limit.

    values: finite or NaN, as `bounded` returns them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        places = np.nan_to_num((values - low) / spread, nan=1.0, posinf=RANGES_BEYOND, neginf=-RANGES_BEYOND)
    return np.where(np.isnan(values), np.nan, places)


def constant_columns(table: EncodedTable) -> npt.NDArray[np.bool_]:
    """Columns with a single state, where missing counts as a state, (columns,)."""
    constant = np.empty(len(table.columns), dtype=bool)
    for j in range(len(table.columns)):
        values, missing = table.values(j), table.missing(j)
        constant[j] = missing.all() or (not missing.any() and bool((values == values[0]).all()))
    return constant
