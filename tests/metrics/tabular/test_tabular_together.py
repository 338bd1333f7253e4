"""All metrics through one door: needs, order, bad tables that none of them may trip over."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from bench.metrics.tabular.ci_fidelity import GraphTruth
from bench.metrics.tabular.graph import Dag
from bench.metrics.tabular.mechanism import Laws
from bench.metrics.tabular.registry import METRICS
from bench.metrics.tabular.table import Column, EncodedTable, concatenate
from bench.metrics.tabular.together import Inputs, Truth, measure

COLUMNS = (
    Column("a", "numeric", decimals=3),
    Column("whole", "integer"),
    Column("g", "categorical", 3),
    Column("grade", "ordinal", 4),
    Column("yes", "boolean", 2),
    Column("when", "datetime"),
)


def table(rng: np.random.Generator, n: int) -> EncodedTable:
    a = rng.normal(size=n).round(3)
    whole = np.rint(3 * a + rng.normal(size=n))
    numbers = np.c_[a, whole, 1.7e9 + 86_400 * rng.integers(0, 50, n)]
    numbers[rng.random(n) < 0.1, 1] = np.nan
    codes = np.c_[rng.integers(-1, 3, n), np.digitize(a, [-1, 0, 1]), a > 0].astype(np.int32)
    return EncodedTable(COLUMNS, numbers, codes, target=4)


def inputs(generated: EncodedTable, real: EncodedTable, holdout: EncodedTable, test: EncodedTable) -> Inputs:
    return Inputs(
        real=real,
        generated=generated,
        holdout=holdout,
        test=test,
        predictors=("trees",),
        learners=("linear",),
    )


@pytest.fixture
def splits(rng: np.random.Generator) -> dict[str, EncodedTable]:
    return {name: table(rng, 120) for name in ("real", "holdout", "test", "fresh")}


def test_every_metric_has_a_value_in_its_range(splits: dict[str, EncodedTable]) -> None:
    found = measure(inputs(splits["fresh"], splits["real"], splits["holdout"], splits["test"]))
    assert list(found) == list(METRICS)
    for name, spec in METRICS.items():
        result = found[name]
        if "truth" in spec.needs:
            assert result.reasons == ("not run: needs truth",)
        elif name in ("high_cardinality", "rare_coverage", "constraint_violations"):
            assert result.value is None
            assert result.reasons
        else:
            assert result.value is not None, (name, result.reasons)
            assert spec.low <= result.value <= spec.high, name
            assert all(np.isfinite(v) for v in result.facets.values()), name
            assert len({len(c) for c in result.detail.values()}) <= 1, name


def test_equal_inputs_give_equal_bits(splits: dict[str, EncodedTable]) -> None:
    both = [
        measure(inputs(splits["fresh"], splits["real"], splits["holdout"], splits["test"])) for _ in range(2)
    ]
    for name in METRICS:
        assert both[0][name].value == both[1][name].value, name
        assert both[0][name].facets == both[1][name].facets, name


def test_unmet_needs_are_named(splits: dict[str, EncodedTable]) -> None:
    found = measure(Inputs(real=splits["real"], generated=splits["fresh"]), ["shape", "mia_auc", "ml_gap"])
    assert list(found) == ["shape", "mia_auc", "ml_gap"]
    assert found["mia_auc"].reasons == ("not run: needs holdout",)
    assert found["ml_gap"].reasons == ("not run: needs test",)
    with pytest.raises(ValueError, match="no tabular metric is called 'shapes'"):
        measure(Inputs(real=splits["real"], generated=splits["fresh"]), ["shapes"])


def test_known_truth(rng: np.random.Generator) -> None:
    def rows(n: int) -> EncodedTable:
        x = rng.laplace(size=n)
        y = x + 0.5 * rng.laplace(size=n)
        numbers = np.c_[x, y, rng.laplace(size=n)]
        return EncodedTable(tuple(Column(c, "numeric") for c in "xyz"), numbers, np.empty((n, 0), np.int32))

    real, generated, holdout, oracle = (rows(n) for n in (500, 500, 500, 5000))
    noise = (generated.numbers - np.c_[np.zeros(500), generated.numbers[:, 0], np.zeros(500)]) / [1, 0.5, 1]
    truth = Truth(
        graph=GraphTruth(Dag(((), (0,), ())), "linear-gaussian"),
        oracle=oracle,
        laws=Laws(lambda e: np.where(e < 0, np.exp(e) / 2, 1 - np.exp(-np.abs(e)) / 2)),
        residuals=noise / np.sqrt(2),
    )
    names = [n for n, s in METRICS.items() if "truth" in s.needs]
    found = measure(Inputs(real=real, generated=generated, holdout=holdout, truth=truth), names)
    assert all(r.value is not None and r.value > 0.8 for r in found.values()), found
    graph_only = Truth(graph=truth.graph, oracle=oracle)
    found = measure(Inputs(real=real, generated=generated, truth=graph_only), names)
    assert found["mechanism"].reasons == ("not run: needs laws and residuals",)
    assert found["ci_effect"].reasons == ("not run: needs holdout",)


def all_missing(t: EncodedTable) -> EncodedTable:
    return EncodedTable(t.columns, np.full_like(t.numbers, np.nan), np.full_like(t.codes, -1), t.target)


def all_unseen(t: EncodedTable) -> EncodedTable:
    levels = np.array([c.levels for c in t.columns if not c.is_numeric], dtype=np.int32)
    return EncodedTable(t.columns, t.numbers + 1e6, np.broadcast_to(levels, t.codes.shape).copy(), t.target)


def infinite(t: EncodedTable) -> EncodedTable:
    numbers = t.numbers.copy()
    numbers[::3], numbers[1::3] = np.inf, -np.inf
    return EncodedTable(t.columns, numbers, t.codes, t.target)


UGLY: dict[str, Callable[[EncodedTable], EncodedTable]] = {
    "collapsed to one row": lambda t: t.take(np.zeros(len(t), int)),
    "everything missing": all_missing,
    "never seen before": all_unseen,
    "infinite": infinite,
    "mostly duplicates": lambda t: t.take(np.arange(len(t)) % 5),
    "one row": lambda t: t.take(np.arange(1)),
    "three rows": lambda t: t.take(np.arange(3)),
    "copied": lambda t: t,
}


@pytest.mark.parametrize("name", UGLY)
def test_ugly_generated_tables(splits: dict[str, EncodedTable], name: str) -> None:
    """No crash, a value or a reason everywhere, and never a value outside the range."""
    generated = UGLY[name](splits["real"])
    found = measure(inputs(generated, splits["real"], splits["holdout"], splits["test"]))
    for metric, result in found.items():
        if result.value is None:
            assert result.reasons, metric
        else:
            assert METRICS[metric].low <= result.value <= METRICS[metric].high, metric


@pytest.mark.parametrize(
    "name", ["everything missing", "infinite", "mostly duplicates", "three rows", "one row"]
)
def test_ugly_real_tables(splits: dict[str, EncodedTable], name: str) -> None:
    real = UGLY[name](splits["real"])
    found = measure(inputs(splits["fresh"], real, splits["holdout"], splits["test"]))
    for metric, result in found.items():
        assert result.value is not None or result.reasons, metric


def test_gaming_tables_do_not_look_real(splits: dict[str, EncodedTable], rng: np.random.Generator) -> None:
    """Shuffled, collapsed and column-constant tables lose on structure or detection; a copy loses on privacy."""
    big = {name: concatenate([table(rng, 400)]) for name in splits}
    names = ["shape_na", "pair_tv", "c2st", "structure_skill", "mia_tpr01", "exact_copies"]
    real = big["real"]

    def value(generated: EncodedTable) -> dict[str, float]:
        found = measure(inputs(generated, real, big["holdout"], big["test"]), names)
        return {n: r.value for n, r in found.items() if r.value is not None}

    fresh = value(big["fresh"])
    shuffled = value(
        EncodedTable(
            COLUMNS, rng.permuted(real.numbers, axis=0), rng.permuted(real.codes, axis=0), real.target
        )
    )
    assert shuffled["shape_na"] == 1
    assert shuffled["c2st"] < 0.5 < fresh["c2st"]
    assert shuffled["structure_skill"] < 0.3
    assert fresh["structure_skill"] > 0.7
    collapsed = value(real.take(np.zeros(400, int)))
    assert collapsed["structure_skill"] == 0
    assert collapsed["pair_tv"] < 0.5
    assert collapsed["shape_na"] < 0.6
    copied = value(real)
    assert copied["mia_tpr01"] > 0.9
    assert copied["exact_copies"] > 0.9
    assert fresh["mia_tpr01"] < 0.1


def test_the_registry_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'torch', 'pandas', 'sklearn', 'scipy'}"
    code = f"import sys, bench.metrics.tabular as t; assert t.METRICS; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_registry_is_consistent() -> None:
    for name, spec in METRICS.items():
        assert spec.name == name
        assert spec.low < spec.high
        assert spec.citation
        assert spec.target is None or spec.low < spec.target < spec.high
        assert spec.direction != "none" or spec.target is not None
