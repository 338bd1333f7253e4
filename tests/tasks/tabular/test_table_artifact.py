"""Synthetic tables as files: nothing is lost on the way, and nothing in them is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.artifacts import artifact_digest
from bench.datasets.tabular.schema import TableSchema
from bench.errors import InvalidOutput
from bench.spec import Artifact
from bench.tasks.tabular.artifact import CSV_FILE, PARQUET_FILE, read_csv, read_table, write_table
from bench.tasks.tabular.encoding import Encoder


def artifact(folder: Path) -> Artifact:
    return Artifact(dir=folder, sha256=artifact_digest(folder)[0], notes={})


def ugly() -> pd.DataFrame:
    """A column of every kind that people have, with a gap in each."""
    rows = 60
    stamps = pd.date_range("2020-01-01", periods=rows, freq="h", tz="Europe/Paris").to_series(
        index=range(rows)
    )
    columns: dict[Any, Any] = {
        "mixed": ([1, "1", 2.5, None] * 15),
        "large": pd.array([2**62 + i if i % 9 else None for i in range(rows)], dtype="Int64"),
        "small": np.arange(rows, dtype=np.float32) / 3,
        "flag": pd.array([True, False, None] * 20, dtype="boolean"),
        "level": pd.Categorical(["a", "b", None, "a"] * 15, categories=["z", "b", "a"]),
        "size": pd.Categorical(["S", "M", "L", "S"] * 15, categories=["S", "M", "L"], ordered=True),
        "when": stamps.where(stamps.dt.hour != 3),
        "took": pd.to_timedelta(np.arange(rows), unit="s"),
        'a "quoted", <b>name</b> 🙂' + "x" * 300: np.arange(rows) % 3,
    }
    return pd.DataFrame(columns)


def test_every_kind_of_column_survives_the_file(tmp_path: Path) -> None:
    frame = ugly()
    schema = TableSchema.infer(frame, kinds={"large": "integer", "took": "numeric"})
    write_table(frame, schema, tmp_path / PARQUET_FILE)
    back = read_table(artifact(tmp_path), schema, rows=len(frame))
    encoder = Encoder(schema)
    first, second = encoder.encode(frame), encoder.encode(back)
    np.testing.assert_array_equal(first.table.numbers, second.table.numbers)
    np.testing.assert_array_equal(first.table.codes, second.table.codes)
    assert first.issues == second.issues
    assert list(back.columns) == list(frame.columns)


def test_unseen_values_of_another_type_stay_unseen(tmp_path: Path) -> None:
    schema = TableSchema.infer(pd.DataFrame({"x": [1, 2, 3] * 5}))
    write_table(pd.DataFrame({"x": ["1", 2, None] * 5}, dtype=object), schema, tmp_path / PARQUET_FILE)
    codes = Encoder(schema).encode(read_table(artifact(tmp_path), schema)).table.codes[:3, 0]
    assert codes.tolist() == [3, 1, -1]


@pytest.mark.parametrize("value", [[1], {"a": 1}, 1 + 2j])
def test_values_that_stand_for_nothing_are_refused(tmp_path: Path, value: Any) -> None:
    schema = TableSchema.infer(pd.DataFrame({"x": ["a", "b"] * 5}))
    with pytest.raises(InvalidOutput, match="'x' holds what no table may hold"):
        write_table(pd.DataFrame({"x": ["a", value] * 5}), schema, tmp_path / PARQUET_FILE)


def schema_of_two() -> TableSchema:
    return TableSchema.infer(pd.DataFrame({"x": [0.5, 1.25] * 20, "g": ["a", "b"] * 20}))


GOOD = pd.DataFrame({"x": [0.5, 2.0], "g": ["a", "b"]})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (GOOD[["x"]], "column 'g': is missing"),
        (GOOD.assign(y=1), "column 'y': is not in the schema"),
        (GOOD[:1], "1 rows instead of 2"),
        (GOOD[:0], "0 rows instead of 2"),
        (GOOD.assign(g=[["a"], ["b"]]), r"\[g\] holds list"),
    ],
)
def test_tables_that_do_not_fit_are_named(tmp_path: Path, frame: pd.DataFrame, message: str) -> None:
    frame.to_parquet(tmp_path / PARQUET_FILE)
    with pytest.raises(InvalidOutput, match=message):
        read_table(artifact(tmp_path), schema_of_two(), rows=2)


def test_files_that_are_absent_twice_there_or_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("x")
    with pytest.raises(InvalidOutput, match=r"needs synthetic\.parquet or synthetic\.csv; it has other\.txt"):
        read_table(artifact(tmp_path), schema_of_two())
    (tmp_path / PARQUET_FILE).write_bytes(b"PAR1nothingPAR1")
    with pytest.raises(InvalidOutput, match="can't be read as Parquet"):
        read_table(artifact(tmp_path), schema_of_two())
    GOOD.to_csv(tmp_path / CSV_FILE, index=False)
    with pytest.raises(InvalidOutput, match="has both"):
        read_table(artifact(tmp_path), schema_of_two())


@pytest.mark.parametrize(
    "text", ["{", '{"type": "timestamp", "value": "x"}', '{"type": "evil"}', "[" * 2_000]
)
def test_forged_typed_columns_are_refused(tmp_path: Path, text: str) -> None:
    fields = [pa.field("x", pa.float64()), pa.field("g", pa.string(), metadata={b"values": b"json"})]
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([text])], schema=pa.schema(fields))
    pq.write_table(table, tmp_path / PARQUET_FILE)
    with pytest.raises(InvalidOutput, match="no value"):
        read_table(artifact(tmp_path), schema_of_two())


def test_a_csv_is_read_by_the_schema(tmp_path: Path) -> None:
    real = pd.DataFrame(
        {
            "n": [1, 2, 3] * 20,
            "x": np.arange(60) / 8,
            "b": [True, False] * 30,
            "when": pd.date_range("2020", periods=60),
        }
    )
    schema = TableSchema.infer(real)
    (tmp_path / "t.csv").write_text(
        'when,b,x,n\n2020-01-05,true,0.5,1.0\n,False,"1e1",7\n2020-02-01,,oops,\n', encoding="utf-8"
    )
    found = Encoder(schema).encode(read_csv(tmp_path / "t.csv", schema))
    assert found.table.codes.tolist() == [[0, 1], [3, 0], [-1, -1]]
    numbers = found.table.numbers
    assert numbers[:, 0].tolist()[:2] == [0.5, 10.0]
    assert np.isnan(numbers[2, 0])
    assert np.isnan(numbers[1, 1])
    reasons = {str(issue.column): issue.reason for issue in found.issues}
    assert "no numbers" in reasons["x"]


def test_texts_that_look_like_gaps_are_levels_where_real_rows_have_them(tmp_path: Path) -> None:
    schema = TableSchema.infer(pd.DataFrame({"g": ["NA", "b"] * 30}))
    (tmp_path / "t.csv").write_text("g\nNA\nnan\n", encoding="utf-8")
    assert Encoder(schema).encode(read_csv(tmp_path / "t.csv", schema)).table.codes[:, 0].tolist() == [0, -1]


def test_typed_columns_are_json(tmp_path: Path) -> None:
    schema = TableSchema.infer(pd.DataFrame({"m": [1, "1"] * 5}, dtype=object))
    write_table(pd.DataFrame({"m": [1, "1"]}, dtype=object), schema, tmp_path / PARQUET_FILE)
    texts = pq.read_table(tmp_path / PARQUET_FILE)["m"].to_pylist()
    assert [json.loads(text) for text in texts] == [1, "1"]
