"""Processes that die or collide while they write."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.store import Store

from . import make

N_JOBS, N_KILLS = 180, 30


def _resume(
    path: Path,
    tell: Callable[[str], object],
    *,
    only: range = range(N_JOBS),
    ready: Callable[[], object] = bool,
) -> None:
    """What a run does: every job without an ok row, each under its lock, told when it is stored."""
    store = Store.open(path, create=True)
    past = {p.key: p for p in store.history()}
    waiting: list[str] = []
    with make.start(store) as run:
        ready()
        for repeat in only:
            job = make.planned(repeat)
            key = job.job.key
            if key in past and past[key].status == "ok":
                continue
            with store.lock(key, 60) as mine:
                if not mine:
                    continue
                if repeat % 8:
                    run.add(job, make.outcome(job))
                else:
                    work = run.work_dir(key, 1)
                    run.add(job, make.with_files(job, work, f"made for {repeat}"), work)
            waiting.append(key)
            if repeat % 5 == 0:
                run.flush()
            if repeat % 17 == 0:
                store.compact()
            if not run._pending:
                tell("".join(key + "\n" for key in waiting))
                waiting.clear()


def _start(target: Callable[[int], object]) -> tuple[int, int]:
    """Run `target(pipe)` in a forked process; returns its pid and the pipe's other end."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            target(writer)
            code = 0
        except BaseException as error:
            print(f"child: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    os.close(writer)
    return pid, reader


def _read_some(reader: int, n: int) -> str:
    """What the process told until it had stored `n` jobs: killing by progress works on any machine."""
    text = ""
    while text.count("\n") < n and (more := os.read(reader, 4096)):
        text += more.decode()
    return text


def _read_all(reader: int) -> str:
    with os.fdopen(reader) as pipe:
        return pipe.read()


def _ok_rows(store: Store) -> Counter[str]:
    return Counter(store.read("jobs", ["job_key"], {"status": "ok"})["job_key"].to_pylist())


def test_thirty_kills_lose_nothing_that_was_stored(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r"
    rng = random.Random(7)
    told: set[str] = set()
    progress = []
    for _ in range(N_KILLS):
        pid, reader = _start(lambda pipe: _resume(path, lambda text: os.write(pipe, text.encode())))
        seen = _read_some(reader, rng.randrange(5))
        time.sleep(rng.uniform(0.0, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        told |= set((seen + _read_all(reader)).split())
        if not (path / "store.json").exists():
            continue
        store = Store.open(path)
        assert told <= set(_ok_rows(store)), "a stored job was lost"
        assert {p.kind for p in store.verify()} <= {"leftover"}
        progress.append(len(_ok_rows(store)))
    pid, reader = _start(lambda pipe: _resume(path, lambda text: os.write(pipe, text.encode())))
    _read_all(reader)
    assert os.waitpid(pid, 0)[1] == 0
    store = Store.open(path)
    assert _ok_rows(store) == Counter(make.planned(r).job.key for r in range(N_JOBS))
    assert store.current().num_rows == N_JOBS
    assert store.metrics(store.current()).num_rows == 2 * N_JOBS
    assert store.verify() == []
    assert not list(store.path.glob("runs/*/running")), "the last run removed what the killed ones left"
    assert sum(0 < n < N_JOBS for n in progress) >= 10, "the kills came while jobs were being stored"
    assert "skipped" not in capfd.readouterr().err, "no file was ever unreadable"


def test_two_runs_at_once_lose_nothing_and_share_the_work(tmp_path: Path) -> None:
    path = tmp_path / "r"
    together = multiprocessing.get_context("fork").Barrier(2).wait

    def run(only: range) -> tuple[int, int]:
        return _start(lambda _: _resume(path, lambda _: None, only=only, ready=together))

    children = [run(only) for only in (range(40), range(39, -1, -1))]
    for pid, reader in children:
        _read_all(reader)
        assert os.waitpid(pid, 0)[1] == 0
    store = Store.open(path)
    assert set(_ok_rows(store)) == {make.planned(r).job.key for r in range(40)}
    assert store.current().num_rows == 40
    assert store.metrics(store.current()).num_rows == 80
    assert store.verify() == []
    assert len(set(store.read("jobs", ["run_id"])["run_id"].to_pylist())) == 2
