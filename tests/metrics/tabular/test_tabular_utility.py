"""Utility and structure skill: known models on Adult, and generated tables that try to cheat."""

from __future__ import annotations

import numpy as np
import pytest

from bench.metrics.tabular.cache import RealSideCache
from bench.metrics.tabular.columnwise import PREDICTORS, merged_levels
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.table import EncodedTable
from bench.metrics.tabular.utility import structure_utility
from tests.metrics.tabular.encode import coded_table, numeric_table


def value(results: dict[str, Result], name: str) -> float:
    found = results[name].value
    assert found is not None
    return found


def chain(rng: np.random.Generator, n: int) -> EncodedTable:
    """Three numbers that follow from each other, and one that is noise."""
    x = rng.normal(size=n)
    y = 2 * x + 0.3 * rng.normal(size=n)
    return numeric_table(
        np.c_[x, y, np.sin(y) + 0.3 * rng.normal(size=n), rng.normal(size=n)],
        names=["x", "y", "z", "noise"],
        target=1,
    )


@pytest.fixture
def tables(rng: np.random.Generator) -> dict[str, EncodedTable]:
    return {"real": chain(rng, 1500), "test": chain(rng, 1500), "fresh": chain(rng, 1500)}


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_fresh_rows_are_as_useful_as_real_ones(tables: dict[str, EncodedTable], predictor: str) -> None:
    found = structure_utility(
        real=tables["real"],
        generated=tables["fresh"],
        test=tables["test"],
        predictors=(predictor,),  # type: ignore[arg-type]
    )
    assert value(found, "global_utility") == pytest.approx(1, abs=0.2)
    assert value(found, "local_utility") == pytest.approx(1, abs=0.2)
    assert value(found, "structure_skill") > 0.95
    assert any(reason.startswith("noise: unpredictable") for reason in found["structure_skill"].reasons)


def test_shuffled_columns_have_no_structure(
    tables: dict[str, EncodedTable], rng: np.random.Generator
) -> None:
    real = tables["real"]
    shuffled = EncodedTable(real.columns, rng.permuted(real.numbers, axis=0), real.codes, real.target)
    found = structure_utility(real=real, generated=shuffled, test=tables["test"])
    assert value(found, "structure_skill") < 0.1
    assert value(found, "global_utility") < 0.6


def test_a_collapsed_table_is_the_constant_predictor(tables: dict[str, EncodedTable]) -> None:
    real = tables["real"]
    found = structure_utility(real=real, generated=real.take(np.zeros(1500, int)), test=tables["test"])
    assert value(found, "structure_skill") == 0
    assert value(found, "global_utility") < 0.7
    codes = coded_table(np.tile([[0, 0], [1, 1]], (100, 1)), [2, 2], target=0)
    collapsed = coded_table(np.zeros((200, 2)), [2, 2], target=0)
    found = structure_utility(real=codes, generated=collapsed, test=codes)
    assert value(found, "structure_skill") == 0
    assert value(found, "local_utility") == 0.5


def test_a_column_that_was_never_generated_scores_worst(tables: dict[str, EncodedTable]) -> None:
    fresh = tables["fresh"].numbers.copy()
    fresh[:, 0] = np.nan
    found = structure_utility(
        real=tables["real"],
        generated=EncodedTable(tables["real"].columns, fresh, tables["real"].codes, 1),
        test=tables["test"],
        predictors=("trees",),
    )
    for name in ("global_utility", "structure_skill"):
        detail = found[name].detail
        assert dict(zip(detail["column"], detail["value"], strict=True))["x"] == 0


def test_constant_columns_are_excluded_with_their_reason(rng: np.random.Generator) -> None:
    x = rng.normal(size=200)
    table = numeric_table(np.c_[x, x + rng.normal(size=200), np.ones(200)], names=["a", "b", "k"], target=2)
    found = structure_utility(real=table, generated=table, test=table, predictors=("linear",))
    assert found["global_utility"].reasons == ("k: constant in the real data",)
    assert found["global_utility"].n_used == 2
    assert found["local_utility"].value is None
    no_target = numeric_table(np.c_[x, x + rng.normal(size=200)])
    found = structure_utility(real=no_target, generated=no_target, test=no_target, predictors=("linear",))
    assert found["local_utility"].reasons == ("the data have no target column",)
    alone = numeric_table(x)
    assert all(r.value is None for r in structure_utility(real=alone, generated=alone, test=alone).values())


def test_missing_unseen_and_infinite_values_are_taken(rng: np.random.Generator) -> None:
    from tests.metrics.tabular.test_tabular_gower import random_table

    real, generated = random_table(rng, 200, wild=False), random_table(rng, 150, wild=True)
    generated.numbers[:3, 0] = np.inf, -np.inf, 1e300
    found = structure_utility(real=real, generated=generated, test=real)
    assert value(found, "global_utility") > 0


def test_rare_levels_share_a_label() -> None:
    codes = np.r_[np.repeat(np.arange(10), 100), [10, 11, 11]]
    table = coded_table(codes[:, None], [12])
    labels = merged_levels(table, 0)
    assert labels[:10].tolist() == list(range(10))
    assert labels[10] == labels[11] == 13
    assert labels[-1] == -1
    assert merged_levels(coded_table([[0], [0]], [5]), 0).tolist() == [0, 1, 2, 3, 4, 5, -1]


def test_the_real_rows_are_fitted_once(
    tables: dict[str, EncodedTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench.metrics.tabular import columnwise

    trained: list[EncodedTable] = []
    original = columnwise.ColumnPredictors.scores

    def counted(self: object, train: EncodedTable, columns: object) -> object:
        trained.append(train)
        return original(self, train, columns)  # type: ignore[arg-type]

    monkeypatch.setattr(columnwise.ColumnPredictors, "scores", counted)
    cache = RealSideCache()
    first, again = (
        structure_utility(
            real=tables["real"],
            generated=tables["fresh"],
            test=tables["test"],
            predictors=("linear",),
            cache=cache,
        )
        for _ in range(2)
    )
    assert [t is tables["real"] for t in trained] == [True, False, False]
    assert first["global_utility"].value == again["global_utility"].value


def test_unknown_predictors_are_refused(tables: dict[str, EncodedTable]) -> None:
    for bad in (("forest",), ()):
        with pytest.raises(ValueError, match="predictors must be some of"):
            structure_utility(
                real=tables["real"],
                generated=tables["real"],
                test=tables["test"],
                predictors=bad,  # type: ignore[arg-type]
            )


@pytest.mark.slow
def test_models_on_adult(adult_split: dict[str, EncodedTable]) -> None:
    """Hold-out and shuffled columns; gradient boosting only."""
    real, holdout = (adult_split[name].take(np.arange(2_000)) for name in ("train", "holdout"))
    rng, cache = np.random.default_rng(0), RealSideCache()
    shuffled = EncodedTable(
        real.columns, rng.permuted(real.numbers, axis=0), rng.permuted(real.codes, axis=0), real.target
    )
    expected = {
        "holdout": (holdout, 1.03, 0.99),
        "independent": (shuffled, 0.59, 0.006),
    }
    test = adult_split["test"].take(np.arange(2000))
    for name, (generated, utility, skill) in expected.items():
        found = structure_utility(
            real=real, generated=generated, test=test, predictors=("trees",), cache=cache
        )
        assert value(found, "global_utility") == pytest.approx(utility, abs=0.06), name
        assert value(found, "structure_skill") == pytest.approx(skill, abs=0.06), name
    unpredictable = {r.split(":")[0] for r in found["structure_skill"].reasons}
    assert {"fnlwgt", "capital-gain", "capital-loss"} <= unpredictable
