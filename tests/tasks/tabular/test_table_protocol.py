"""Which rows a unit has, the same for every model; where heavy models run."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.datasets.tabular.dataset import TabularDataset
from bench.datasets.tabular.schema import TableSchema
from bench.errors import MissingRequirement, UsageError
from bench.tasks.tabular.protocol import HEAVY, require_affordable, split_order, table_unit

from .conftest import Bench, load_dataset


def dataset(frame: pd.DataFrame, target: str | None = None) -> TabularDataset:
    card = dataclasses.replace(load_dataset("wine").card, name="made")
    return TabularDataset(frame=frame, schema=TableSchema.infer(frame, target), card=card)


def numbered(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": np.arange(rows) / 7, "y": rng.choice(list("aaaab"), rows)})


def test_parts_are_disjoint_of_the_promised_sizes_and_stratified(bench: Bench) -> None:
    plan = table_unit(dataset(numbered(1_000), "y"), bench.unit(settings={"n": 200}))
    parts = [plan.train, plan.holdout, plan.test]
    assert [len(p) for p in parts] == [200, 200, 100]
    assert len(set(pd.concat(parts)["x"])) == 500
    share = (numbered(1_000)["y"] == "b").mean()
    for part in parts:
        assert (part["y"] == "b").mean() == pytest.approx(share, abs=1.5 / len(part))


def test_the_split_of_tabstruct_depends_on_the_repeat_alone(bench: Bench) -> None:
    data = dataset(numbered(1_000), "y")

    def parts(**options: Any) -> list[pd.DataFrame]:
        settings = {"n": 10_000, "split": "tabstruct"}
        plan = table_unit(data, bench.unit(settings=settings, **options))
        return [plan.train, plan.holdout, plan.test]

    first = parts()
    assert [len(p) for p in first] == [720, 80, 200]
    assert len(set(pd.concat(first)["x"])) == 1_000
    pd.testing.assert_frame_equal(first[0], parts(task="privacy", size="small")[0])
    assert not first[0].equals(parts(repeat=1)[0])


def test_every_model_sees_the_same_rows_and_every_repeat_others(bench: Bench) -> None:
    data = dataset(numbered(1_000))
    first, again = (table_unit(data, bench.unit(settings={"n": 100})) for _ in range(2))
    other = table_unit(data, bench.unit(settings={"n": 100}, repeat=1))
    pd.testing.assert_frame_equal(first.train, again.train)
    assert not first.train.equals(other.train)


def test_small_data_cap_the_rows_and_limits_too(bench: Bench) -> None:
    data = dataset(numbered(100))
    plan = table_unit(data, bench.unit(settings={"n": 500}))
    assert (plan.n, plan.cap) == (40, "made has 100 rows")
    assert table_unit(data, bench.unit(settings={"n": 500}, limit=30)).n == 30
    with pytest.raises(UsageError, match="at least 20 training rows"):
        table_unit(dataset(numbered(40)), bench.unit())


def test_columns_that_identify_rows_are_left_out_and_reported(bench: Bench) -> None:
    frame = numbered(300).assign(name=[f"person {i}" for i in range(300)])
    plan = table_unit(dataset(frame, "y"), bench.unit())
    assert plan.ids == ("name",)
    assert list(plan.train.columns) == ["x", "y"]
    assert plan.schema.names == ("x", "y")


def test_a_class_of_one_row_and_missing_targets_do_not_stop_the_split() -> None:
    frame = pd.DataFrame({"x": np.arange(50.0), "y": ["a"] * 39 + [None] * 10 + ["b"]})
    order = split_order(frame, TableSchema.infer(frame, "y"), seed=1)
    assert sorted(order) == list(range(50))


def test_heavy_models_run_on_as_many_repeats_as_the_settings_say(bench: Bench) -> None:
    settings = {"heavy_repeats": 1}
    require_affordable((HEAVY,), bench.unit(settings=settings))
    require_affordable((), bench.unit(settings=settings, repeat=1))
    require_affordable((HEAVY,), bench.unit(repeat=1))
    with pytest.raises(MissingRequirement, match="the first 1 of the repeats"):
        require_affordable((HEAVY,), bench.unit(settings=settings, repeat=1))
