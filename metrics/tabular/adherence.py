"""V1 validity of values: known categories, real ranges, whole numbers and decimals, missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.metrics.tabular.bounds import finite_limits
from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.states import row_ids
from bench.metrics.tabular.table import EncodedTable, Numbers, check_same_layout

PATTERNS = 50


def category_adherence(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over coded columns of the share of generated values that occur in the real column.

    In [0, 1], higher is better; missing values don't count. A column without generated values scores 0 if the real
    one has some, and is excluded if it has none. Detail: number of values not seen in the real column.
    """
    return _of_columns(real, generated, numeric=False, share=lambda j: _known(real, generated, j))


def range_adherence(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over numeric columns of the share of generated values within the real range; infinite ones are outside.

    In [0, 1], higher is better; missing values don't count, as in `category_adherence`.
    """
    low, high = finite_limits(real)

    def share(j: int) -> tuple[float, int]:
        at = real.position(j)
        values = generated.values(j)[~generated.missing(j)]
        inside = (values >= low[at]) & (values <= high[at])
        return float(inside.mean()), int((~inside).sum())

    return _of_columns(real, generated, numeric=True, share=share)


def decimals_adherence(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over numeric columns with known decimals of the share of generated values that have no more.

    In [0, 1], higher is better; integer columns have 0 decimals. Columns that state no decimals are left out.
    """
    wanted = {
        j: 0 if c.kind == "integer" else c.decimals
        for j, c in enumerate(real.columns)
        if c.kind in ("integer", "numeric")
    }

    def share(j: int) -> tuple[float, int]:
        values = generated.values(j)[~generated.missing(j)]
        fine = _has_decimals(values, wanted[j] or 0)
        return float(fine.mean()), int((~fine).sum())

    chosen = {j for j, decimals in wanted.items() if decimals is not None}
    return _of_columns(real, generated, numeric=True, share=share, only=chosen)


def _known(real: EncodedTable, generated: EncodedTable, j: int) -> tuple[float, int]:
    values = generated.values(j)[~generated.missing(j)]
    known = np.isin(values, real.values(j)[~real.missing(j)])
    return float(known.mean()), int((~known).sum())


def _has_decimals(values: Numbers, decimals: int) -> np.ndarray:
    """Whether rounding changes nothing beyond the resolution of a float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values * 10.0**decimals
        slack = 1e-9 + 4 * np.finfo(np.float64).eps * np.abs(scaled)
        return np.isfinite(values) & ((np.abs(scaled - np.rint(scaled)) <= slack) | ~np.isfinite(scaled))


def _of_columns(
    real: EncodedTable,
    generated: EncodedTable,
    *,
    numeric: bool,
    share: Callable[[int], tuple[float, int]],
    only: set[int] | None = None,
) -> Result:
    check_same_layout(real=real, generated=generated)
    rows: dict[str, list[Any]] = {"column": [], "value": [], "violations": []}
    excluded = []
    for j, column in enumerate(real.columns):
        if column.is_numeric != numeric or (only is not None and j not in only):
            continue
        if real.missing(j).all():
            excluded.append(f"{column.name}: no real value is present")
            continue
        value, violations = (0.0, 0) if generated.missing(j).all() else share(j)
        for name, cell in zip(rows, (column.name, value, violations), strict=True):
            rows[name].append(cell)
    kind = "numeric" if numeric else "categorical"
    return mean_of_units(rows["value"], excluded=excluded, detail=rows, nothing=f"no {kind} column applies")


def missing_rates(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over columns of |share missing in real - share missing in generated|, in [0, 1], lower is better."""
    check_same_layout(real=real, generated=generated)
    columns = range(len(real.columns))
    rates = [[float(table.missing(j).mean()) for j in columns] for table in (real, generated)]
    values = [abs(a - b) for a, b in zip(*rates, strict=True)]
    detail = {
        "column": [c.name for c in real.columns],
        "value": values,
        "real": rates[0],
        "generated": rates[1],
    }
    return mean_of_units(values, detail=detail)


def missing_patterns(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Total variation of which columns are missing together, over the 50 most frequent real patterns and "any other".

    In [0, 1], lower is better.
    """
    check_same_layout(real=real, generated=generated)
    tables = [
        EncodedTable(t.columns, np.where(np.isnan(t.numbers), np.nan, 0.0), np.minimum(t.codes, 0))
        for t in (real, generated)
    ]
    a, b = row_ids(*tables)
    size = int(max(a.max(), b.max())) + 1
    p, q = (np.bincount(ids, minlength=size) / len(ids) for ids in (a, b))
    top = np.argsort(-p, kind="stable")[:PATTERNS]
    rest = abs((1 - p[top].sum()) - (1 - q[top].sum()))
    value = 0.5 * float(np.abs(p[top] - q[top]).sum() + rest)
    return Result(value, len(top), detail={"real": p[top], "generated": q[top]})
