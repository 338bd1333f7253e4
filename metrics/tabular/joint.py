"""Joint tables of two columns' states, and how far two of them are apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.states import States

Counts = npt.NDArray[np.int64]
_DENSE_CELLS_PER_ROW = 4
"""Larger tables are mostly empty; counting the observed cells is then cheaper than filling all."""


def total_variation(real: Counts, generated: Counts) -> float:
    """0.5 sum |p - q| of two count vectors over the same states, in [0, 1]."""
    return float(0.5 * np.abs(real / real.sum() - generated / generated.sum()).sum())


def joint_counts(
    real: tuple[States, States], generated: tuple[States, States], counts: tuple[int, int]
) -> tuple[Counts, Counts, Counts]:
    """Real and generated rows in each cell of the joint table of two columns, and the cells' numbers.

    counts: states of the two columns. A cell's number is first state * counts[1] + second state.
    """
    a, b = (first * counts[1] + second for first, second in (real, generated))
    size = counts[0] * counts[1]
    if size <= _DENSE_CELLS_PER_ROW * (len(a) + len(b)):
        return np.bincount(a, minlength=size), np.bincount(b, minlength=size), np.arange(size)
    cells, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    size = len(cells)
    return np.bincount(places[: len(a)], minlength=size), np.bincount(places[len(a) :], minlength=size), cells


def cramers_v(observed: Counts, cells: Counts, counts: tuple[int, int]) -> float:
    """Cramer's V of a joint table, in [0, 1]; 0 when one of the columns has a single state."""
    first, second = cells // counts[1], cells % counts[1]
    rows = np.bincount(first, weights=observed, minlength=counts[0])
    columns = np.bincount(second, weights=observed, minlength=counts[1])
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum()))
    if smaller < 2:
        return 0.0
    held = observed > 0
    ratio = observed[held] ** 2 / (rows[first[held]] * columns[second[held]])
    return float(np.sqrt(max(0.0, ratio.sum() - 1) / (smaller - 1)))
