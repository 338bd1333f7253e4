"""A disk that fills up while results are written."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.errors import StoreError
from bench.store import RunWriter, Store, atomic

from . import make


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"cannot mount a small disk: {error}")
    if done.returncode:
        pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def _leftovers(path: Path) -> list[Path]:
    return [p for p in path.rglob("*") if atomic.is_temporary(p)]


def _fill(run: RunWriter, elsewhere: Path) -> None:
    """Store jobs, their files made on another file system, until the disk is full."""
    for repeat in range(500):
        job, work = make.planned(repeat), elsewhere / str(repeat)
        run.add(job, make.with_files(job, work, "x" * 20_000), work)
        run.flush()


def test_a_full_disk_stops_the_run_and_keeps_what_was_stored(small_disk: Path, tmp_path: Path) -> None:
    store = Store.open(small_disk / "r", create=True)
    run = make.start(store)
    with pytest.raises(StoreError, match="No space left") as caught:
        _fill(run, tmp_path / "elsewhere")
    assert caught.value.exit_code == 3
    stored = run.stored
    assert 0 < stored < 500
    assert _leftovers(store.path) == []
    assert store.read("jobs").num_rows == stored
    assert store.metrics(store.current()).num_rows == 2 * stored
    with contextlib.suppress(StoreError):  # whether its few bytes still fit depends on what did not
        run.close(exit_code=3)
    assert store.read("jobs").num_rows == stored


def _refuse(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["fsync", "replace", "rename"])
def test_a_write_that_fails_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store = make.filled(tmp_path / "r", n=1)
    run = make.start(store)
    job = make.planned(1)
    work = run.work_dir(job.job.key, 1)
    ended = make.with_files(job, work)
    before = sorted(p for p in store.path.rglob("*") if p.is_file() and "running" not in p.parts)
    monkeypatch.setattr(os, call, _refuse)
    with pytest.raises(StoreError, match=r"No space left.*free some space"):
        run.add(job, ended, work)
    monkeypatch.undo()
    after = sorted(p for p in store.path.rglob("*") if p.is_file() and "running" not in p.parts)
    assert [p for p in after if p not in before and p.suffix == ".parquet"] == []
    assert _leftovers(store.path) == []
    assert store.read("jobs").num_rows == 1


def test_rows_that_could_not_be_written_are_written_later_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the disk fills between the two tables."""
    store = Store.open(tmp_path / "r", create=True)
    run = make.start(store)
    original = atomic.write_file

    def no_jobs(path: Path, write: Any) -> None:
        if path.parent.name == "jobs":
            raise StoreError("full")
        original(path, write)

    job = make.planned()
    monkeypatch.setattr(atomic, "write_file", no_jobs)
    with pytest.raises(StoreError):
        run.add(job, make.outcome(job))
    assert store.read("metrics").num_rows == 2
    assert store.metrics(store.current()).num_rows == 0, "values without their job do not count"
    monkeypatch.undo()
    run.close(exit_code=0)
    assert store.read("metrics").num_rows == 2
    assert store.metrics(store.current()).num_rows == 2
    assert store.verify() == []


def test_a_tree_comes_over_from_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "source", tmp_path / "there" / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_text("x")
    original = os.rename

    def other_device(old: Any, new: Any) -> None:
        if Path(old) == source:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        original(old, new)

    monkeypatch.setattr(os, "rename", other_device)
    atomic.install_tree(source, target)
    assert (target / "deep" / "file").read_text() == "x"
    assert [p.name for p in target.parent.iterdir()] == ["target"]


def test_a_tree_of_many_files_is_stored_too(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(atomic.MANY_FILES + 1):
        (source / f"{number}").touch()
    atomic.install_tree(source, tmp_path / "target")
    assert len(list((tmp_path / "target").iterdir())) == atomic.MANY_FILES + 1
    assert not source.exists()
