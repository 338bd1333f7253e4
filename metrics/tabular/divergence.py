"""D4: Jensen-Shannon divergence and Wasserstein-1 distance of each column."""

from __future__ import annotations

import numpy as np
from scipy.stats import wasserstein_distance

from bench.metrics.tabular.bounds import bounded, finite_limits
from bench.metrics.tabular.joint import Counts
from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.states import states
from bench.metrics.tabular.table import EncodedTable, check_same_layout


def jensen_shannon(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over columns of the Jensen-Shannon divergence, base 2, over categories or ten quantile bins of the real
    column, of the values that are present; no smoothing.

    In [0, 1], lower is better. A column without any real value is excluded; a generated column without any scores 1.
    """
    check_same_layout(real=real, generated=generated)
    tables = [states(table, real=real, binning="quantile") for table in (real, generated)]
    names, values, excluded = [], [], []
    for j, column in enumerate(real.columns):
        size = tables[0].counts[j]
        p, q = (np.bincount(table.codes[j], minlength=size)[:-1] for table in tables)
        if not p.sum():
            excluded.append(f"{column.name}: no real value is present")
            continue
        names.append(column.name)
        values.append(_divergence(p, q) if q.sum() else 1.0)
    return mean_of_units(values, excluded=excluded, detail={"column": names, "value": values})


def _divergence(first: Counts, second: Counts) -> float:
    p, q = first / first.sum(), second / second.sum()
    middle = (p + q) / 2
    parts = (_relative_entropy(share, middle) for share in (p, q))
    return min(1.0, max(0.0, sum(parts) / 2))


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> float:
    held = p > 0
    return float((p[held] * np.log2(p[held] / q[held])).sum())


def wasserstein(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over numeric columns of the Wasserstein-1 distance divided by the real range.

    In [0, 11], 0 is best. With a real range of 0 a column scores 0 if all generated values equal the real one, else
    1. A column without any real value is excluded; a generated column without any scores 11, the farthest a value
    can be once numbers are limited to ten ranges beyond the real one.
    """
    check_same_layout(real=real, generated=generated)
    generated = bounded(generated, real=real)
    limited = bounded(real, real=real)
    low, high = finite_limits(real)
    names, values, excluded = [], [], []
    for j, column in enumerate(real.columns):
        if not column.is_numeric:
            continue
        if real.missing(j).all():
            excluded.append(f"{column.name}: no real value is present")
            continue
        x, y = (table.values(j)[~table.missing(j)] for table in (limited, generated))
        spread = float(high[real.position(j)] - low[real.position(j)])
        names.append(column.name)
        values.append(_scaled_distance(x, y, spread))
    return mean_of_units(
        values,
        excluded=excluded,
        detail={"column": names, "value": values},
        nothing="no numeric column is defined on the real data",
    )


def _scaled_distance(real: np.ndarray, generated: np.ndarray, spread: float) -> float:
    if not len(generated):
        return 11.0
    if spread == 0:
        return 0.0 if set(np.unique(generated)) == set(np.unique(real)) else 1.0
    return float(wasserstein_distance(real / spread, generated / spread))
