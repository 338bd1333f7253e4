"""S4 mechanisms and S5 direction: do generated rows obey the laws that made the real ones?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.graph import Dag
from bench.metrics.tabular.pairs import correlation
from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.table import EncodedTable, check_same_layout

Numbers = npt.NDArray[np.float64]
MIN_ROWS = 20


@dataclass(frozen=True, eq=False)
class DiscreteLaw:
    """P(node | parents): `table` (|pa 1|, ..., |pa k|, |node|) over the codes of the columns `parents` and the node."""

    parents: tuple[int, ...]
    table: Numbers


@dataclass(frozen=True, eq=False)
class Laws:
    """The truth about every column of a table.

    discrete: the table of each column that has one; every other column is judged by its residuals.
    noise_cdf: distribution function of the residuals, which have variance 1 under the truth.
    """

    noise_cdf: Callable[[Numbers], Numbers]
    discrete: Mapping[int, DiscreteLaw] = field(default_factory=dict)


def mechanism(
    *, generated: EncodedTable, residuals: Numbers, oracle: EncodedTable, laws: Laws, min_rows: int = MIN_ROWS
) -> Result:
    """Mean over columns of how well the generated rows obey the column's law, in [0, 1], higher is better.

    A column with residuals e (in units of their true deviation) scores the mean of min(var e, 1) / max(var e, 1) and
    1 - KS(e, noise law). A discrete column scores the mean, over parent configurations with at least `min_rows`
    generated rows, of 1 - total variation of the conditional tables, weighted by the frequency of the configuration
    in `oracle`, many rows of the truth; configurations never generated score 0, rarer ones say nothing.

    residuals: float64 (n, columns), NaN where undefined. Facets: variance_ratio and noise_law, means over columns
    with residuals, conditional_tables over discrete ones.
    """
    check_same_layout(generated=generated, oracle=oracle)
    if residuals.shape != (len(generated), len(generated.columns)):
        raise ValueError(
            f"residuals must have the shape {(len(generated), len(generated.columns))}, got {residuals.shape}"
        )
    names, values, excluded = [], [], []
    parts: dict[str, list[float]] = {"variance_ratio": [], "noise_law": [], "conditional_tables": []}
    for j, column in enumerate(generated.columns):
        if j in laws.discrete:
            score = _conditional_table(generated, oracle, j, laws.discrete[j], min_rows)
            if score is None:
                excluded.append(f"{column.name}: no parent configuration has {min_rows} generated rows")
                continue
            parts["conditional_tables"].append(score)
        else:
            ratio, law = _noise(residuals[:, j], laws.noise_cdf)
            parts["variance_ratio"].append(ratio)
            parts["noise_law"].append(law)
            score = (ratio + law) / 2
        names.append(column.name)
        values.append(score)
    facets = {name: float(np.mean(part)) for name, part in parts.items() if part}
    return mean_of_units(values, excluded=excluded, detail={"column": names, "value": values}, facets=facets)


def _noise(residuals: Numbers, cdf: Callable[[Numbers], Numbers]) -> tuple[float, float]:
    """Variance ratio and 1 - KS distance to the noise law; 0 and 0 without a residual."""
    known = np.sort(residuals[np.isfinite(residuals)])
    if not len(known):
        return 0.0, 0.0
    variance = float(np.mean((known - known.mean()) ** 2))
    ratio = 0.0 if variance == 0 or not np.isfinite(variance) else min(variance, 1.0) / max(variance, 1.0)
    expected, steps = cdf(known), np.arange(len(known) + 1) / len(known)
    distance = max(float((steps[1:] - expected).max()), float((expected - steps[:-1]).max()))
    return ratio, 1 - distance


def _conditional_table(
    generated: EncodedTable, oracle: EncodedTable, node: int, law: DiscreteLaw, min_rows: int
) -> float | None:
    shape = law.table.shape
    expected = law.table.reshape(-1, shape[-1])
    counts, true_counts = (_counts(table, node, law, expected.shape) for table in (generated, oracle))
    rows, weights = counts.sum(1), true_counts.sum(1) / true_counts.sum()
    judged = (rows >= min_rows) | ((rows == 0) & (weights > 0))
    total = float(weights[judged].sum())
    if total == 0:
        return None
    full = rows >= min_rows
    shares = counts[full] / rows[full, None]
    distance = 0.5 * np.abs(shares[:, : shape[-1]] - expected[full]).sum(1) + 0.5 * shares[:, shape[-1]]
    return float((weights[full] * (1 - distance)).sum() / total)


def _counts(
    table: EncodedTable, node: int, law: DiscreteLaw, shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """Rows by parent configuration and level, and last a column for levels that the law does not know."""
    levels = law.table.shape
    configuration = np.zeros(len(table), dtype=np.int64)
    known = np.ones(len(table), dtype=bool)
    for parent, size in zip(law.parents, levels[:-1], strict=True):
        codes = table.values(parent).astype(np.int64)
        known &= (codes >= 0) & (codes < size)
        configuration = configuration * size + codes
    codes = table.values(node).astype(np.int64)
    known &= codes >= 0
    level = np.minimum(codes, shape[1])
    cells = (configuration * (shape[1] + 1) + level)[known]
    return np.bincount(cells, minlength=shape[0] * (shape[1] + 1)).reshape(shape[0], shape[1] + 1)


def direction(*, generated: EncodedTable, dag: Dag) -> Result:
    """Share of adjacent pairs whose causal direction, inferred from the generated rows, is that of the graph.

    In [0, 1], higher is better, 0.5 is chance. For linear models with noise of heavy tails: x causes y if
    r E[x tanh y - y tanh x] > 0 for standardised columns with correlation r. A pair without correlation counts 0.

    Hyvarinen and Smith, "Pairwise Likelihood Ratios for Estimation of Non-Gaussian Structural Equation Models", 2013.
    """
    if len(dag.parents) != len(generated.columns):
        raise ValueError(
            f"the graph has {len(dag.parents)} variables, the table {len(generated.columns)} columns"
        )
    names, values = [], []
    for parent, child in dag.edges:
        if not (generated.columns[parent].is_numeric and generated.columns[child].is_numeric):
            continue
        names.append(f"{generated.columns[parent].name} -> {generated.columns[child].name}")
        values.append(float(_causes(generated.values(parent), generated.values(child))))
    return mean_of_units(
        values, detail={"edge": names, "value": values}, nothing="the graph has no edge between numbers"
    )


def _causes(first: Numbers, second: Numbers) -> bool:
    both = np.isfinite(first) & np.isfinite(second)
    x, y = first[both], second[both]
    r = correlation(x, y)
    if r is None:
        return False
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    return bool(r * np.mean(x * np.tanh(y) - np.tanh(x) * y) > 0)
