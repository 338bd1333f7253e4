"""Tables that come back from models: what is an error, what is counted, and how values are encoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.datasets.tabular.codec import TableCodec
from bench.datasets.tabular.columns import infer_column
from bench.datasets.tabular.reading import read_levels, read_numbers
from bench.datasets.tabular.schema import Issue, SchemaError, TableSchema

N = 60
REAL = pd.DataFrame(
    {
        "x": np.arange(N) / 4,
        "n": np.arange(N) % 31,
        "g": np.array(["a", "b", "c"])[np.arange(N) % 3],
        "flag": np.arange(N) % 2 == 0,
        "when": pd.date_range("2020-01-01", periods=N, tz="Europe/Paris"),
    }
)
SCHEMA = TableSchema.infer(REAL)


def numbers(values: Any, **like: Any) -> Any:
    spec = infer_column(pd.Series(like.get("real", [0.5])), "c")
    return read_numbers(pd.Series(values), spec)


@pytest.mark.parametrize(
    ("frame", "rows", "column", "reason"),
    [
        (REAL.drop(columns="g"), None, "g", "is missing"),
        (REAL.assign(extra=1), None, "extra", "is not in the schema"),
        (pd.concat([REAL, REAL[["x"]]], axis=1), None, "x", r"is not in the schema \(2 instead of 1\)"),
        (REAL.head(7), 60, None, "7 rows instead of 60"),
        (REAL.head(0), 60, None, "0 rows instead of 60"),
        (REAL.head(0), None, None, "no rows"),
        ([[1]], None, None, "a list instead of a pandas DataFrame"),
    ],
)
def test_fatal(frame: Any, rows: int | None, column: str | None, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason) as caught:
        SCHEMA.require(frame, rows=rows)
    assert caught.value.column == column
    assert any(issue.fatal for issue in SCHEMA.validate(frame, rows=rows))


def test_a_real_table_has_no_issue_in_any_order() -> None:
    assert SCHEMA.validate(REAL.iloc[::-1, ::-1], rows=N) == []


CONSTANT = Issue("g", "is constant", count=N)
NO_NUMBERS = "values that are no numbers, taken as missing"
ODDITIES = {
    "unseen level": (REAL.assign(g="z"), [Issue("g", "1 unseen levels: 'z'", count=N), CONSTANT]),
    "trailing blank": (REAL.assign(g=["a ", *REAL.g[1:]]), [Issue("g", "1 unseen levels: 'a '", count=1)]),
    "numbers as text": (REAL.assign(x=REAL.x.astype(str)), [Issue("x", "numbers as text, parsed", count=N)]),
    "some text": (REAL.assign(x=["?", *REAL.x[1:]]), [Issue("x", NO_NUMBERS, count=1)]),
    "infinite": (REAL.assign(x=[np.inf, *REAL.x[1:]]), [Issue("x", "infinite values", count=1)]),
    "not whole": (REAL.assign(n=REAL.n + 0.5), [Issue("n", "values that are not whole numbers", count=N)]),
    "decimals": (REAL.assign(x=REAL.x + 0.001), [Issue("x", "values that are not numbers of 2 decimals", count=N)]),
    "missing": (
        REAL.assign(x=[None, *REAL.x[1:]]),
        [Issue("x", "missing values, which the real column has not", count=1)],
    ),
    "constant": (REAL.assign(x=0.5), [Issue("x", "is constant", count=N)]),
    "small": (REAL.head(5), [Issue(None, "small sample: 5 rows")]),
    "flags as numbers": (REAL.assign(flag=REAL.flag.astype(float)), []),
    "times without zone": (REAL.assign(when=REAL.when.dt.tz_convert("UTC").dt.tz_localize(None)), []),
    "numbers for times": (REAL.assign(when=1.0), [Issue("when", NO_NUMBERS, count=N)]),
    "lists": (REAL.assign(g=[["a"]] * N), [Issue("g", "1 unseen levels: \"['a']\"", count=N), CONSTANT]),
}  # fmt: skip


@pytest.mark.parametrize("case", ODDITIES)
def test_oddities_are_counted_and_not_fatal(case: str) -> None:
    frame, expected = ODDITIES[case]
    assert SCHEMA.validate(frame) == expected
    SCHEMA.require(frame)


def test_levels() -> None:
    spec = infer_column(pd.Series([1, "1", None, 2], dtype=object), "c")
    assert spec.categories == (1, 2, "1")
    levels = read_levels(pd.Series([True, 1.0, "1", 2, None, np.nan, pd.NA, "2", 3], dtype=object), spec)
    assert levels.codes.tolist() == [0, 0, 2, 1, -1, -1, -1, 3, 3]
    assert levels.codes.dtype == np.int32
    assert dict(levels.unseen) == {"2": 1, 3: 1}


def test_unused_and_unseen_levels_of_a_category_type() -> None:
    spec = infer_column(pd.Series(["a", "b"]), "c")
    column = pd.Series(pd.Categorical(["b", None, "z"], categories=["z", "unused", "b"]))
    levels = read_levels(column, spec)
    assert levels.codes.tolist() == [1, -1, 2]
    assert dict(levels.unseen) == {"z": 1}


def test_whole_numbers_near_two_to_the_62_stay_distinct() -> None:
    real = pd.array([2**62 + i % 40 for i in range(N)] + [None], dtype="Int64")
    spec = infer_column(pd.Series(real), "c")
    assert spec.kind == "integer"
    assert spec.offset == 2**62
    expected = [float(i % 40) for i in range(N)]
    assert read_numbers(pd.Series(real), spec).values[:-1].tolist() == expected
    as_text = read_numbers(pd.Series([str(2**62 + 7), 2**62 + 8, None], dtype=object), spec)
    assert as_text.values[:2].tolist() == [7.0, 8.0]
    assert (as_text.texts, as_text.unreadable) == (1, 0)
    spread = pd.Series([-(2**63), 2**63 - 1])
    assert read_numbers(spread, infer_column(spread, "c", kind="integer")).values.tolist() == [0.0, 2.0**64]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_times_are_seconds_in_utc(unit: str, zone: str | None) -> None:
    column = pd.Series(pd.DatetimeIndex(["1969-12-31 23:59:59", "2020-01-01", None], tz="UTC").as_unit(unit))
    column = column.dt.tz_convert(zone) if zone else column.dt.tz_localize(None)
    found = numbers(column, real=column).values
    assert found[:2].tolist() == [-1.0, 1577836800.0]
    assert np.isnan(found[2])


def test_durations_are_seconds() -> None:
    column = pd.Series(pd.to_timedelta(["1.5s", None, "-1h"]))
    assert numbers(column, real=column).values[[0, 2]].tolist() == [1.5, -3600.0]


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float32", "Float64", "boolean", "float32", "int8", "category", object]
)
def test_types_of_numbers(dtype: Any) -> None:
    column = pd.Series([1, 0, 1]).astype(dtype)
    assert numbers(column).values.tolist() == [1.0, 0.0, 1.0]


def test_codec() -> None:
    frame = REAL.assign(key=[f"row {i}" for i in range(N)])
    codec = TableCodec(TableSchema.infer(frame))
    assert codec.labels == ("x", "n", "g", "flag", "when")
    table = codec.encode(frame.iloc[:, ::-1], rows=N)
    assert table.numbers.shape == (N, 3)
    assert table.codes.shape == (N, 2)
    assert not table.missing.any()
    assert table.issues == ()
    assert table.numbers[:, 0].tolist() == REAL.x.tolist()
    assert (np.array(["a", "b", "c"])[table.codes[:, 0]] == REAL.g).all()
    with pytest.raises(SchemaError, match="59 rows instead of 60"):
        codec.encode(frame.head(59), rows=60)


@pytest.mark.parametrize("columns", [["x"], ["g"]])
def test_codec_of_one_kind_only(columns: list[str]) -> None:
    table = TableCodec(TableSchema.infer(REAL[columns])).encode(REAL[columns])
    assert table.numbers.shape[1] + table.codes.shape[1] == 1
    assert len(table.numbers) == len(table.codes) == N
