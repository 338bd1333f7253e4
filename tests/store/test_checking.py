"""`bench verify`: what is wrong with a store, and moving it out of the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.store import Problem, Store, reading

from . import make


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two jobs with an artifact, an exhibit and samples each."""
    store = Store.open(tmp_path / "r", create=True)
    with make.start(store) as run:
        for repeat in range(2):
            job = make.planned(repeat)
            work = run.work_dir(job.job.key, 1)
            run.add(job, make.with_files(job, work, f"content {repeat}"), work)
    return store


def _only(problems: list[Problem]) -> Problem:
    assert len(problems) == 1, problems
    return problems[0]


def _first(store: Store, pattern: str) -> Path:
    return sorted(store.path.glob(pattern))[0]


def test_a_sound_store_has_no_problem(store: Store) -> None:
    assert store.verify() == []
    assert store.verify(quarantine=True) == []
    assert not (store.path / "quarantine").exists()


def test_a_changed_artifact_is_found_and_moved(store: Store) -> None:
    file = _first(store, "artifacts/*/*/out.txt")
    file.write_text("better numbers")
    problem = _only(store.verify())
    assert (problem.kind, problem.quarantined) == ("artifact", False)
    assert problem.path == file.parent.relative_to(store.path).as_posix()
    assert _only(store.verify(quarantine=True)).quarantined
    moved = next((store.path / "quarantine").glob("*/artifacts/*/*/out.txt"))
    assert moved.read_text() == "better numbers"
    assert _only(store.verify()).kind == "missing", "the row still speaks of it"
    assert store.current().num_rows == 2


def test_an_artifact_with_a_link_in_it_is_found(store: Store) -> None:
    (_first(store, "artifacts/*/*") / "link").symlink_to("/etc/passwd")
    problem = _only(store.verify())
    assert (problem.kind, "link" in problem.message) == ("artifact", True)


@pytest.mark.parametrize("pattern", ["artifacts/*/*/out.txt", "exhibits/*/*/grid.png", "samples/*/*.parquet"])
def test_a_missing_file_is_found(store: Store, pattern: str) -> None:
    file = _first(store, pattern)
    file.unlink()
    if pattern.startswith("artifacts"):
        file.parent.rmdir()
    problem = _only(store.verify())
    assert problem.kind == "missing"
    assert problem.path.startswith(pattern.split("/")[0])


def test_damaged_samples_are_found(store: Store) -> None:
    file = _first(store, "samples/*/*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    assert _only(store.verify()).kind == "damaged"
    pq.write_table(pa.table({"colour": ["red"]}), file)
    assert _only(store.verify()).kind == "foreign"


def test_bad_table_files_are_moved_and_the_rest_stays(store: Store) -> None:
    bad = store.path / "parts" / "metrics" / "bad.parquet"
    bad.write_bytes(b"PAR1")
    stray = store.path / "compact" / "letter.txt"
    stray.write_text("dear")
    odd = store.path / "parts" / "colours"
    odd.mkdir()
    kinds = {p.path: p.kind for p in store.verify(quarantine=True)}
    assert kinds == {
        "parts/metrics/bad.parquet": "damaged", "compact/letter.txt": "foreign", "parts/colours": "foreign",
    }  # fmt: skip
    assert store.verify() == []
    assert len(list((store.path / "quarantine").glob("*/parts/metrics/bad.parquet"))) == 1
    assert store.read("metrics").num_rows == 4


def test_one_row_with_two_contents_is_found(store: Store) -> None:
    table = store.read("metrics")
    index = table.column_names.index("value")
    edited = table.set_column(index, "value", pa.array([0.99] * 4, pa.float64()))
    pq.write_table(edited, store.path / "parts" / "metrics" / "edited.parquet")
    problems = store.verify()
    assert {p.kind for p in problems} == {"conflict"}
    assert "with" in problems[0].message or "other content" in problems[0].message
    assert not any(p.quarantined for p in store.verify(quarantine=True)), "nobody can say which one is right"


def test_old_leftovers_are_found_and_fresh_ones_are_not(store: Store) -> None:
    old, fresh = (store.path / "parts" / "jobs" / f".{name}.parquet.1.tmp" for name in ("old", "fresh"))
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    (fresh.parent / ".vanished.2.tmp").symlink_to("nowhere")
    assert _only(store.verify()).path.endswith(".old.parquet.1.tmp")
    store.verify(quarantine=True)
    assert (old.exists(), fresh.exists()) == (False, True)
    assert store.verify() == []


def test_work_of_a_dead_run_is_a_leftover_and_of_a_live_one_is_not(store: Store) -> None:
    run = make.start(store)
    run.work_dir("a" * 64, 1)
    assert store.verify() == []
    (store.path / "runs" / "dead" / "running").mkdir(parents=True)
    assert _only(store.verify()).path == "runs/dead/running"
    run.close(exit_code=0)


def test_rows_cannot_lead_out_of_the_store(store: Store) -> None:
    (path,) = reading.compact_files(store.layout, "jobs")
    table = pq.read_table(path)
    for name in ("job_key", "artifact_sha256"):
        values = pa.array(["../../../etc"] * table.num_rows)
        table = table.set_column(table.column_names.index(name), name, values)
    pq.write_table(table, path)
    assert "names no possible file" in _only(store.verify(quarantine=True)).message


def test_a_repeated_job_replaces_a_lost_artifact(store: Store) -> None:
    file = _first(store, "artifacts/*/*/out.txt")
    file.write_text("spoiled")
    store.verify(quarantine=True)
    repeat = next(r for r in (0, 1) if make.planned(r).job.key == file.parent.parent.name)
    with make.start(store) as run:
        job = make.planned(repeat, attempt=2)
        work = run.work_dir(job.job.key, 2)
        run.add(job, make.with_files(job, work, "whole again"), work)
    assert store.verify() == []
