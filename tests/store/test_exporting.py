"""The flat table for other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.errors import StoreError
from bench.store import Store

from . import make


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "r", create=True)
    with make.start(store) as run:
        for repeat, status in enumerate(("ok", "error", "ok")):
            job = make.planned(repeat)
            run.add(job, make.outcome(job, status=status, error_message="=1+1" if status == "error" else ""))
    return store


def _check(rows: list[dict[str, object]], empty: object) -> None:
    assert len(rows) == 5, "two metrics of two jobs, and the failed job"
    assert [int(str(r["repeat"])) for r in rows] == [0, 0, 1, 2, 2]
    failed = rows[2]
    assert (failed["status"], failed["metric"], failed["value"]) == ("error", empty, empty)
    assert [r["metric"] for r in rows if r["status"] == "ok"] == ["distance", "score"] * 2
    assert float(str(rows[1]["value"])) == 0.5
    assert rows[0]["value"] == empty
    assert rows[0]["reason"] == "too few samples"
    assert {r["model"] for r in rows} == {"gaussian"}


def test_parquet(store: Store, tmp_path: Path) -> None:
    assert store.export(tmp_path / "all.parquet", "parquet") == 5
    _check(pq.read_table(tmp_path / "all.parquet").to_pylist(), None)


def test_jsonl(store: Store, tmp_path: Path) -> None:
    store.export(tmp_path / "all.jsonl", "jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    _check([json.loads(line) for line in lines], None)
    assert json.loads(lines[0])["ended_at"].startswith("2001-09-09T01:46:40")


def test_csv_runs_nothing_in_a_spreadsheet(store: Store, tmp_path: Path) -> None:
    store.export(tmp_path / "all.csv", "csv", size="tiny")
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    _check(rows, "")  # type: ignore[arg-type]
    assert rows[2]["error_message"] == "'=1+1"


def test_an_empty_store_exports_its_columns(tmp_path: Path) -> None:
    empty = Store.open(tmp_path / "r", create=True)
    for file_format in ("csv", "parquet", "jsonl"):
        assert empty.export(tmp_path / f"x.{file_format}", file_format) == 0  # type: ignore[arg-type]
    assert "task" in (tmp_path / "x.csv").read_text()
    assert (tmp_path / "x.jsonl").read_text() == ""


def test_a_place_that_cannot_be_written_is_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write"):
        store.export(tmp_path / "file" / "x.csv", "csv")
