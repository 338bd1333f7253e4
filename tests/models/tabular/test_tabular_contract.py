"""What every registered generator of tables must keep, whatever it is and whatever the table."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from bench.adapters.tabular import TabularGenerator
from bench.catalog.tabular import MODELS
from bench.datasets.tabular.schema import TableSchema
from bench.registry import resolve
from tests.models.tabular.conftest import BUDGET, INFOS, TABLES, fitted, make

OWN = [info.name for info in MODELS if "wrapper" not in info.tags]
DETERMINISTIC = {info.name for info in MODELS if "deterministic" in info.tags}
SEED = 2**62 + 12_345


def test_the_family_is_complete() -> None:
    assert len(INFOS) == len(MODELS)
    assert {
        "real_holdout", "independent", "bootstrap", "copy", "noisy_copy", "collapsed", "smote_nc", "gaussian_copula",
        "bayes_net", "kde_gmm", "cart_seq", "arf", "ctgan", "tvae", "tabddpm", "latent_diff", "forest_flow",
    } <= set(OWN)  # fmt: skip
    assert [name for name in OWN if resolve(INFOS[name].entry).fits_on == "holdout"] == ["real_holdout"]


@pytest.mark.parametrize("info", MODELS, ids=lambda info: info.name)
def test_cards_are_complete(info: Any) -> None:
    assert issubclass(resolve(info.entry), TabularGenerator)
    assert info.title
    assert info.summary.endswith(".")
    assert info.license
    assert info.tags
    assert info.baseline or info.paper


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", OWN)
def test_any_table(name: str, table: str) -> None:
    """Exactly n rows of the training table's types; known levels, no new gaps, values on the grid, seeds decide."""
    frame = TABLES[table]
    before = frame.copy()
    schema = TableSchema.infer(frame)
    model = fitted(name, frame, seed=SEED)
    made = model.sample(23, seed=3)
    pd.testing.assert_frame_equal(frame, before)
    assert len(made) == 23
    assert list(made.columns) == list(frame.columns)
    assert not [issue for issue in schema.validate(made, rows=23) if is_fault(issue.reason)]
    pd.testing.assert_frame_equal(made, model.sample(23, seed=3))
    for j in range(frame.shape[1]):
        if schema.columns[j].kind != "id":
            assert made.iloc[:, j].dtype == frame.iloc[:, j].dtype


def is_fault(reason: str) -> bool:
    return reason != "is constant" and not reason.startswith("small sample") and reason != "infinite values"


@pytest.mark.parametrize("name", OWN)
def test_seeds_decide_everything(name: str) -> None:
    first, again = (fitted(name, TABLES["mixed"], seed=SEED) for _ in range(2))
    made = first.sample(40, seed=3)
    pd.testing.assert_frame_equal(made, again.sample(40, seed=3))
    assert made.equals(first.sample(40, seed=4)) == (name in DETERMINISTIC)


@pytest.mark.parametrize("name", OWN)
def test_global_random_states_are_left_alone(name: str) -> None:
    before = (torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate())  # noqa: NPY002
    fitted(name, TABLES["mixed"]).sample(5, seed=0)
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
    assert before[2] == random.getstate()


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("n", [0, 1, 300])
def test_numbers_of_rows(name: str, n: int) -> None:
    assert fitted(name, TABLES["mixed"]).sample(n, seed=0).shape == (n, 6)


@pytest.mark.parametrize("name", OWN)
def test_a_table_without_rows_is_refused(name: str) -> None:
    frame = TABLES["mixed"]
    with pytest.raises(ValueError, match="without rows"):
        make(name).fit(frame.head(0), TableSchema.infer(frame), seed=0, device="cpu", budget=None)


@pytest.mark.parametrize("name", OWN)
def test_new_ids_are_not_those_of_training_rows(name: str) -> None:
    frame = TABLES["ids"]
    made = fitted(name, frame).sample(50, seed=0)
    assert not set(made["key"]) & set(frame["key"])
    assert not set(made["number"]) & set(frame["number"])
    assert made["key"].is_unique


@pytest.mark.parametrize("name", OWN)
def test_gaps_and_frequencies_are_about_right(name: str) -> None:
    """Even the shortest training keeps the share of missing values and of the commonest level roughly."""
    if name in {"collapsed", "ctgan", "tvae", "tabddpm", "latent_diff", "smote_nc"}:
        pytest.skip("not at this size, or not by design")
    frame = TABLES["mixed"]
    made = fitted(name, frame).sample(2_000, seed=0)
    assert made["gaps"].isna().mean() == pytest.approx(frame["gaps"].isna().mean(), abs=0.12)
    assert made["text"].isna().mean() == pytest.approx(frame["text"].isna().mean(), abs=0.12)
    assert made["flag"].mean() == pytest.approx(frame["flag"].mean(), abs=0.12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", OWN)
def test_on_cuda(name: str) -> None:
    frame = TABLES["mixed"]
    model = make(name)
    model.fit(frame, TableSchema.infer(frame), seed=0, device="cuda", budget=BUDGET)
    made = model.sample(50, seed=0)
    assert len(made) == 50
    pd.testing.assert_frame_equal(made, model.sample(50, seed=0))
