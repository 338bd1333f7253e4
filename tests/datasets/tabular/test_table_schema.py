"""Schemas: what is inferred, what survives JSON, what a table may look like."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets.tabular.columns import ColumnSpec, infer_column
from bench.datasets.tabular.schema import Constraint, SchemaError, TableSchema
from bench.errors import BenchError

N = 120
ROWS = np.arange(N)


def spec_of(values: Any, **options: Any) -> ColumnSpec:
    return infer_column(pd.Series(values), "c", **options)


KINDS = {
    "bool": (ROWS % 2 == 0, "boolean"),
    "nullable boolean": (pd.array([True, None, False] * 40, dtype="boolean"), "boolean"),
    "datetime": (pd.date_range("2020-01-01", periods=N, unit="s"), "datetime"),
    "datetime with zone": (pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"), "datetime"),
    "periods": (pd.period_range("2020-01", periods=N, freq="M"), "datetime"),
    "category": (pd.Categorical(["b", "a"] * 60, categories=["b", "a", "never"]), "categorical"),
    "ordered category": (pd.Categorical(["b", "a"] * 60, categories=["b", "a"], ordered=True), "ordinal"),
    "text": (["x", "y", None] * 40, "categorical"),
    "arrow text": (pd.array(["x", "y", None] * 40, dtype="string"), "categorical"),
    "mixed objects": (pd.Series([1, "1", 2.5] * 40, dtype=object), "categorical"),
    "few integers": (ROWS % 5, "categorical"),
    "few nullable integers": (pd.array([1, 2, None] * 40, dtype="Int64"), "categorical"),
    "few integers with gaps": (np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99])[ROWS % 13], "categorical"),
    "thirteen in a row": (ROWS % 13, "integer"),
    "twelve in a row": (ROWS % 12, "categorical"),
    "many integers": (np.r_[ROWS[:100] % 30, [1000] * 20], "integer"),
    "distinct integers": (ROWS * 7919, "id"),
    "distinct text": ([f"name {i}" for i in ROWS], "id"),
    "whole floats": (np.where(ROWS % 7 == 0, np.nan, ROWS % 3.0), "integer"),
    "floats": (ROWS / 8, "numeric"),
    "Float32": (pd.array(ROWS / 8, dtype="Float32"), "numeric"),
    "whole floats with infinity": (np.r_[np.inf, ROWS[1:] % 9.0], "integer"),
    "timedelta": (pd.to_timedelta(ROWS * 1.5, unit="s"), "numeric"),
    "sparse": (pd.arrays.SparseArray([0.0, 0.5] * 60), "numeric"),
    "all missing": ([np.nan] * N, "numeric"),
    "all None": (pd.Series([None] * N, dtype=object), "categorical"),
    "constant": (["k"] * N, "categorical"),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS)
def test_kind(case: str) -> None:
    values, kind = KINDS[case]
    spec = spec_of(values)
    assert spec.kind == kind
    assert spec.nullable == bool(pd.isna(pd.Series(values)).any())
    assert (spec.categories is None) == (kind not in {"categorical", "ordinal", "boolean"})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.25, 1.0], 2),
        ([0.1, 0.29, 1e9 + 0.1], 2),
        ([1 / 3], 15),
        ([np.inf, np.nan, 0.5], 1),
        (np.array([0.1, 12.75], np.float32), 2),
        (pd.array([0.1, None], dtype="Float32"), 1),
    ],
)
def test_decimals(values: Any, expected: int) -> None:
    assert spec_of(values, kind="numeric").decimals == expected


def test_levels_are_typed_and_their_order_does_not_depend_on_rows() -> None:
    levels = [1, "1", 2.5, "b", dt.date(2020, 1, 1), True]
    found = [spec_of(pd.Series(order, dtype=object)).categories for order in (levels, levels[::-1])]
    assert found[0] == found[1] == (1, 2.5, "1", "b", dt.date(2020, 1, 1))
    assert type(found[1][0]) is int  # True is the same level as 1


def test_unused_levels_are_dropped_and_ordinals_keep_their_order() -> None:
    values = pd.Categorical(["mid", "low"], categories=["low", "mid", "high"], ordered=True)
    assert spec_of(values).categories == ("low", "mid")
    assert spec_of(pd.Categorical(["b", "a"], categories=["b", "a"])).categories == ("a", "b")


def test_small_tables_have_no_ids() -> None:
    assert spec_of(np.arange(49) * 3).kind == "integer"
    assert spec_of([f"name {i}" for i in range(49)]).kind == "categorical"
    assert spec_of(np.arange(50) * 3).kind == "id"


def test_share_of_distinct_values_is_counted_among_present_ones() -> None:
    values = [f"name {i}" if i % 2 else None for i in range(200)]
    assert spec_of(values).kind == "id"
    assert spec_of(values, id_unique_share=1.0).kind == "categorical"


@pytest.mark.parametrize(
    ("target", "task"), [("two", "binary"), ("five", "multiclass"), ("number", "regression"), (None, None)]
)
def test_task(target: str | None, task: str | None) -> None:
    frame = pd.DataFrame({"two": ROWS % 2, "five": ROWS % 5, "number": ROWS / 7})
    assert TableSchema.infer(frame, target).task == task


def test_the_target_is_never_an_id() -> None:
    frame = pd.DataFrame({"price": ROWS * 3, "key": ROWS * 3})
    schema = TableSchema.infer(frame, "price")
    assert [column.kind for column in schema.columns] == ["integer", "id"]
    assert schema.task == "regression"
    assert schema.without_ids().names == ("price",)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, None], [1 + 2j, 3], [object(), "a"]])
def test_unusable_columns_are_named(values: Any) -> None:
    with pytest.raises(SchemaError, match="column 'bad name'") as caught:
        TableSchema.infer(pd.DataFrame({"ok": [1, 2], "bad name": values}))
    assert caught.value.column == "bad name"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BenchError)


@pytest.mark.parametrize("target", ["absent", "twice"])
def test_impossible_targets(target: str) -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["twice", "once", "twice"])
    with pytest.raises(SchemaError, match="cannot be the target"):
        TableSchema.infer(frame, target)


def test_fixed_kinds() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0, np.nan], "b": [1, 2, 3]})
    schema = TableSchema.infer(frame, "a", kinds={"a": "categorical", "b": "numeric"})
    assert schema.column("a") == ColumnSpec("a", "categorical", (0.0, 1.0), True)
    assert schema.column("b") == ColumnSpec("b", "numeric", None, False, 0)
    assert schema.task == "binary"
    with pytest.raises(SchemaError, match="'c': has a fixed kind"):
        TableSchema.infer(frame, kinds={"c": "id"})


def test_json_keeps_types() -> None:
    levels = [1, 1.5, "1", Decimal("1.10"), b"\0", dt.date(2020, 2, 3), dt.time(1, 2), ("a", 1), float("inf"),
              pd.Timestamp("2020-01-01", tz="UTC"), pd.Timedelta("1 day"), pd.Interval(0, 1),
              dt.datetime(2020, 1, 1)]  # fmt: skip
    frame = pd.DataFrame({"mixed": pd.Series(levels, dtype=object), "big": [2**62 + i for i in range(13)]})
    frame["when"] = pd.Timestamp("2020-01-01")
    frame[("a", 1)] = pd.interval_range(0, 13)
    schema = TableSchema.infer(
        frame, "big", constraints=[Constraint("range", ("big",), {"low": 0, "high": 2**63})]
    )
    again = TableSchema.from_json(schema.to_json())
    assert again == schema
    pairs = zip(again.columns, schema.columns, strict=True)
    assert all(
        list(map(type, one.categories or ())) == list(map(type, two.categories or ())) for one, two in pairs
    )
    assert schema.column("big").offset == 2**62


LEVELS = st.one_of(
    st.text(), st.integers(), st.floats(allow_nan=False), st.booleans(), st.dates(), st.binary()
)


@given(st.lists(LEVELS, max_size=8), st.text(), st.booleans())
def test_any_levels_survive_json(levels: list[Any], name: str, ordered: bool) -> None:
    spec = spec_of(pd.Series(levels, dtype=object), kind="ordinal" if ordered else "categorical")
    schema = TableSchema((ColumnSpec(name, spec.kind, spec.categories),))
    again = TableSchema.from_json(schema.to_json())
    assert again == schema
    assert [type(level) for level in again.columns[0].categories or ()] == [
        type(level) for level in spec.categories or ()
    ]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 2}', "null"])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(SchemaError):
        TableSchema.from_json(text)


def test_json_is_plain() -> None:
    data = json.loads(TableSchema.infer(pd.DataFrame({"é": ["x"]})).to_json())
    assert data["columns"][0]["name"] == "é"


NAMES = [
    "a",
    "a",
    7,
    7.5,
    ("t", 1),
    "with space",
    "dot.ted",
    "quo'te\"",
    "hy-phen",
    "x" * 300,
    "ünïcode 表",
    "",
]


def test_odd_names_work_unchanged() -> None:
    frame = pd.DataFrame([np.arange(len(NAMES)) + 0.5] * 60)
    frame.columns = pd.Index(NAMES, dtype=object)
    schema = TableSchema.infer(frame)
    assert schema.names == tuple(NAMES)
    assert TableSchema.from_json(schema.to_json()) == schema
    assert len(set(schema.labels)) == len(NAMES)
    shuffled = frame.iloc[:, ::-1]
    assert schema.validate(shuffled, rows=60)  # constant columns, none fatal
    schema.require(shuffled, rows=60)
    aligned = schema.align(frame.iloc[:, [*range(2, len(NAMES)), 0, 1]])
    assert list(aligned.columns) == NAMES
    assert aligned.iloc[0].tolist() == frame.iloc[0].tolist()


def test_constraints_are_checked() -> None:
    frame = pd.DataFrame({"a": [1.5], "b": [2.5]})
    with pytest.raises(SchemaError, match="column 'c'"):
        TableSchema.infer(frame, constraints=[Constraint("inequality", ("a", "c"))])
    with pytest.raises(SchemaError, match="constraint kind"):
        Constraint("magic", ("a",))  # type: ignore[arg-type]
