"""The local engine: queue, shutdown, replacement of supervisors, other ways to start a child."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from bench.engine import EngineError, LocalEngine, local
from bench.engine.local import make_line
from bench.engine.processes import marked_with
from bench.engine.waiting import Ticket
from bench.spec import Resources
from bench.testing import build_order
from bench.work import Outcome, Source
from tests.engine.conftest import MakeOrder

WAIT_S = 120
BEHAVIOUR = """
from pathlib import Path
import helper_of_this_submission
from bench.selftest import Uniform

class Mine(Uniform):
    def produce(self, n, reference, *, seed):
        return super().produce(n, reference, seed=seed) * helper_of_this_submission.FACTOR
"""
THIRD_PARTY = """
import dataclasses
import numpy as np
from bench.catalog import selftest
from bench.selftest import EchoTask

def data():
    return np.zeros(3)

class Task(EchoTask):
    pass

DATASETS = [dataclasses.replace(selftest.DATASETS[0], name="far-away", entry="far_away:data")]
TASKS = [dataclasses.replace(selftest.TASKS[0], name="far.away", entry="far_away:Task")]
"""


def run(engine: LocalEngine, order: Any) -> Outcome:
    return engine.submit(order).result(timeout=WAIT_S)


def test_progress_names_job_and_stage(make_order: MakeOrder, engine: LocalEngine) -> None:
    seen: list[tuple[str, str, int, int]] = []
    order = make_order("uniform")
    engine._on_progress = lambda *what: seen.append(what)
    try:
        run(engine, order)
    finally:
        engine._on_progress = None
    key = order.job.key
    assert seen == [(key, "collect", 0, 0), (key, "collect", 1, 1), (key, "score", 0, 0)]


def test_score_again_from_an_artifact(make_order: MakeOrder, engine: LocalEngine) -> None:
    first_order = make_order("uniform")
    first = run(engine, first_order)
    again = make_order(
        "uniform",
        stages=("score",),
        artifact_dir=str(Path(first_order.work_dir, "artifact")),
        artifact_sha256=first.artifact_sha256,
        model=Source(entry="bench.no_such_module:Model"),  # scoring never touches the model
    )
    second = run(engine, again)
    assert second.status == "ok"
    assert second.rows == first.rows
    assert second.notes == first.notes
    assert second.collect_s is None
    Path(again.artifact_dir, "values.npz").write_bytes(b"changed")
    third = run(engine, dataclasses.replace(again, work_dir=make_order("uniform").work_dir))
    assert (third.status, third.stage) == ("invalid_output", "score")
    assert "was changed after it was made" in third.error_message


def test_submitted_file_with_a_helper_beside_it(
    make_order: MakeOrder, engine: LocalEngine, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(BEHAVIOUR)
    (tmp_path / "helper_of_this_submission.py").write_text("FACTOR = 0.5\n")
    source = Source(entry="Mine", file=str(tmp_path / "mine.py"))
    outcome = run(engine, make_order("uniform", model=source, search_path=(str(tmp_path),)))
    plain = run(engine, make_order("uniform"))
    assert outcome.status == "ok", outcome
    assert outcome.rows[0].measure.value == pytest.approx(plain.rows[0].measure.value / 2)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("x = (", "error", "never closed"),
        ("class Other: pass", "error", "defines no 'Mine'"),
        ("class Mine: pass", "invalid_output", "not a class derived from bench.Adapter"),
        ("import module_that_does_not_exist", "skipped", "pip install module_that_does_not_exist"),
        ("import sys; sys.exit(3)", "error", "3"),
        ("import bench.selftest as s\nclass Mine(s.Uniform):\n  def __init__(self): 1/0", "error", "zero"),
    ],
)
def test_broken_submissions(
    make_order: MakeOrder, engine: LocalEngine, tmp_path: Path, text: str, status: str, message: str
) -> None:
    (tmp_path / "mine.py").write_text(text)
    source = Source(entry="Mine", file=str(tmp_path / "mine.py"))
    outcome = run(engine, make_order("uniform", model=source))
    assert (outcome.status, outcome.stage) == (status, "collect")
    assert message in outcome.error_message


def test_task_and_dataset_of_a_third_party(
    make_order: MakeOrder, engine: LocalEngine, tmp_path: Path
) -> None:
    package = tmp_path / "far_away-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: far-away\nVersion: 1\n")
    (package / "entry_points.txt").write_text(
        "[bench.datasets]\nfar = far_away:DATASETS\n[bench.tasks]\nfar = far_away:TASKS\n"
    )
    (tmp_path / "far_away.py").write_text(THIRD_PARTY)
    order = make_order("uniform", task_entry="far_away:Task", search_path=(str(tmp_path),))
    order = dataclasses.replace(
        order,
        job=dataclasses.replace(order.job, task="far.away", dataset="far-away"),
        unit=dataclasses.replace(order.unit, task="far.away", dataset="far-away"),
    )
    outcome = run(engine, order)
    assert outcome.status == "ok", outcome
    assert outcome.notes["reference"] == "far-away"


def test_threads_are_what_the_job_declares(
    make_order: MakeOrder, engine: LocalEngine, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, torch, threadpoolctl\nfrom bench.selftest import Uniform\n"
        "class Mine(Uniform):\n"
        "  def produce(self, n, reference, *, seed):\n"
        "    pools = {p['num_threads'] for p in threadpoolctl.threadpool_info()}\n"
        "    assert pools == {3} and torch.get_num_threads() == 3, (pools, torch.get_num_threads())\n"
        "    assert os.environ['OMP_NUM_THREADS'] == '3' and os.environ['CUDA_VISIBLE_DEVICES'] == ''\n"
        "    (torch.ones(500, 500) @ torch.ones(500, 500)).sum()\n"
        "    return super().produce(n, reference, seed=seed)\n"
    )
    source = Source(entry="Mine", file=str(tmp_path / "mine.py"))
    outcome = run(engine, make_order("uniform", model=source, limits=Resources(cpus=3, timeout_s=60)))
    assert outcome.status == "ok", outcome


def test_grandchildren_are_gone_when_the_outcome_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_TEST_MARK", tmp_path.name)
    engine = LocalEngine(1)
    try:
        assert run(engine, build_order("grandchildren", tmp_path)).status == "ok"
        assert marked_with(f"BENCH_TEST_MARK={tmp_path.name}") == [engine._drivers[0].pid]
    finally:
        engine.shutdown(kill=True)


@pytest.mark.slow
def test_killed_supervisor_takes_nothing_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "RESUBMISSIONS", 1)
    started: list[str] = []
    engine = LocalEngine(1, on_progress=lambda key, *_: started.append(key))
    try:
        future = engine.submit(build_order("slow", tmp_path))
        _until(lambda: started and _children(engine))
        os.kill(engine._drivers[0].pid or 0, signal.SIGKILL)
        hostile = engine.submit(build_order("kill-supervisor", tmp_path))
        after = engine.submit(build_order("uniform", tmp_path))
        outcome = future.result(timeout=WAIT_S)
        assert (outcome.status, outcome.attempt) == ("ok", 2)
        lost = hostile.result(timeout=WAIT_S)
        assert (lost.status, lost.attempt) == ("lost", 2)
        assert after.result(timeout=WAIT_S).status == "ok"
    finally:
        engine.shutdown(kill=True)


def test_supervisor_is_replaced_when_it_grew(tmp_path: Path) -> None:
    engine = LocalEngine(1, growth_mb=-1.0)  # any size is too large
    try:
        assert run(engine, build_order("uniform", tmp_path)).status == "ok"
        assert engine._drivers[0].pid is None
        assert run(engine, build_order("uniform", tmp_path)).status == "ok"
    finally:
        engine.shutdown()


def test_shutdown_with_kill_cancels_what_runs_and_what_waits(tmp_path: Path) -> None:
    started: list[str] = []
    engine = LocalEngine(1, on_progress=lambda key, *_: started.append(key))
    running = engine.submit(build_order("slow", tmp_path))
    waiting = engine.submit(build_order("uniform", tmp_path))
    taken_back = engine.submit(build_order("uniform", tmp_path))
    _until(lambda: started and _children(engine))
    supervisor, children = engine._drivers[0].pid, _children(engine)
    assert taken_back.cancel()
    engine.shutdown(kill=True)
    assert running.result(timeout=1).status == "cancelled"
    assert waiting.result(timeout=1).status == "cancelled"
    with pytest.raises(CancelledError):
        taken_back.result(timeout=1)
    assert not any(_alive(pid) for pid in (supervisor, *children))
    with pytest.raises(EngineError, match="shut down"):
        engine.submit(build_order("uniform", tmp_path))
    engine.shutdown(kill=True)


def test_shutdown_without_kill_finishes_first(tmp_path: Path) -> None:
    engine = LocalEngine(2)
    futures = [engine.submit(build_order("uniform", tmp_path, repeat=i)) for i in range(4)]
    engine.shutdown()
    assert [future.result(timeout=0).status for future in futures] == ["ok"] * 4


def test_shutdown_from_a_signal_handler(tmp_path: Path) -> None:
    engine = LocalEngine(1)
    old = signal.signal(signal.SIGUSR1, lambda *_: engine.shutdown(kill=True))
    try:
        future = engine.submit(build_order("slow", tmp_path))
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        assert future.result(timeout=WAIT_S).status == "cancelled"
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, old)
        engine.shutdown(kill=True)


def test_supervisor_that_cannot_start_is_an_engine_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    engine = LocalEngine(1)
    try:
        with pytest.raises(EngineError, match=r"(?s)did not start.*no torch here"):
            run(engine, build_order("uniform", tmp_path))
    finally:
        engine.shutdown(kill=True)


@pytest.mark.slow
def test_children_that_are_started_instead_of_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_NO_FORK", "1")
    engine = LocalEngine(2)
    names = ("uniform", "exit-3", "segfault", "fill-memory")
    try:
        futures = {name: engine.submit(build_order(name, tmp_path)) for name in names}
        found = {name: future.result(timeout=WAIT_S) for name, future in futures.items()}
    finally:
        engine.shutdown(kill=True)
    statuses = {name: outcome.status for name, outcome in found.items()}
    assert statuses == {
        "uniform": "ok",
        "exit-3": "crash",
        "segfault": "crash",
        "fill-memory": "oom",
    }
    assert (found["exit-3"].exit_code, found["segfault"].signal) == (3, "SIGSEGV")


def _ticket(make_order: MakeOrder, model: str, gpus: float = 0.0) -> Ticket:
    return Ticket(order=make_order(model), gpus_wanted=gpus)


def test_a_slot_stays_with_its_model(make_order: MakeOrder) -> None:
    queue = make_line(())
    models = ("uniform", "uniform", "raise", "raise", "abort")
    for model in models:
        queue.put(_ticket(make_order, model))
    taken = [queue.take(slot) for slot in (0, 1, 1, 0, 1)]
    names = [ticket.order.job.model.removeprefix("selftest-") for ticket in taken if ticket]
    assert names == ["uniform", "raise", "raise", "uniform", "abort"]


def test_gpu_jobs_wait_for_their_share_and_others_pass(make_order: MakeOrder) -> None:
    queue = make_line(("0", "1"))
    whole, halves, cpu = (
        _ticket(make_order, "uniform", 2.0),
        [_ticket(make_order, "raise", 0.5) for _ in range(2)],
        _ticket(make_order, "abort"),
    )
    for ticket in (halves[0], whole, halves[1], cpu):
        queue.put(ticket)
    assert queue.take(0) is halves[0]
    assert queue.take(0) is halves[1]
    assert halves[0].gpus == halves[1].gpus  # they share one device
    assert queue.take(1) is cpu
    assert cpu.gpus == ()
    queue.done(halves[0])
    queue.done(halves[1])
    assert queue.take(1) is whole
    assert whole.gpus == ("0", "1")


def test_overtaking_nothing_in_submission_order(make_order: MakeOrder) -> None:
    queue = make_line(())
    tickets = [_ticket(make_order, "uniform") for _ in range(5)]
    for ticket in tickets:
        queue.put(ticket)
    assert [queue.take(0) for _ in range(5)] == tickets


def _children(engine: LocalEngine) -> list[int]:
    pid = engine._drivers[0].pid
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if pid and path.exists() else []


def _alive(pid: int | None) -> bool:
    try:
        return pid is not None and Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _until(condition: Any) -> None:
    give_up = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.02)
