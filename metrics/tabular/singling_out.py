"""P5 singling out: do descriptions of single generated rows pick out single real people?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.result import Result, undefined
from bench.metrics.tabular.risk import added_risk
from bench.metrics.tabular.table import EncodedTable, check_same_layout

Mask = npt.NDArray[np.bool_]
MAX_ATTACKS = 500
COMBINED = 3
_TRIES_PER_ATTACK = 50


@dataclass(frozen=True)
class Condition:
    """A condition on one column: equal to, at least, at most a value, or missing."""

    column: int
    relation: Literal["==", ">=", "<=", "missing"]
    value: float = 0.0

    def holds(self, table: EncodedTable) -> Mask:
        """Where a table meets the condition, (n,)."""
        if self.relation == "missing":
            return table.missing(self.column)
        values = table.values(self.column)
        met: Mask = (
            values == self.value
            if self.relation == "=="
            else (values >= self.value if self.relation == ">=" else values <= self.value)
        )
        return met & ~table.missing(self.column)


Predicate = tuple[Condition, ...]


def singling_out(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    attacks: int = MAX_ATTACKS,
    seed: int = 0,
) -> Result:
    """Added risk that a predicate which is true of one generated row only is true of one training row only.

    In [0, 1], lower is better. Half the attacks use one column (an extreme, a unique value, a lone missing value), half
    three columns of one generated row. Success against holdout rows, as many as training rows, is subtracted. Facets:
    the risk of each kind and the rates. Undefined if no predicate singles out a generated row.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    rng = np.random.default_rng(seed)
    size = min(len(real), len(holdout))
    real, holdout = real.subsample(size, seed=seed), holdout.subsample(size, seed=seed)
    kinds = {
        "univariate": _univariate(generated, attacks // 2, rng),
        "multivariate": _multivariate(generated, attacks - attacks // 2, rng),
    }
    facets: dict[str, float] = {}
    successes = [0, 0]
    for name, predicates in kinds.items():
        if not predicates:
            continue
        hits = [sum(matches(p, table) == 1 for p in predicates) for table in (real, holdout)]
        found = added_risk(real=(hits[0], len(predicates)), holdout=(hits[1], len(predicates)))
        facets |= {f"{name}_risk": found.value, f"{name}_attacks": float(len(predicates))}
        successes = [successes[0] + hits[0], successes[1] + hits[1]]
    total = sum(len(p) for p in kinds.values())
    if not total:
        return undefined("no predicate singles out a generated row")
    risk = added_risk(real=(successes[0], total), holdout=(successes[1], total))
    facets |= {"real_rate": risk.real_rate, "holdout_rate": risk.holdout_rate}
    return Result(risk.value, total, facets=facets, interval=(risk.low, risk.high))


def matches(predicate: Predicate, table: EncodedTable) -> int:
    """Number of rows that meet all conditions."""
    met = predicate[0].holds(table)
    for condition in predicate[1:]:
        met = met & condition.holds(table)
    return int(met.sum())


def _univariate(table: EncodedTable, most: int, rng: np.random.Generator) -> list[Predicate]:
    found = [(c,) for j in range(len(table.columns)) for c in _single_conditions(table, j)]
    kept = [p for p in found if matches(p, table) == 1]
    return [kept[i] for i in rng.permutation(len(kept))[:most]]


def _single_conditions(table: EncodedTable, j: int) -> Iterator[Condition]:
    missing = table.missing(j)
    if missing.sum() == 1:
        yield Condition(j, "missing")
    values, times = np.unique(table.values(j)[~missing], return_counts=True)
    if table.columns[j].is_numeric and len(values):
        yield Condition(j, "<=", float(values[0]))
        yield Condition(j, ">=", float(values[-1]))
    for value in values[times == 1]:
        yield Condition(j, "==", float(value))


def _multivariate(table: EncodedTable, most: int, rng: np.random.Generator) -> list[Predicate]:
    width = min(COMBINED, len(table.columns))
    medians = [_median(table, j) for j in range(len(table.columns))]
    found: dict[Predicate, None] = {}
    for _ in range(_TRIES_PER_ATTACK * most):
        if len(found) == most:
            break
        row = int(rng.integers(len(table)))
        columns = np.sort(rng.permutation(len(table.columns))[:width])
        predicate = tuple(_condition(table, row, int(j), medians[j]) for j in columns)
        if predicate not in found and matches(predicate, table) == 1:
            found[predicate] = None
    return list(found)


def _condition(table: EncodedTable, row: int, j: int, median: float) -> Condition:
    if table.missing(j)[row]:
        return Condition(j, "missing")
    value = float(table.values(j)[row])
    if not table.columns[j].is_numeric:
        return Condition(j, "==", value)
    return Condition(j, ">=" if value > median else "<=", value)


def _median(table: EncodedTable, j: int) -> float:
    known = table.values(j)[~table.missing(j)]
    return float(np.median(known)) if len(known) and table.columns[j].is_numeric else 0.0
