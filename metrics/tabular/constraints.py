"""V2 constraints: rules that every real row obeys, declared or mined, and how often generated rows break them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.result import Result, mean_of_units
from bench.metrics.tabular.table import EncodedTable, check_same_layout

RuleKind = Literal["determines", "at_most", "missing_implies", "missing_together", "range", "in_set"]
MIN_LEVELS = 5
HOLDOUT_SHARE = 0.999
_MIN_COMPARED = 20
_PROBE_ROWS = 500


@dataclass(frozen=True)
class Rule:
    """A rule on one or two columns.

    determines: rows with equal `columns[0]` have equal `columns[1]`, as in the real rows. at_most: columns[0] <=
    columns[1]. missing_implies: where the first is missing, so is the second. missing_together: both are missing or
    neither. range: lowest and highest value in `values`. in_set: one
    of `values` (codes or numbers).
    """

    kind: RuleKind
    columns: tuple[int, ...]
    values: tuple[float, ...] = ()

    def describe(self, table: EncodedTable) -> str:
        """The rule in words."""
        names = [table.columns[j].name for j in self.columns]
        return {
            "determines": lambda: f"{names[0]} determines {names[-1]}",
            "at_most": lambda: f"{names[0]} <= {names[-1]}",
            "missing_implies": lambda: f"{names[-1]} is missing where {names[0]} is",
            "missing_together": lambda: f"{names[0]} and {names[-1]} are missing together",
            "range": lambda: f"{self.values[0]:g} <= {names[0]} <= {self.values[-1]:g}",
            "in_set": lambda: f"{names[0]} is one of {len(self.values)} values",
        }[self.kind]()


def constraint_violations(
    *, real: EncodedTable, generated: EncodedTable, holdout: EncodedTable, rules: Sequence[Rule] | None = None
) -> Result:
    """Mean over rules of the share of generated rows that break them, in [0, 1], lower is better.

    rules: declared ones; by default those that `mine` finds in the real and holdout rows. A row to which a rule does
    not apply (a value is missing) obeys it; one whose determining value never occurs in the real rows breaks it.
    Detail: the rate of each rule beside that of the holdout. Without any rule there is no value.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    found = mine(real=real, holdout=holdout) if rules is None else list(rules)
    rates = [float(broken(rule, generated, real=real).mean()) for rule in found]
    usual = [float(broken(rule, holdout, real=real).mean()) for rule in found]
    return mean_of_units(
        rates,
        detail={"rule": [r.describe(real) for r in found], "value": rates, "holdout": usual},
        nothing="no rule was declared or found in the real rows",
    )


def mine(*, real: EncodedTable, holdout: EncodedTable) -> list[Rule]:
    """Rules that hold in all real rows and in at least 99.9 % of holdout rows.

    Functional dependencies between coded columns with at least five levels, numbers that are never above another
    one, and columns that are missing wherever another one is.
    """
    check_same_layout(real=real, holdout=holdout)
    candidates = [*_dependencies(real), *_orders(real), *_joint_gaps(real)]
    few = real.take(np.arange(min(len(real), _PROBE_ROWS)))
    kept = []
    for rule in candidates:
        # Nearly every candidate already fails on a few rows.
        if broken(rule, few, real=few).any() or broken(rule, real, real=real).any():
            continue
        if broken(rule, holdout, real=real).mean() <= 1 - HOLDOUT_SHARE:
            kept.append(rule)
    return kept


def broken(rule: Rule, table: EncodedTable, *, real: EncodedTable) -> npt.NDArray[np.bool_]:
    """Which rows of `table` break the rule, (n,)."""
    first, last = rule.columns[0], rule.columns[-1]
    x, y = table.values(first), table.values(last)
    gone = table.missing(first), table.missing(last)
    if rule.kind == "missing_implies":
        return np.asarray(gone[0] & ~gone[1])
    if rule.kind == "missing_together":
        return np.asarray(gone[0] != gone[1])
    applies = ~(gone[0] | gone[1])
    if rule.kind == "at_most":
        return np.asarray(applies & ~(x <= y))
    if rule.kind == "range":
        return np.asarray(applies & ~((x >= rule.values[0]) & (x <= rule.values[-1])))
    if rule.kind == "in_set":
        return np.asarray(applies & ~np.isin(x, rule.values))
    return _undetermined(x, y, real, first, last) & applies


def _undetermined(
    x: npt.NDArray[Any], y: npt.NDArray[Any], real: EncodedTable, first: int, last: int
) -> npt.NDArray[np.bool_]:
    known = ~(real.missing(first) | real.missing(last))
    keys, where = np.unique(real.values(first)[known], return_index=True)
    images = real.values(last)[known][where]
    if not len(keys):
        return np.zeros(len(x), dtype=bool)
    places = np.minimum(np.searchsorted(keys, x), len(keys) - 1)
    return np.asarray((keys[places] != x) | (images[places] != y))


def _dependencies(real: EncodedTable) -> list[Rule]:
    """Pairs of columns with few enough values to repeat, at least five each."""
    usable = [j for j in range(len(real.columns)) if MIN_LEVELS <= _distinct(real, j) <= len(real) / 2]
    return [Rule("determines", pair) for pair in permutations(usable, 2)]


def _distinct(table: EncodedTable, j: int) -> int:
    return len(np.unique(table.values(j)[~table.missing(j)]))


def _orders(real: EncodedTable) -> list[Rule]:
    """Pairs of numeric columns whose ranges overlap, so that their order says something."""
    numeric = [j for j, c in enumerate(real.columns) if c.is_numeric]
    return [Rule("at_most", (a, b)) for a, b in permutations(numeric, 2) if _overlap(real, a, b)]


def _overlap(real: EncodedTable, a: int, b: int) -> bool:
    both = ~(real.missing(a) | real.missing(b))
    if both.sum() < _MIN_COMPARED:
        return False
    x, y = real.values(a)[both], real.values(b)[both]
    return bool(x.max() > y.min() and (x != y).any())


def _joint_gaps(real: EncodedTable) -> list[Rule]:
    gaps = [j for j in range(len(real.columns)) if real.missing(j).any() and not real.missing(j).all()]
    return [Rule("missing_implies", pair) for pair in permutations(gaps, 2)]
