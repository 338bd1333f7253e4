"""merge, export, verify: exit codes and messages of the real command, on hand-made stores."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.store import Store, reading
from tests.cli.conftest import Bench
from tests.store import make


@pytest.fixture
def stores(tmp_path: Path) -> tuple[Store, Store]:
    """Two stores that share one job key and no row: `a` and `b` in the test's folder."""
    return make.filled(tmp_path / "a", 2), make.filled(tmp_path / "b", 3, score=0.75)


def test_merge_adds_what_is_new_and_says_how_much(
    bench: Bench, stores: tuple[Store, Store], tmp_path: Path
) -> None:
    done = bench("merge", "a", "b", "--results", "all")
    assert (done.returncode, done.stdout) == (0, "5 new jobs from 2 stores -> all\n"), done.stderr
    assert bench("merge", "a", "b", "all", "--results", "all").stdout == "0 new jobs from 2 stores -> all\n"
    merged = Store.open(tmp_path / "all")
    assert merged.read("jobs").num_rows == 5
    assert merged.verify() == []


def test_merge_of_contradicting_stores_names_both_files_and_writes_nothing(
    bench: Bench, stores: tuple[Store, Store], tmp_path: Path
) -> None:
    assert bench("merge", "a", "--results", "b").returncode == 0
    (path,) = reading.compact_files(stores[0].layout, "metrics")
    table = pq.read_table(path)
    values = [0.123 if v is not None else None for v in table["value"].to_pylist()]
    edited = table.set_column(table.column_names.index("value"), table.schema.field("value"), [values])
    pq.write_table(edited, path)
    before = {p: p.read_bytes() for p in (tmp_path / "b").rglob("*.parquet")}
    done = bench("merge", "a", "--results", "b")
    assert done.returncode == 1
    assert "cannot merge" in done.stderr
    assert str(path) in done.stderr
    assert str(tmp_path / "b") in done.stderr
    assert "nothing was written" in done.stderr
    assert {p: p.read_bytes() for p in (tmp_path / "b").rglob("*.parquet")} == before


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("merge", "absent", "--results", "a"), 2, "no results in"),
        (("merge", "a", "--results", "a"), 2, "nothing to merge"),
        (("merge", "a", "--results", "file"), 3, "is a file"),
        (("export", "out.xlsx", "--results", "a"), 2, "out.xlsx"),
        (("export", "out.csv", "--results", "absent"), 2, "no results in"),
        (("export", "a", "--format", "csv", "--results", "b"), 3, "cannot write"),
        (("verify", "--results", "absent"), 2, "no results in"),
    ],
)
def test_what_cannot_be_done(
    bench: Bench, stores: tuple[Store, Store], tmp_path: Path, args: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "file").write_text("x")
    done = bench(*args)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_export_writes_one_flat_table_in_three_formats(
    bench: Bench, stores: tuple[Store, Store], tmp_path: Path
) -> None:
    for name in ("out.csv", "out.parquet", "deep/out.jsonl"):
        done = bench("export", name, "--results", "b")
        assert (done.returncode, done.stdout) == (0, f"6 rows -> {name}\n"), done.stderr
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "deep" / "out.jsonl").read_text().splitlines()]
    columns = pq.read_table(tmp_path / "out.parquet").to_pylist()
    for table in (rows, lines, columns):
        assert [str(r["metric"]) for r in table] == ["distance", "score"] * 3
        assert {str(r["value"]) for r in table if r["metric"] == "score"} == {"0.75"}
    assert bench("export", "none.csv", "--results", "b", "--size", "full").stdout == "0 rows -> none.csv\n"
    assert bench("export", "table", "--format", "jsonl", "--results", "b").returncode == 0
    assert (tmp_path / "table").read_bytes() == (tmp_path / "deep" / "out.jsonl").read_bytes()


def test_verify_names_what_is_wrong_and_quarantine_moves_it(
    bench: Bench, stores: tuple[Store, Store], tmp_path: Path
) -> None:
    clean = bench("verify", "--results", "b")
    assert (clean.returncode, clean.stdout) == (0, "b: every file is as it was written\n")
    foreign = tmp_path / "b" / "parts" / "jobs" / "mine.parquet"
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_bytes(b"no parquet")
    found = bench("verify", "--results", "b")
    assert found.returncode == 1
    assert "parts/jobs/mine.parquet" in found.stdout
    assert "quarantine" not in found.stdout
    status = bench("status", "--results", "b")
    assert status.returncode == 0
    assert status.stderr.count("mine.parquet") == 1  # the rest is used, the file named once
    assert "3" in status.stdout
    moved = bench("verify", "--results", "b", "--quarantine", "--json")
    assert moved.returncode == 1
    [problem] = json.loads(moved.stdout)
    assert problem["path"] == "parts/jobs/mine.parquet"
    assert problem["quarantined"]
    assert not foreign.exists()
    assert [p.read_bytes() for p in (tmp_path / "b" / "quarantine").rglob("mine.parquet")] == [b"no parquet"]
    assert bench("verify", "--results", "b").returncode == 0
