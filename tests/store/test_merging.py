"""Stores of several machines in one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.errors import BenchError
from bench.store import Store, reading

from . import make


def _store(path: Path, repeats: range, **fields: object) -> Store:
    store = Store.open(path, create=True)
    with make.start(store) as run:
        for repeat in repeats:
            job = make.planned(repeat)
            work = run.work_dir(job.job.key, 1)
            log = run.log_path(job.job.key, 1)
            log.write_text("log")
            run.add(job, make.with_files(job, work, str(path), log_path=str(log), **fields), work)
    return store


def _tree(store: Store) -> dict[str, bytes]:
    files = (p for p in store.path.rglob("*") if p.is_file() and p.parent.name != "locks")
    return {p.relative_to(store.path).as_posix(): p.read_bytes() for p in files}


def test_merge_unites_rows_and_files(tmp_path: Path) -> None:
    a, b = _store(tmp_path / "a", range(2)), _store(tmp_path / "b", range(1, 4))
    into = Store.open(tmp_path / "c", create=True)
    assert into.merge([a, b]) == 5
    assert into.read("jobs").num_rows == 5
    assert into.read("metrics").num_rows == 10
    assert into.current().num_rows == 4
    assert into.verify() == []
    for row in into.read("jobs").to_pylist():
        assert into.samples(row["run_id"], row["job_key"], row["attempt"]) is not None
        assert (into.path / row["log_path"]).read_text() == "log"
        assert (into.path / "runs" / row["run_id"] / "run.json").is_file()


def test_merging_again_changes_nothing(tmp_path: Path) -> None:
    a, into = _store(tmp_path / "a", range(2)), _store(tmp_path / "c", range(2, 3))
    assert into.merge([a, into]) == 2
    before = _tree(into)
    assert into.merge([a]) == 0
    assert into.merge([into]) == 0
    assert _tree(into) == before


def test_one_row_with_two_contents_stops_the_merge(tmp_path: Path) -> None:
    a, into = _store(tmp_path / "a", range(2)), Store.open(tmp_path / "c", create=True)
    into.merge([a])
    (path,) = reading.compact_files(a.layout, "metrics")
    table = pq.read_table(path)
    values = pa.array([1.0] * table.num_rows, pa.float64())
    pq.write_table(table.set_column(table.column_names.index("value"), "value", values), path)
    with make.start(a) as run:
        run.add(job := make.planned(7), make.outcome(job))
    before = _tree(into)
    with pytest.raises(BenchError, match="nothing was written") as caught:
        into.merge([a])
    assert caught.value.exit_code == 1
    assert str(a.path) in str(caught.value)
    assert str(into.path) in str(caught.value)
    assert _tree(into) == before


def test_the_same_job_done_on_two_machines_keeps_both_attempts_and_samples(tmp_path: Path) -> None:
    a, b = _store(tmp_path / "a", range(1), at=2e9), _store(tmp_path / "b", range(1), at=1e9)
    into = Store.open(tmp_path / "c", create=True)
    into.merge([a, b])
    rows = into.read("jobs").to_pylist()
    assert len({(r["job_key"], r["attempt"]) for r in rows}) == 1
    assert len({r["run_id"] for r in rows}) == 2
    assert len(list(into.path.glob("samples/*/*"))) == 2
    assert into.current()["run_id"].to_pylist() == a.read("jobs")["run_id"].to_pylist(), (
        "the later one counts"
    )


def test_uses_and_columns_of_newer_benches_come_along(tmp_path: Path) -> None:
    a, into = _store(tmp_path / "a", range(1)), Store.open(tmp_path / "c", create=True)
    with make.start(a) as run:
        run.add(job := make.planned(source="b" * 64), make.outcome(job, at=1.2e9))
    a.touch([make.planned().job.key])
    (path,) = reading.compact_files(a.layout, "jobs")
    table = pq.read_table(path)
    pq.write_table(table.append_column("colour", pa.array(["red"] * table.num_rows)), path)
    into.merge([a])
    assert into.current()["job_key"].to_pylist() == [make.planned().job.key]
    (copied,) = reading.compact_files(into.layout, "jobs")
    assert set(pq.read_table(copied)["colour"].to_pylist()) == {"red"}


def test_untrue_artifacts_and_bad_files_are_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, into = _store(tmp_path / "a", range(2)), Store.open(tmp_path / "c", create=True)
    next(a.path.glob("artifacts/*/*/out.txt")).write_text("other")
    (a.path / "parts" / "jobs" / "bad.parquet").write_bytes(b"no")
    next(a.path.glob("exhibits/*/*")).joinpath("link").symlink_to("/etc/passwd")
    into.merge([a])
    said = capsys.readouterr().err
    assert "does not have the hash" in said
    assert "bad.parquet" in said
    assert "link" in said
    assert len(list(into.path.glob("artifacts/*/*"))) == 1
    assert len(list(into.path.glob("exhibits/*/*"))) == 1
    assert into.read("jobs").num_rows == 2
    assert {p.kind for p in into.verify()} == {"missing"}


def test_rows_cannot_have_files_copied_from_elsewhere(tmp_path: Path) -> None:
    a, into = _store(tmp_path / "a", range(1)), Store.open(tmp_path / "c", create=True)
    (path,) = reading.part_files(a.layout, "jobs")
    table = pq.read_table(path)
    for name, value in (("run_id", "../../x"), ("log_path", "/etc/passwd")):
        values = pa.array([value] * table.num_rows)
        table = table.set_column(table.column_names.index(name), name, values)
    pq.write_table(table, path)
    into.merge([a])
    assert set(_tree(into)) == {"store.json", *(n for n in _tree(into) if n.startswith("compact/"))}


def test_columns_that_do_not_agree_are_left_behind(tmp_path: Path) -> None:
    stores = [_store(tmp_path / name, range(1)) for name in "ab"]
    for store, value in zip(stores, ("red", 3), strict=True):
        (path,) = reading.part_files(store.layout, "jobs")
        pq.write_table(pq.read_table(path).append_column("colour", pa.array([value])), path)
    into = Store.open(tmp_path / "c", create=True)
    assert into.merge(stores) == 2
    assert into.verify() == []


def test_merging_nothing_is_no_error(tmp_path: Path) -> None:
    into = Store.open(tmp_path / "c", create=True)
    assert into.merge([Store.open(tmp_path / "a", create=True), into]) == 0
