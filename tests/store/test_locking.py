"""Advisory locks: one holder, and none for ever."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from bench.store import Store, locking


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "job.lock"


def _edit(path: Path, **changes: object) -> None:
    """Change what a lock says, keeping its age."""
    age = path.stat().st_mtime
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    os.utime(path, (age, age))


def _age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_one_holder_at_a_time(path: Path) -> None:
    held = locking.acquire(path, 10)
    assert held is not None
    assert locking.acquire(path, 10) is None
    held.release()
    held.release()
    with locking.acquire(path, 10) as again:  # type: ignore[union-attr]
        assert again is not None
    assert not path.exists()


def test_the_lock_says_who_holds_it(path: Path) -> None:
    assert locking.acquire(path, 10)
    content = json.loads(path.read_text())
    assert content["pid"] == os.getpid()
    assert content["host"]
    assert abs(content["time"] - time.time()) < 60


def test_a_dead_process_holds_nothing(path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        locking.acquire(path, 1e9)
        os._exit(0)
    os.waitpid(pid, 0)
    assert path.exists()
    assert locking.acquire(path, 10) is not None


def test_a_later_process_of_the_same_number_is_not_the_holder(path: Path) -> None:
    locking.acquire(path, 1e9)
    _edit(path, process="12345")
    assert locking.acquire(path, 10) is not None


def test_a_live_process_on_another_host_holds_it_until_timeout_plus_a_minute(path: Path) -> None:
    locking.acquire(path, 100)
    _edit(path, host="elsewhere", pid=2**22 + 1)
    _age(path, 155)
    assert locking.acquire(path, 10) is None
    _age(path, 165)
    assert locking.acquire(path, 10) is not None


def test_a_holder_on_this_host_is_also_given_up_in_the_end(path: Path) -> None:
    locking.acquire(path, 100)
    _age(path, 155)
    assert locking.acquire(path, 10) is None
    _age(path, 165)
    assert locking.acquire(path, 10) is not None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}'])
def test_a_lock_whose_writer_was_killed_over_it_holds_nothing(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)
    assert locking.acquire(path, 10) is not None


def test_a_lock_taken_over_is_not_released_by_its_old_holder(path: Path) -> None:
    old = locking.acquire(path, 1)
    assert old is not None
    _age(path, 100)
    new = locking.acquire(path, 1)
    assert new is not None
    old.release()
    assert path.exists()
    assert locking.acquire(path, 1) is None


@pytest.mark.parametrize("stale", [True, False])
def test_of_many_only_one_gets_it(path: Path, stale: bool) -> None:
    if stale:
        locking.acquire(path, 1)
        _age(path, 100)
    barrier, got = threading.Barrier(8), []

    def take() -> None:
        barrier.wait()
        got.append(locking.acquire(path, 10))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(lock is not None for lock in got) == 1


def test_the_store_gives_locks_for_jobs(tmp_path: Path) -> None:
    store = Store.open(tmp_path, create=True)
    with (
        store.lock("a" * 64, 10) as mine,
        store.lock("a" * 64, 10) as yours,
        store.lock("b" * 64, 10) as other,
    ):
        assert (mine, yours, other) == (True, False, True)
    with store.lock("a" * 64, 10) as again:
        assert again
