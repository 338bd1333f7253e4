"""Many files into one, without ever losing a row."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.errors import StoreError
from bench.store import Store, atomic, compacting, locking, reading

from . import make


def _parts(path: Path, n: int = 5) -> Store:
    """A store of `n` jobs, each in parts of its own, as a killed run leaves it."""
    store = Store.open(path, create=True)
    run = make.start(store)
    for repeat in range(n):
        run.add(job := make.planned(repeat), make.outcome(job))
        run.flush()
    return store


def _ids(store: Store, table: str) -> list[str]:
    return sorted(store.read(table)["record_id"].to_pylist())


def test_compaction_keeps_every_row_and_leaves_one_file(tmp_path: Path) -> None:
    store = _parts(tmp_path / "r")
    before = {table: _ids(store, table) for table in ("jobs", "metrics")}
    assert store.compact() == 10
    assert not list(store.path.glob("parts/*/*"))
    assert len(list(store.path.glob("compact/*"))) == 2
    assert {table: _ids(store, table) for table in before} == before
    assert store.compact() == 0
    assert store.verify() == []


def test_a_run_compacts_at_its_end_into_one_file_per_table(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "r", create=True)
    for repeat in range(3):
        with make.start(store) as run:
            run.add(job := make.planned(repeat), make.outcome(job))
            run.flush()
            run.add(job := make.planned(repeat + 10), make.outcome(job))
    assert len(list(store.path.glob("compact/jobs.*"))) == 1
    assert store.read("jobs").num_rows == 6


def test_large_compact_files_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = _parts(tmp_path / "r")
    store.compact()
    settled = set(store.path.glob("compact/*"))
    monkeypatch.setattr(compacting, "SETTLED_ROWS", 5)
    run = make.start(store)
    for repeat in range(5, 8):
        run.add(job := make.planned(repeat), make.outcome(job))
        run.flush()
    run.close(exit_code=0)
    assert settled < set(store.path.glob("compact/*"))
    assert store.read("jobs").num_rows == 8


def test_a_crash_before_the_parts_are_removed_is_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _parts(tmp_path / "r")
    before = _ids(store, "jobs")
    with monkeypatch.context() as patch:
        patch.setattr(compacting, "_remove", lambda paths: None)
        store.compact()
    assert len(list(store.path.glob("parts/jobs/*"))) == 5
    assert _ids(store, "jobs") == before
    assert store.current().num_rows == 5
    assert store.verify() == []
    store.compact()
    assert not list(store.path.glob("parts/*/*"))
    assert _ids(store, "jobs") == before


def test_a_crash_halfway_through_the_removal_is_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _parts(tmp_path / "r")
    before = _ids(store, "metrics")
    with monkeypatch.context() as patch:
        patch.setattr(compacting, "_remove", lambda paths: [p.unlink() for p in list(paths)[::2]])
        store.compact()
    assert _ids(store, "metrics") == before
    store.compact()
    assert _ids(store, "metrics") == before


def test_bad_files_are_left_where_they_are(tmp_path: Path) -> None:
    store = _parts(tmp_path / "r")
    bad = store.path / "parts" / "jobs" / "bad.parquet"
    bad.write_bytes(b"PAR1 no")
    store.compact()
    assert bad.read_bytes() == b"PAR1 no"
    assert store.read("jobs").num_rows == 5


def test_columns_of_a_newer_bench_survive(tmp_path: Path) -> None:
    store = _parts(tmp_path / "r", n=2)
    path = reading.part_files(store.layout, "jobs")[0]
    table = pq.read_table(path)
    pq.write_table(table.append_column("colour", pa.array(["red"])), path)
    store.compact()
    (compacted,) = store.path.glob("compact/jobs.*")
    assert sorted(map(str, pq.read_table(compacted)["colour"].to_pylist())) == ["None", "red"]
    assert store.read("jobs").num_rows == 2


def test_columns_that_do_not_agree_are_not_merged(tmp_path: Path) -> None:
    store = _parts(tmp_path / "r", n=2)
    for path, values in zip(reading.part_files(store.layout, "jobs"), (["red"], [3]), strict=True):
        table = pq.read_table(path)
        pq.write_table(table.append_column("colour", pa.array(values)), path)
    store.compact()
    assert len(reading.part_files(store.layout, "jobs")) == 2
    assert store.read("jobs").num_rows == 2


def test_a_file_cannot_have_others_removed(tmp_path: Path) -> None:
    """`replaces` is data from a file that may come from anywhere."""
    store = _parts(tmp_path / "r")
    store.compact()
    (victim := tmp_path / "victim.txt").touch()
    (compacted,) = store.path.glob("compact/jobs.*")
    names = ["../victim.txt", str(victim), "store.json", "parts/jobs/../../store.json", 7]
    table = pq.read_table(compacted).replace_schema_metadata({reading.REPLACES: json.dumps(names).encode()})
    pq.write_table(table, compacted)
    store.compact(min_parts=0)
    assert victim.exists()
    assert (store.path / "store.json").exists()


def test_only_one_process_compacts(tmp_path: Path) -> None:
    store = _parts(tmp_path / "r")
    held = locking.acquire(store.layout.locks / "compact.lock", 60)
    assert held is not None
    assert store.compact() == 0
    held.release()
    assert store.compact() == 10


def test_a_run_does_not_fail_for_want_of_space_to_compact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _parts(tmp_path / "r")

    def full(path: Path, write: object) -> None:
        raise StoreError("no space")

    monkeypatch.setattr(compacting.atomic, "write_file", full)
    with pytest.raises(StoreError):
        store.compact()
    store._compact_if_possible()
    monkeypatch.undo()
    assert store.read("jobs").num_rows == 5
    assert not [p for p in store.path.rglob("*") if atomic.is_temporary(p)]


def test_a_killed_run_with_many_parts_is_compacted_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _parts(tmp_path / "r", n=3)
    monkeypatch.setattr("bench.store.store.TOO_MANY_PARTS", 6)
    run = make.start(store)
    assert not list(store.path.glob("parts/jobs/*"))
    run.close(exit_code=0)
