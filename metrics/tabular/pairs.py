"""D2 trend and D3 pair tables: how well do pairs of columns match?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.bounds import bounded, constant_columns
from bench.metrics.tabular.joint import cramers_v, joint_counts, total_variation
from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.states import Binning, StateTable, states
from bench.metrics.tabular.table import EncodedTable, Numbers, check_same_layout

STRONG_CORRELATION = 0.5
STRONG_ASSOCIATION = 0.3


def trend_all(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over all pairs of columns of the similarity of their dependence.

    Two numeric columns: 1 - |r - r'| / 2 with Pearson's r on rows where both are present; r' = 0 where the
    generated rows leave it undefined. Any other pair: 1 - total variation of the joint tables, numbers in ten
    equal-width bins of the real column, missing as its own level. In [0, 1], higher is better. Pairs with a column
    that is constant in the real data are excluded.

    Facets: trend_strong, the mean over pairs with |r| > 0.5 or Cramer's V > 0.3 in the real data, and n_strong.

    CorrelationSimilarity and ContingencySimilarity of SDMetrics.
    """
    pairs = _Pairs(real, generated, "width")
    rows: dict[str, list[Any]] = {"first": [], "second": [], "kind": [], "value": [], "strength": []}
    excluded = list(pairs.excluded)
    for i, j in pairs:
        if real.columns[i].is_numeric and real.columns[j].is_numeric:
            r = correlation(pairs.real.values(i), pairs.real.values(j))
            if r is None:
                excluded.append(f"{pairs.name(i, j)}: the real correlation is undefined")
                continue
            r_generated = correlation(pairs.generated.values(i), pairs.generated.values(j)) or 0.0
            kind, value, strength = "correlation", 1 - abs(r - r_generated) / 2, abs(r)
        else:
            kind, (value, strength) = "table", pairs.compare(i, j)
        for name, cell in zip(rows, (*pairs.names(i, j), kind, value, strength), strict=True):
            rows[name].append(cell)
    return mean_of_units(rows["value"], excluded=excluded, detail=rows, facets=_strong(rows))


def pair_tv(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over all pairs of 1 - total variation of the joint tables, numbers in ten quantile bins of the real column.

    In [0, 1], higher is better; sees non-linear dependence that a correlation misses. Missing is its own level.
    Pairs with a column that is constant in the real data are excluded.
    """
    pairs = _Pairs(real, generated, "quantile")
    rows: dict[str, list[Any]] = {"first": [], "second": [], "value": []}
    for i, j in pairs:
        for name, cell in zip(rows, (*pairs.names(i, j), pairs.compare(i, j)[0]), strict=True):
            rows[name].append(cell)
    return mean_of_units(rows["value"], excluded=pairs.excluded, detail=rows)


class _Pairs:
    """The defined pairs of columns and the comparisons of their joint tables."""

    def __init__(self, real: EncodedTable, generated: EncodedTable, binning: Binning) -> None:
        check_same_layout(real=real, generated=generated)
        self.real, self.generated = bounded(real, real=real), bounded(generated, real=real)
        self._real: StateTable = states(real, real=real, binning=binning)
        self._generated = states(generated, real=real, binning=binning)
        constant = constant_columns(real)
        indices = range(len(real.columns))
        self._usable = [i for i in indices if not constant[i]]
        self.excluded = [
            f"{self.name(i, j)}: {real.columns[i if constant[i] else j].name} is constant in the real data"
            for i, j in combinations(indices, 2)
            if constant[i] or constant[j]
        ]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return combinations(self._usable, 2)

    def names(self, i: int, j: int) -> tuple[str, str]:
        return self.real.columns[i].name, self.real.columns[j].name

    def name(self, i: int, j: int) -> str:
        return " x ".join(self.names(i, j))

    def compare(self, i: int, j: int) -> tuple[float, float]:
        """1 - total variation of the joint tables, and Cramer's V of the real one."""
        sides = [(table.codes[i], table.codes[j]) for table in (self._real, self._generated)]
        counts = self._real.counts[i], self._real.counts[j]
        real, generated, cells = joint_counts(sides[0], sides[1], counts)
        return 1 - total_variation(real, generated), cramers_v(real, cells, counts)


def correlation(first: Numbers, second: Numbers) -> float | None:
    """Pearson's r on the rows where both are present, in [-1, 1]; None with a constant or fewer than two rows."""
    both = ~(np.isnan(first) | np.isnan(second))
    x, y = first[both], second[both]
    if len(x) < 2:
        return None
    x, y = _centred(x), _centred(y)
    if not (x.any() and y.any()):
        return None
    return float(np.clip(np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y)), -1, 1))


def _centred(values: Numbers) -> Numbers:
    """Values minus their mean, scaled to at most 1 so that squares neither overflow nor vanish; 0 if constant."""
    if (values == values[0]).all():
        return np.zeros(len(values))
    scale = np.abs(values).max()
    centred: npt.NDArray[np.float64] = values / scale - (values / scale).mean()
    centred /= np.abs(centred).max()
    return centred


def _strong(rows: dict[str, list[Any]]) -> dict[str, float]:
    strong = [
        value
        for kind, value, strength in zip(rows["kind"], rows["value"], rows["strength"], strict=True)
        if strength > (STRONG_CORRELATION if kind == "correlation" else STRONG_ASSOCIATION)
    ]
    facets = {"n_strong": float(len(strong))}
    return facets | ({"trend_strong": float(np.mean(strong))} if strong else {})
