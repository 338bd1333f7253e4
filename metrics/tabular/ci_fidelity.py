"""S3 conditional independences: are those of the known graph kept, and are its dependences?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.graph import MAX_STATEMENTS, Dag, Statement, statements
from bench.metrics.tabular.independence import Dependence, fisher_z, g_squared, residual_test
from bench.metrics.tabular.result import Result, table_of, undefined
from bench.metrics.tabular.states import states
from bench.metrics.tabular.table import EncodedTable, check_same_layout

ALPHA = 0.01
INDEPENDENCE_SCALE = 0.01
Numbers = npt.NDArray[np.float64]
Test = Literal["discrete", "linear-gaussian", "mechanism"]


@dataclass(frozen=True, eq=False)
class GraphTruth:
    """The graph behind a table whose columns are its variables, in order, and how its statements are tested.

    "discrete": G^2, all columns coded. "linear-gaussian": Fisher's z, all columns numeric. "mechanism": independences
    by residuals of the known mechanisms, for any columns.
    """

    dag: Dag
    test: Test


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows and, for the test "mechanism", the residual of each variable given its parents, float64 (n, variables).

    Residuals of the true mechanisms are independent of whatever comes before a variable; NaN where undefined.
    """

    table: EncodedTable
    residuals: Numbers | None = None

    def __post_init__(self) -> None:
        shape = len(self.table), len(self.table.columns)
        if self.residuals is not None and self.residuals.shape != shape:
            raise ValueError(f"residuals must have the shape {shape}, got {self.residuals.shape}")

    @property
    def fingerprint(self) -> str:
        """Hash of the content."""
        noise = b"" if self.residuals is None else np.ascontiguousarray(self.residuals).tobytes()
        return hashlib.blake2b(self.table.fingerprint.encode() + noise, digest_size=16).hexdigest()


def ci_fidelity(
    *,
    generated: Sample,
    truth: GraphTruth,
    alpha: float = ALPHA,
    most: int = MAX_STATEMENTS,
    seed: int = 0,
) -> Result:
    """(ci_kept + dep_kept) / 2, in [0, 1], higher is better; both parts are facets.

    ci_kept: share of the graph's independence statements that a test at level alpha does not reject in the generated
    rows; dep_kept: share of its dependence statements that it does. Detail: each statement with its p-value and
    information. Undefined if the graph has no statement of either kind. Called with real rows it gives the ceiling.
    """
    found = _tested(generated, truth, most, seed)
    kept = {
        "ci_kept": [d.p_value > alpha for s, d in found if s.kind == "independence"],
        "dep_kept": [d.p_value <= alpha for s, d in found if s.kind == "dependence"],
    }
    facets = {name: float(np.mean(values)) for name, values in kept.items() if values}
    facets |= {"n_independence": float(len(kept["ci_kept"])), "n_dependence": float(len(kept["dep_kept"]))}
    if not (kept["ci_kept"] and kept["dep_kept"]):
        return undefined("the graph implies no independence or no dependence")
    value = (facets["ci_kept"] + facets["dep_kept"]) / 2
    return Result(value, len(found), detail=_detail(found, generated.table, alpha), facets=facets)


def ci_effect(
    *,
    generated: Sample,
    holdout: Sample,
    oracle: Sample,
    truth: GraphTruth,
    most: int = MAX_STATEMENTS,
    seed: int = 0,
    cache: RealSideCache | None = None,
) -> Result:
    """How strong the kept and the broken (in)dependences are, in [0, 1], higher is better.

    With I the conditional mutual information in nats: mean over independence statements of
    exp(-max(0, I_S - I_H) / 0.01) and over dependence statements of min(I_S, I_ref) / max(I_S, I_ref), averaged. I_ref
    comes from `oracle`, many rows drawn from the truth; dependences that vanish there are excluded. `cache` keeps the
    informations of both for the next generator.
    """
    check_same_layout(generated=generated.table, holdout=holdout.table, oracle=oracle.table)
    own = _tested(generated, truth, most, seed)
    fresh, reference = (
        (cache or RealSideCache()).array(
            ("information", t.fingerprint, truth.dag.parents, truth.test, most, seed),
            (len(own),),
            partial(_informations, t, truth, most, seed),
        )
        for t in (holdout, oracle)
    )
    independence, dependence, excluded = [], [], []
    for (statement, found), held, ref in zip(own, fresh.tolist(), reference.tolist(), strict=True):
        if statement.kind == "independence":
            excess = max(0.0, found.information - held)
            independence.append(float(np.exp(-excess / INDEPENDENCE_SCALE)))
        elif ref == 0:
            excluded.append(f"{_named(statement, generated.table)}: no dependence in the oracle rows")
        else:
            pair = found.information, ref
            dependence.append(min(pair) / max(pair))
    if not (independence and dependence):
        return undefined("the graph implies no independence or no dependence", n_excluded=len(excluded))
    facets = {
        "independence": float(np.mean(independence)),
        "dependence": float(np.mean(dependence)),
    }
    used = len(independence) + len(dependence)
    return Result(float(np.mean(list(facets.values()))), used, len(excluded), tuple(excluded), facets=facets)


def _informations(sample: Sample, truth: GraphTruth, most: int, seed: int) -> Numbers:
    return np.array([found.information for _, found in _tested(sample, truth, most, seed)])


def _tested(sample: Sample, truth: GraphTruth, most: int, seed: int) -> list[tuple[Statement, Dependence]]:
    if len(truth.dag.parents) != len(sample.table.columns):
        raise ValueError(
            f"the graph has {len(truth.dag.parents)} variables and the table {len(sample.table.columns)} columns"
        )
    kinds: dict[Test, Callable[[Sample], Callable[[Statement], Dependence]]]
    kinds = {"discrete": _Discrete, "linear-gaussian": _Gaussian, "mechanism": _Mechanism}
    test = kinds[truth.test](sample)
    return [(s, test(s)) for s in statements(truth.dag, most=most, seed=seed)]


class _Discrete:
    """Missing and unseen values are states of their own."""

    def __init__(self, sample: Sample) -> None:
        if any(c.is_numeric for c in sample.table.columns):
            raise ValueError("the test 'discrete' needs a table of categories")
        self._states = sample.table.codes.T.astype(np.int64) + 1
        self._counts = [c.levels + 2 for c in sample.table.columns]

    def __call__(self, s: Statement) -> Dependence:
        counts = self._counts[s.first], self._counts[s.second], [self._counts[g] for g in s.given]
        given = [self._states[g] for g in s.given]
        return g_squared(self._states[s.first], self._states[s.second], given, counts)


class _Gaussian:
    """Rows with a missing or infinite value among the columns of a statement are left out."""

    def __init__(self, sample: Sample) -> None:
        if not all(c.is_numeric for c in sample.table.columns):
            raise ValueError("the test 'linear-gaussian' needs a table of numbers")
        self._numbers = sample.table.numbers

    def __call__(self, s: Statement) -> Dependence:
        first, second, *given = _complete(self._numbers[:, [s.first, s.second, *s.given]]).T
        return fisher_z(first, second, given)


class _Mechanism:
    """Independences: the residual of the later variable against the earlier one.

    Dependences: Fisher's z given the other parents if both variables are numbers, else G^2 with numbers in four
    quantile bins, since the mechanism without one of its parents is not known.
    """

    def __init__(self, sample: Sample) -> None:
        if sample.residuals is None:
            raise ValueError("the test 'mechanism' needs the residuals of the sample")
        self._table, self._residuals = sample.table, sample.residuals
        self._states = states(sample.table, real=sample.table, binning="quantile", bins=4)

    def __call__(self, s: Statement) -> Dependence:
        if s.kind == "independence":
            pair = np.column_stack([self._residuals[:, s.second], self._table.values(s.first)])
            return residual_test(*_complete(pair).T)
        columns = [s.first, s.second, *s.given]
        if all(self._table.columns[j].is_numeric for j in columns):
            first, second, *given = _complete(np.column_stack([self._table.values(j) for j in columns])).T
            return fisher_z(first, second, given)
        codes, counts = [self._states.codes[j] for j in columns], [self._states.counts[j] for j in columns]
        return g_squared(codes[0], codes[1], codes[2:], (counts[0], counts[1], counts[2:]))


def _complete(block: npt.NDArray[Any]) -> Numbers:
    """The rows without a missing or infinite value."""
    numbers = np.asarray(block, dtype=np.float64)
    return numbers[np.isfinite(numbers).all(1)]


def _named(s: Statement, table: EncodedTable) -> str:
    given = ", ".join(table.columns[g].name for g in s.given)
    return f"{table.columns[s.first].name}, {table.columns[s.second].name} | {given}"


def _detail(found: list[tuple[Statement, Dependence]], table: EncodedTable, alpha: float) -> dict[str, Any]:
    return table_of(
        {
            "statement": [_named(s, table) for s, _ in found],
            "first": [s.first for s, _ in found],
            "second": [s.second for s, _ in found],
            "kind": [s.kind for s, _ in found],
            "p_value": [d.p_value for _, d in found],
            "information": [d.information for _, d in found],
            "kept": [(d.p_value > alpha) == (s.kind == "independence") for s, d in found],
        }
    )
