"""Any choice of metrics on one set of tables: each computation runs once, what can't run says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.adherence import (
    category_adherence,
    decimals_adherence,
    missing_patterns,
    missing_rates,
    range_adherence,
)
from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.ci_fidelity import GraphTruth, Sample, ci_effect, ci_fidelity
from bench.metrics.tabular.closest_record import closest_record
from bench.metrics.tabular.columnwise import PREDICTORS, Predictor
from bench.metrics.tabular.constraints import Rule, constraint_violations
from bench.metrics.tabular.copies import exact_copies
from bench.metrics.tabular.divergence import jensen_shannon, wasserstein
from bench.metrics.tabular.efficacy import efficacy
from bench.metrics.tabular.gower import DEFAULT_MEMORY_BYTES
from bench.metrics.tabular.learners import LEARNERS, Learner
from bench.metrics.tabular.manifold import manifold
from bench.metrics.tabular.mechanism import Laws, direction, mechanism
from bench.metrics.tabular.membership import membership_inference
from bench.metrics.tabular.mmd import mmd2
from bench.metrics.tabular.pairs import pair_tv, trend_all
from bench.metrics.tabular.rarity import duplicate_rows, high_cardinality, rare_coverage
from bench.metrics.tabular.record_attacks import attribute_inference, linkability
from bench.metrics.tabular.registry import METRICS, MetricSpec
from bench.metrics.tabular.result import Result, undefined
from bench.metrics.tabular.shape import shape, shape_na
from bench.metrics.tabular.singling_out import singling_out
from bench.metrics.tabular.table import EncodedTable
from bench.metrics.tabular.two_sample import c2st
from bench.metrics.tabular.utility import structure_utility


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of generated data: graph, laws, many rows of the truth, residuals of the generated rows.

    residuals, holdout_residuals, oracle_residuals: float64 (rows, columns), for graphs tested by mechanism and for
    mechanisms; laws: None if no mechanism is known.
    """

    graph: GraphTruth
    oracle: EncodedTable
    laws: Laws | None = None
    residuals: npt.NDArray[np.float64] | None = None
    holdout_residuals: npt.NDArray[np.float64] | None = None
    oracle_residuals: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Inputs:
    """Everything a metric may look at; `real` is what the generator was trained on.

    holdout: as many fresh rows, non-members of the training data. test: fresh rows on which predictors are tested.
    rules: declared constraints, else they are mined. cache: work on the real rows, shared between generators.
    """

    real: EncodedTable
    generated: EncodedTable
    holdout: EncodedTable | None = None
    test: EncodedTable | None = None
    truth: Truth | None = None
    rules: Sequence[Rule] | None = None
    predictors: Sequence[Predictor] = PREDICTORS
    learners: Sequence[Learner] = LEARNERS
    seed: int = 0
    device: str = "cpu"
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    cache: RealSideCache = field(default_factory=RealSideCache)


def measure(inputs: Inputs, names: Iterable[str] = tuple(METRICS)) -> dict[str, Result]:
    """The named metrics in the given order; one whose needs are not met has no value and the reason "not run: ...".

    Raises ValueError for an unknown name and for tables of different schemas.
    """
    wanted = list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in METRICS]
    if unknown:
        raise ValueError(f"no tabular metric is called {unknown[0]!r}; known are {', '.join(METRICS)}")
    groups: dict[str, Mapping[str, Result]] = {}
    found = {}
    for name in wanted:
        spec = METRICS[name]
        reason = _unmet(spec, inputs)
        if reason:
            found[name] = undefined(f"not run: {reason}")
            continue
        if spec.group not in groups:
            outcome = _GROUPS[spec.group](inputs)
            groups[spec.group] = {name: outcome} if isinstance(outcome, Result) else outcome
        found[name] = groups[spec.group][name]
    return found


def _unmet(spec: MetricSpec, inputs: Inputs) -> str:
    missing = [need for need in sorted(spec.needs) if getattr(inputs, need) is None]
    if missing:
        return f"needs {' and '.join(missing)}"
    if spec.name == "ci_effect" and inputs.holdout is None:
        return "needs holdout"
    if spec.name == "mechanism" and (
        inputs.truth is None or inputs.truth.laws is None or inputs.truth.residuals is None
    ):
        return "needs laws and residuals"
    return ""


def _simple(function: Callable[..., Result]) -> Callable[[Inputs], Result]:
    return lambda i: function(real=i.real, generated=i.generated)


def _seeded(function: Callable[..., Result]) -> Callable[[Inputs], Result]:
    return lambda i: function(real=i.real, generated=i.generated, holdout=i.holdout, seed=i.seed)


def _on_device(
    function: Callable[..., Result | Mapping[str, Result]],
) -> Callable[[Inputs], Result | Mapping[str, Result]]:
    return lambda i: function(
        real=i.real,
        generated=i.generated,
        holdout=i.holdout,
        seed=i.seed,
        device=i.device,
        memory_bytes=i.memory_bytes,
    )


def _exact_copies(i: Inputs) -> Result:
    assert i.holdout is not None
    return exact_copies(real=i.real, generated=i.generated, holdout=i.holdout)


def _constraints(i: Inputs) -> Result:
    assert i.holdout is not None
    return constraint_violations(real=i.real, generated=i.generated, holdout=i.holdout, rules=i.rules)


def _utility(i: Inputs) -> Mapping[str, Result]:
    assert i.test is not None
    return structure_utility(
        real=i.real,
        generated=i.generated,
        test=i.test,
        predictors=i.predictors,
        seed=i.seed,
        cache=i.cache,
    )


def _efficacy(i: Inputs) -> Mapping[str, Result]:
    assert i.test is not None
    return efficacy(
        real=i.real, generated=i.generated, test=i.test, learners=i.learners, seed=i.seed, cache=i.cache
    )


def _ci_fidelity(i: Inputs) -> Result:
    assert i.truth is not None
    return ci_fidelity(generated=Sample(i.generated, i.truth.residuals), truth=i.truth.graph, seed=i.seed)


def _ci_effect(i: Inputs) -> Result:
    assert i.truth is not None
    assert i.holdout is not None
    return ci_effect(
        generated=Sample(i.generated, i.truth.residuals),
        holdout=Sample(i.holdout, i.truth.holdout_residuals),
        oracle=Sample(i.truth.oracle, i.truth.oracle_residuals),
        truth=i.truth.graph,
        seed=i.seed,
        cache=i.cache,
    )


def _mechanism(i: Inputs) -> Result:
    assert i.truth is not None
    assert i.truth.laws is not None
    assert i.truth.residuals is not None
    return mechanism(
        generated=i.generated, residuals=i.truth.residuals, oracle=i.truth.oracle, laws=i.truth.laws
    )


def _direction(i: Inputs) -> Result:
    assert i.truth is not None
    return direction(generated=i.generated, dag=i.truth.graph.dag)


_GROUPS: Mapping[str, Callable[[Inputs], Result | Mapping[str, Result]]] = {
    "shape": _simple(shape),
    "shape_na": _simple(shape_na),
    "trend_all": _simple(trend_all),
    "pair_tv": _simple(pair_tv),
    "jensen_shannon": _simple(jensen_shannon),
    "wasserstein": _simple(wasserstein),
    "manifold": lambda i: manifold(real=i.real, generated=i.generated, device=i.device),
    "mmd2": lambda i: mmd2(real=i.real, generated=i.generated, seed=i.seed),
    "c2st": lambda i: c2st(real=i.real, generated=i.generated, seed=i.seed),
    "utility": _utility,
    "ci_fidelity": _ci_fidelity,
    "ci_effect": _ci_effect,
    "mechanism": _mechanism,
    "direction": _direction,
    "efficacy": _efficacy,
    "membership": _on_device(membership_inference),
    "exact_copies": _exact_copies,
    "closest_record": _on_device(closest_record),
    "singling_out": _seeded(singling_out),
    "linkability": _on_device(linkability),
    "attribute_inference": _on_device(attribute_inference),
    "category_adherence": _simple(category_adherence),
    "range_adherence": _simple(range_adherence),
    "decimals_adherence": _simple(decimals_adherence),
    "missing_rates": _simple(missing_rates),
    "missing_patterns": _simple(missing_patterns),
    "constraint_violations": _constraints,
    "rare_coverage": _simple(rare_coverage),
    "duplicate_rows": _simple(duplicate_rows),
    "high_cardinality": _simple(high_cardinality),
}
