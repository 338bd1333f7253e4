"""D1 shape, with and without missing values: how well does each column's distribution match?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.metrics.tabular.joint import total_variation
from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.table import Codes, EncodedTable, Numbers, check_same_layout


def shape(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """Mean over columns of 1 - KS (numbers) or 1 - total variation (categories), over the values that are present.

    In [0, 1], higher is better. A column without any real value is excluded; a generated column without any value
    where the real one has some scores 0. Infinite numbers are ordinary points of the extended line.

    KSComplement and TVComplement of SDMetrics.
    """
    return _over_columns(real, generated, with_missing=False)


def shape_na(*, real: EncodedTable, generated: EncodedTable) -> Result:
    """As `shape`, with missing as one more category or, for numbers, as an atom below every value.

    In [0, 1], higher is better; every column is defined.
    """
    return _over_columns(real, generated, with_missing=True)


def _over_columns(real: EncodedTable, generated: EncodedTable, *, with_missing: bool) -> Result:
    check_same_layout(real=real, generated=generated)
    names, values, excluded = [], [], []
    for j, column in enumerate(real.columns):
        if not with_missing and real.missing(j).all():
            excluded.append(f"{column.name}: no real value is present")
            continue
        compare: Callable[..., float] = _numeric if column.is_numeric else _categorical
        arguments = () if column.is_numeric else (column.levels,)
        names.append(column.name)
        values.append(compare(real.values(j), generated.values(j), *arguments, with_missing=with_missing))
    return mean_of_units(values, excluded=excluded, detail={"column": names, "value": values})


def _numeric(real: Numbers, generated: Numbers, *, with_missing: bool) -> float:
    if not with_missing:
        return 1 - kolmogorov_smirnov(real[~np.isnan(real)], generated[~np.isnan(generated)])
    return 1 - kolmogorov_smirnov(real, generated)


def kolmogorov_smirnov(real: Numbers, generated: Numbers) -> float:
    """sup |F - G| of two samples, in [0, 1]; NaN counts as one value below all others; 1 if one sample is empty."""
    if not (len(real) and len(generated)):
        return 1.0
    x, y = np.sort(real), np.sort(generated)  # NaN last
    x_missing, y_missing = int(np.isnan(real).sum()), int(np.isnan(generated).sum())
    points = np.concatenate([x[: len(x) - x_missing], y[: len(y) - y_missing]])
    below_x = np.searchsorted(x[: len(x) - x_missing], points, side="right") + x_missing
    below_y = np.searchsorted(y[: len(y) - y_missing], points, side="right") + y_missing
    at_the_atom = abs(x_missing / len(x) - y_missing / len(y))
    return float(np.abs(below_x / len(x) - below_y / len(y)).max(initial=at_the_atom))


def _categorical(real: Codes, generated: Codes, levels: int, *, with_missing: bool) -> float:
    if not with_missing:
        real, generated = real[real >= 0], generated[generated >= 0]
        if not len(generated):
            return 0.0
    size = levels + 2
    return 1 - total_variation(
        np.bincount(real + 1, minlength=size), np.bincount(generated + 1, minlength=size)
    )
