"""Train on generated, test on real: known models, single classes, regressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from bench.metrics.tabular import efficacy as efficacy_module
from bench.metrics.tabular import learners
from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.efficacy import efficacy
from bench.metrics.tabular.learners import (
    GRIDS,
    SMALLEST_PROBABILITY,
    Learner,
    Learnt,
    Options,
    Problem,
    Tuned,
)
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.table import Column, EncodedTable
from tests.metrics.tabular.encode import coded_table, numeric_table


def classes(rng: np.random.Generator, n: int, k: int = 3) -> EncodedTable:
    x = rng.normal(size=(n, 3))
    y = np.digitize(x[:, 0] + 0.3 * rng.normal(size=n), np.linspace(-1, 1, k - 1)).astype(np.int32)
    columns = (*(Column(f"x{j}", "numeric") for j in range(3)), Column("y", "categorical", k))
    return EncodedTable(columns, x, y[:, None], target=3)


def value(results: dict[str, Result], name: str) -> float:
    found = results[name].value
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def two_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two settings of each learner instead of eight: what is tested here does not depend on their number."""
    short = {name: options[:: len(options) - 1] for name, options in learners.GRIDS.items()}
    for module in (learners, efficacy_module):
        monkeypatch.setattr(module, "GRIDS", short)


@pytest.fixture
def tables(rng: np.random.Generator) -> dict[str, EncodedTable]:
    return {name: classes(rng, 500) for name in ("real", "test", "fresh")}


def test_the_best_of_eight_settings_is_chosen(
    tables: dict[str, EncodedTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {len(options) for options in GRIDS.values()} == {8}
    monkeypatch.setattr(learners, "GRIDS", GRIDS)
    problem = Problem(tables["real"], tables["test"], seed=0)
    fit, tried = Problem._fit, dict[float, list[bool]]()

    def noted(self: Problem, learner: Learner, x: Any, y: Any, options: Options, *, quick: bool) -> Any:
        tried.setdefault(options["strength"], []).append(quick)
        return fit(self, learner, x, y, options, quick=quick)

    monkeypatch.setattr(Problem, "_fit", noted)
    found = problem.tuned("linear")
    assert found.options in GRIDS["linear"]
    assert 0.8 < found.validation < 1
    assert tried == {options["strength"]: [True] * 3 for options in GRIDS["linear"]}


def test_scores_equal_scikit_learn(tables: dict[str, EncodedTable]) -> None:
    problem = Problem(tables["real"], tables["test"], seed=0)
    model = problem.learn("linear", tables["real"], {"strength": 1.0})
    inputs = problem._matrix("linear", tables["test"])
    p = model.predict(inputs)[:, :3]
    truth = tables["test"].codes[:, 0]
    expected = roc_auc_score(truth, p / p.sum(1, keepdims=True), multi_class="ovr", average="weighted")
    assert model.scores.named["auc"] == pytest.approx(expected, abs=1e-6)
    assert model.scores.named["log_loss"] == pytest.approx(
        log_loss(truth, p / p.sum(1, keepdims=True)), abs=1e-5
    )


def test_regression_scores_equal_scikit_learn(rng: np.random.Generator) -> None:
    x = rng.normal(size=(300, 3))
    table = numeric_table(np.c_[x, x @ [1.0, 2.0, 0.0] + 0.1 * rng.normal(size=300)], target=3)
    problem = Problem(table, table, seed=0)
    model = problem.learn("linear", table, {"strength": 1.0})
    predicted = model.predict(problem._matrix("linear", table))
    assert model.scores.main == pytest.approx(r2_score(table.numbers[:, 3], predicted))
    found = efficacy(real=table, generated=table, test=table, learners=("linear",))
    assert value(found, "ml_gap") == 0
    assert value(found, "ml_importance") == 1


def test_fresh_shuffled_and_unlabelled_rows(
    tables: dict[str, EncodedTable], rng: np.random.Generator
) -> None:
    real, cache = tables["real"], RealSideCache()

    def measured(generated: EncodedTable) -> dict[str, Result]:
        return efficacy(
            real=real, generated=generated, test=tables["test"], learners=("boosting", "linear"), cache=cache
        )

    fresh = measured(tables["fresh"])
    assert value(fresh, "ml_gap") == pytest.approx(0, abs=0.02)
    assert abs(value(fresh, "ml_augment")) < 0.02
    assert set(fresh["ml_gap"].detail["learner"]) == {"boosting", "linear"}
    shuffled = EncodedTable(real.columns, rng.permuted(real.numbers, axis=0), real.codes, real.target)
    assert value(measured(shuffled), "ml_gap") < -0.3
    unlabelled = EncodedTable(real.columns, real.numbers, np.full((500, 1), -1, np.int32), real.target)
    assert measured(unlabelled)["ml_gap"].facets["tstr"] == 0.5


def test_the_real_rows_are_learnt_once(
    tables: dict[str, EncodedTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, cache, trained, tuned = tables["real"], RealSideCache(), list[int](), list[str]()
    learn, tune = Problem.learn, Problem.tuned

    def learnt(self: Problem, learner: Learner, rows: EncodedTable, options: Options) -> Learnt:
        trained.append(len(rows) if rows is not real else 0)
        return learn(self, learner, rows, options)

    def chosen(self: Problem, learner: Learner) -> Tuned:
        tuned.append(learner)
        return tune(self, learner)

    monkeypatch.setattr(Problem, "learn", learnt)
    monkeypatch.setattr(Problem, "tuned", chosen)
    first, again = (
        efficacy(real=real, generated=tables["fresh"], test=tables["test"], learners=("linear",), cache=cache)
        for _ in range(2)
    )
    assert tuned == ["linear"]
    assert trained == [0, 500, 1_000, 500, 1_000], "real rows only the first time"
    for name, result in first.items():
        assert result.value == again[name].value
        assert result.facets == again[name].facets


def test_one_generated_class_is_a_constant_prediction(tables: dict[str, EncodedTable]) -> None:
    real, test = tables["real"], tables["test"]
    single = EncodedTable(real.columns, real.numbers, np.zeros((500, 1), np.int32), real.target)
    found = efficacy(real=real, generated=single, test=test, learners=("linear",))
    facets = found["ml_gap"].facets
    assert facets["tstr"] == 0.5
    share = float((test.codes == 0).mean())
    expected = -(share * np.log(1 - SMALLEST_PROBABILITY) + (1 - share) * np.log(SMALLEST_PROBABILITY))
    assert facets["tstr_log_loss"] == pytest.approx(expected)
    assert value(found, "ml_importance") == 0


def test_a_class_that_was_never_generated_gets_next_to_no_probability(
    tables: dict[str, EncodedTable],
) -> None:
    real = tables["real"]
    two = real.take(real.codes[:, 0] != 2)
    problem = Problem(real, tables["test"], seed=0)
    p = problem.learn("boosting", two, {}).predict(problem._matrix("boosting", tables["test"]))
    assert (p[:, 2] == SMALLEST_PROBABILITY).all()


def test_reasons_for_no_value(tables: dict[str, EncodedTable]) -> None:
    bare = numeric_table([[0.0, 1.0], [1.0, 2.0]])
    assert efficacy(real=bare, generated=bare, test=bare)["ml_gap"].reasons == (
        "the data have no target column",
    )
    constant = numeric_table([[0.0, 1.0], [1.0, 1.0]], target=1)
    assert (
        "fewer than two values"
        in efficacy(real=constant, generated=constant, test=constant)["ml_gap"].reasons[0]
    )
    alone = coded_table([[0], [1]], [2], target=0)
    assert (
        "no column to predict from" in efficacy(real=alone, generated=alone, test=alone)["ml_gap"].reasons[0]
    )


def test_tiny_tables_with_a_class_of_one_row(rng: np.random.Generator) -> None:
    table = classes(rng, 12)
    table.codes[:, 0] = [0] * 6 + [1] * 5 + [2]
    found = efficacy(real=table, generated=table, test=table)
    assert value(found, "ml_gap") == 0


@pytest.mark.slow
def test_models_on_adult(adult_split: dict[str, EncodedTable]) -> None:
    real, rng = adult_split["train"].take(np.arange(2_000)), np.random.default_rng(0)
    shuffled = EncodedTable(
        real.columns, rng.permuted(real.numbers, axis=0), rng.permuted(real.codes, axis=0), real.target
    )
    cache, test = RealSideCache(), adult_split["test"].take(np.arange(4_000))
    expected = {"holdout": 0.906, "independent": 0.50}
    tables = {"holdout": adult_split["holdout"], "independent": shuffled}
    for name, generated in tables.items():
        found = efficacy(real=real, generated=generated, test=test, learners=("boosting",), cache=cache)[
            "ml_gap"
        ]
        assert found.facets["trtr"] == pytest.approx(0.904, abs=0.02)
        assert found.facets["tstr"] == pytest.approx(
            expected[name], abs=0.02 if name != "independent" else 0.12
        ), name
