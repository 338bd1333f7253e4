"""V3 rare categories and V4 duplicates and high-cardinality columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.metrics.tabular.joint import Counts, total_variation
from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.states import row_ids
from bench.metrics.tabular.table import MISSING, EncodedTable, check_same_layout

RARE = (0.001, 0.01)
MANY_LEVELS = 50
TOP_LEVELS = 50


def rare_coverage(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Share of rare real categories, 0.1 to 1 % of their column's values, that occur among the generated ones.

    In [0, 1], higher is better. Facet `log_ratio`: mean |log(generated / real frequency)| of the covered ones, 0 best.
    """
    check_same_layout(real=real, generated=generated)
    rows: dict[str, list[Any]] = {"column": [], "code": [], "value": [], "real": [], "generated": []}
    for j, column in enumerate(real.columns):
        if column.is_numeric:
            continue
        p, q = (_frequencies(table, j) for table in (real, generated))
        for code in np.flatnonzero((p >= RARE[0]) & (p <= RARE[1])):
            cells = (column.name, int(code), float(q[code] > 0), float(p[code]), float(q[code]))
            for name, cell in zip(rows, cells, strict=True):
                rows[name].append(cell)
    covered = [(p, q) for p, q in zip(rows["real"], rows["generated"], strict=True) if q > 0]
    facets = {"log_ratio": float(np.mean([abs(np.log(q / p)) for p, q in covered]))} if covered else {}
    return mean_of_units(rows["value"], detail=rows, facets=facets, nothing="no real category is rare")


def _frequencies(table: EncodedTable, j: int) -> np.ndarray:
    counts = _counts(table, j)
    return np.asarray(counts / max(1, counts.sum()))


def _counts(table: EncodedTable, j: int) -> Counts:
    values = table.values(j)
    return np.bincount(values[values != MISSING], minlength=table.columns[j].levels + 1)


def duplicate_rows(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """|share of duplicate rows in real - in generated|, in [0, 1], lower is better.

    A row is a duplicate if an equal one comes before it. The larger table, which has more chances of duplicates,
    counts with its first rows only. Facets: both shares.
    """
    check_same_layout(real=real, generated=generated)
    size = min(len(real), len(generated))
    shares = [1 - len(np.unique(ids[:size])) / size for ids in row_ids(real, generated)]
    facets = {"real_share": shares[0], "generated_share": shares[1]}
    return Result(abs(shares[0] - shares[1]), size, facets=facets)


def high_cardinality(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over columns with more than 50 real levels of 1 - total variation of the 50 most frequent ones and the rest.

    In [0, 1], higher is better. Facet `distinct_ratio`: mean of generated / real number of different levels, 1 best.
    """
    check_same_layout(real=real, generated=generated)
    rows: dict[str, list[Any]] = {"column": [], "value": [], "distinct_ratio": []}
    for j, column in enumerate(real.columns):
        if column.is_numeric:
            continue
        p, q = _counts(real, j), _counts(generated, j)
        if (p > 0).sum() <= MANY_LEVELS:
            continue
        cells = (column.name, _top_similarity(p, q), float((q > 0).sum() / (p > 0).sum()))
        for name, cell in zip(rows, cells, strict=True):
            rows[name].append(cell)
    ratios = rows["distinct_ratio"]
    facets = {"distinct_ratio": float(np.mean(ratios))} if ratios else {}
    nothing = f"no real column has more than {MANY_LEVELS} levels"
    return mean_of_units(rows["value"], detail=rows, facets=facets, nothing=nothing)


def _top_similarity(real: Counts, generated: Counts) -> float:
    if not generated.sum():
        return 0.0
    top = np.argsort(-real, kind="stable")[:TOP_LEVELS]
    pair = [np.append(counts[top], counts.sum() - counts[top].sum()) for counts in (real, generated)]
    return 1 - total_variation(pair[0], pair[1])
