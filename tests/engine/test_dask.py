"""The cluster engine: who dies when, what travels, and what is said about it. Worker processes are real."""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from bench.artifacts import artifact_digest
from bench.engine import DaskEngine, EngineError
from bench.engine import dask as dask_engine
from bench.engine.processes import descendants
from bench.errors import UsageError
from bench.spec import Resources
from bench.testing import build_order
from bench.work import Outcome, Source, WorkOrder
from tests.cluster import Cluster, until
from tests.engine.conftest import MakeOrder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
WAIT_S = 120
BEHAVIOUR = """
from pathlib import Path
import helper_of_this_submission
from bench.selftest import Uniform

class Mine(Uniform):
    def produce(self, n, reference, *, seed):
        here = Path(__file__).resolve()
        assert not here.is_relative_to({root!r}), "the files of the coordinator were read"
        factor = float((here.parent / "weights" / "factor.txt").read_text())
        return super().produce(n, reference, seed=seed) * factor * helper_of_this_submission.FACTOR
"""

COMMAND_TASK = """
from bench.selftest import EchoTask

class Task(EchoTask):
    def export_inputs(self, unit, ctx, folder):
        return {"n": 3}
"""


@pytest.fixture(scope="module")
def notes() -> list[str]:
    return []


@pytest.fixture(scope="module")
def on_cluster(cluster: Cluster, notes: list[str]) -> Iterator[DaskEngine]:
    engine = DaskEngine(scheduler=cluster.address, on_note=notes.append)
    yield engine
    engine.shutdown(kill=True)


def run(engine: DaskEngine, order: WorkOrder) -> Outcome:
    return engine.submit(order).result(timeout=WAIT_S)


def lasting(root: Path, seconds: float, repeat: int = 0) -> WorkOrder:
    """An order for a job that takes `seconds`."""
    order = build_order("uniform", root, repeat=repeat)
    return dataclasses.replace(order, job=dataclasses.replace(order.job, model_params={"seconds": seconds}))


def test_files_of_a_submission_travel(on_cluster: DaskEngine, make_order: MakeOrder, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "weights").mkdir(parents=True)
    (folder / "weights" / "factor.txt").write_text("0.5")
    (folder / "mine.py").write_text(BEHAVIOUR.format(root=str(folder)))
    (folder / "helper_of_this_submission.py").write_text("FACTOR = 0.5\n")
    (folder / "unrelated.bin").write_text("stays at home")
    files = tuple(str(folder / n) for n in ("mine.py", "helper_of_this_submission.py", "weights/factor.txt"))
    order = make_order(
        "uniform",
        model=Source(entry="Mine", file=str(folder / "mine.py")),
        search_path=(str(folder),),
        files=files,
    )
    outcome, plain = run(on_cluster, order), run(on_cluster, make_order("uniform"))
    assert outcome.status == "ok", outcome
    assert outcome.rows[0].measure.value == pytest.approx(plain.rows[0].measure.value / 4)  # type: ignore[operator]


def test_a_command_travels_with_its_folder(
    on_cluster: DaskEngine, make_order: MakeOrder, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    script = folder / "generate.sh"
    script.write_text("#!/bin/sh\npwd\necho nothing came of it >&2\nexit 7\n")
    script.chmod(0o755)
    task = folder / "task_that_takes_commands.py"
    task.write_text(COMMAND_TASK)
    model = Source(entry="./generate.sh", file=str(folder), kind="command", command=("./generate.sh",))
    order = make_order(
        "uniform",
        model=model,
        task_entry="task_that_takes_commands:Task",
        search_path=(str(folder),),
        files=(str(script), str(task)),
    )
    outcome = run(on_cluster, order)
    assert outcome.status == "error", outcome
    assert "exit code 7; it wrote last:\nnothing came of it" in outcome.error_message
    assert str(folder) not in Path(order.log_path).read_text()


def test_an_artifact_travels_to_be_scored(on_cluster: DaskEngine, make_order: MakeOrder) -> None:
    first_order = make_order("uniform")
    first = run(on_cluster, first_order)
    folder = Path(first_order.work_dir, "artifact")
    assert (first.artifact_sha256, first.artifact_bytes) == artifact_digest(folder)
    again = make_order(
        "uniform", stages=("score",), artifact_dir=str(folder), artifact_sha256=first.artifact_sha256
    )
    second = run(on_cluster, again)
    assert (second.status, second.rows, second.notes) == ("ok", first.rows, first.notes)
    assert Path(again.work_dir, "exhibits", "values.json").is_file()
    assert not Path(again.work_dir, "artifact").exists()
    (folder / "values.npz").write_bytes(b"changed")
    third = run(on_cluster, dataclasses.replace(again, work_dir=make_order("uniform").work_dir))
    assert (third.status, third.stage) == ("invalid_output", "score")
    assert "was changed after it was made" in third.error_message


def test_files_that_cannot_be_read_end_their_job_only(
    on_cluster: DaskEngine, make_order: MakeOrder, tmp_path: Path
) -> None:
    absent = Source(entry="Mine", file=str(tmp_path / "absent.py"))
    outcome = run(on_cluster, make_order("uniform", model=absent, files=(absent.file,)))
    assert outcome.status == "error", outcome
    assert "absent.py" in outcome.error_message
    (tmp_path / "artifact").mkdir()
    (tmp_path / "artifact" / "link").symlink_to("/etc/hostname")
    linked = make_order("uniform", stages=("score",), artifact_dir=str(tmp_path / "artifact"))
    assert run(on_cluster, linked).status == "invalid_output"


def test_progress_comes_home(cluster: Cluster, tmp_path: Path) -> None:
    seen: list[tuple[str, str, int, int]] = []
    engine = DaskEngine(scheduler=cluster.address, workers=1, on_progress=lambda *what: seen.append(what))
    try:
        order = build_order("uniform", tmp_path)
        assert run(engine, order).status == "ok"
        assert engine.slots == 1
        key = order.job.key
        until(lambda: len(seen) == 3)
        assert seen == [(key, "collect", 0, 0), (key, "collect", 1, 1), (key, "score", 0, 0)]
    finally:
        engine.shutdown()


def test_shutdown_with_kill_cancels_what_runs_and_what_waits(cluster: Cluster, tmp_path: Path) -> None:
    engine = DaskEngine(scheduler=cluster.address, workers=1)
    running, waiting = (engine.submit(lasting(tmp_path, 60, repeat)) for repeat in range(2))
    taken_back = engine.submit(lasting(tmp_path, 60))
    until(cluster.strays)
    assert taken_back.cancel()
    engine.shutdown(kill=True)
    assert [f.result(timeout=1).status for f in (running, waiting)] == ["cancelled", "cancelled"]
    until(lambda: cluster.strays() == [])
    with pytest.raises(EngineError, match="shut down"):
        engine.submit(build_order("uniform", tmp_path))
    engine.shutdown(kill=True)


def test_shutdown_without_kill_finishes_first(cluster: Cluster, tmp_path: Path) -> None:
    engine = DaskEngine(scheduler=cluster.address)
    futures = [engine.submit(build_order("uniform", tmp_path, repeat=i)) for i in range(4)]
    engine.shutdown()
    assert [future.result(timeout=0).status for future in futures] == ["ok"] * 4


def test_a_killed_worker_takes_its_child_with_it_and_its_job_runs_elsewhere(
    cluster: Cluster, on_cluster: DaskEngine, notes: list[str], tmp_path: Path
) -> None:
    until(lambda: on_cluster.slots == 4)
    doomed = cluster.start_worker("", "--workers", "1")
    try:
        until(lambda: on_cluster.slots == 5)
        futures: list[Future[Outcome]] = [on_cluster.submit(lasting(tmp_path, 2.0, i)) for i in range(5)]
        until(lambda: len(descendants(doomed.pid)) == 2)  # its supervisor, and the job
        below = set(descendants(doomed.pid))
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
        until(lambda: not below & set(cluster.everyone()), 10)
        outcomes = [future.result(timeout=WAIT_S) for future in futures]
    finally:
        doomed.kill()
        cluster.workers.remove(doomed)
    assert [o.status for o in outcomes] == ["ok"] * 5
    assert sorted(o.attempt for o in outcomes) == [1, 1, 1, 1, 2]
    assert "workers: 1 left; 4 slots now" in notes


@pytest.mark.slow
def test_a_job_that_kills_its_supervisor_is_given_up(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "RESUBMISSIONS", 1)
    engine = DaskEngine(scheduler=cluster.address, workers=1)
    try:
        hostile = engine.submit(build_order("kill-supervisor", tmp_path))
        after = engine.submit(build_order("uniform", tmp_path))
        lost = hostile.result(timeout=WAIT_S)
        assert (lost.status, lost.attempt) == ("lost", 2)
        assert "the supervisor of the job died" in lost.error_message
        assert after.result(timeout=WAIT_S).status == "ok"
    finally:
        engine.shutdown(kill=True)


def test_a_worker_with_other_versions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from bench.engine import versions\n"
        "real = versions.facts\n"
        "versions.facts = lambda: {**real(), 'torch': '1.0', 'code': 'another'}\n"
    )
    notes: list[str] = []
    own = Cluster(tmp_path / "own")
    engine = DaskEngine(on_note=notes.append)
    try:
        process = own.start_worker(engine.address, PYTHONPATH=str(tmp_path))
        assert process.wait(WAIT_S) == 2
        reason = "it has torch 1.0 instead of"
        assert f"refused by the coordinator: {reason}" in own.output("worker-0")
        assert any(note.startswith("worker dask-") and reason in note for note in notes)
        assert any("the code of the bench another instead of" in note for note in notes)
        assert engine.slots == 1
        assert not any("joined" in note for note in notes)
    finally:
        engine.shutdown(kill=True)
        own.stop()


def test_without_any_worker_the_engine_gives_up(tmp_path: Path) -> None:
    notes: list[str] = []
    engine = DaskEngine(on_note=notes.append, patience_s=2.0)
    try:
        outcome = run(engine, build_order("uniform", tmp_path))
        assert outcome.status == "cancelled"
        assert "no worker came for 2 s" in outcome.error_message
        assert notes[0] == f"waiting for workers: bench worker --scheduler {engine.address}"
        with pytest.raises(EngineError, match="no worker came"):
            engine.submit(build_order("uniform", tmp_path))
    finally:
        engine.shutdown()


def test_an_address_without_a_scheduler_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.engine import link

    monkeypatch.setattr(link, "_CONNECT_S", 0.5)
    with pytest.raises(UsageError, match=r"no scheduler answered at tcp://127\.0\.0\.1:9"):
        DaskEngine(scheduler="tcp://127.0.0.1:9")
    with pytest.raises(UsageError, match=r"cannot start a scheduler on 203\.0\.113\.1:0"):
        DaskEngine(listen="203.0.113.1:0")


def test_a_job_that_needs_more_gpu_than_there_is_says_so(on_cluster: DaskEngine, tmp_path: Path) -> None:
    order = build_order("needs-gpu", tmp_path, device="auto", limits=Resources(gpus=0.5))
    outcome = run(on_cluster, order)
    assert (outcome.status, outcome.device) == ("skipped", "cpu")
    assert "needs 0.5 GPU" in outcome.error_message
    wanted = run(on_cluster, build_order("uniform", tmp_path, device="cuda"))
    assert wanted.status == "skipped"
    assert "needs 1 GPU; this machine offers 0" in wanted.error_message


def test_who_dies_with_the_scheduler(tmp_path: Path) -> None:
    own = Cluster(tmp_path / "own")
    notes: list[str] = []
    try:
        engine = DaskEngine(scheduler=own.start_scheduler(), on_note=notes.append)
        worker = own.start_worker("", "--workers", "1", "--work", tmp_path / "private")
        running = engine.submit(lasting(tmp_path, 60))
        waiting = engine.submit(lasting(tmp_path, 60, repeat=1))
        until(own.strays)
        assert own.scheduler is not None
        own.scheduler.send_signal(signal.SIGKILL)
        outcome = running.result(timeout=WAIT_S)
        assert outcome.status == "lost"
        assert f"the scheduler at {own.address} is gone" in outcome.error_message
        assert waiting.result(timeout=WAIT_S).status == "cancelled"
        assert any("is gone" in note for note in notes)
        with pytest.raises(EngineError, match="is gone"):
            engine.submit(build_order("uniform", tmp_path))
        worker.wait(WAIT_S)
        until(lambda: own.everyone() == [], 10)
        assert "is gone; so is this worker" in own.output("worker-0")
        assert list((tmp_path / "private").iterdir()) == []
    finally:
        engine.shutdown(kill=True)
        own.stop()


def test_shares_of_gpus_are_dealt_to_slots() -> None:
    from bench.cli.cluster import _gpus, _slots

    assert [(s.gpu, s.share) for s in _slots(("7", "9"), 2)] == [("7", 1.0), ("9", 1.0)]
    assert [(s.gpu, s.share) for s in _slots(("7", "9"), 3)] == [("7", 0.5), ("9", 1.0), ("7", 0.5)]
    assert [(s.gpu, s.share) for s in _slots((), 2)] == [("", 0.0)] * 2
    assert len({s.name for s in (*_slots((), 3), *_slots((), 3))}) == 6
    assert _gpus("1,0", ("7", "9")) == ("9", "7")
    assert _gpus(None, ("7",)) == ("7",)
    assert _gpus("none", ("7",)) == ()
    for bad in ("2", "x", "-1", "0,0"):
        with pytest.raises(UsageError, match="--gpus"):
            _gpus(bad, ("7", "9"))
    with pytest.raises(UsageError, match="idle"):
        _slots(("7", "9"), 1)


@pytest.mark.parametrize(
    ("device", "gpus", "share", "found"),
    [
        ("cpu", 0.0, 1.0, "cpu"),
        ("auto", 0.0, 0.0, "cpu"),
        ("auto", 0.0, 1.0, "cuda"),
        ("auto", 0.5, 0.5, "cuda"),
        ("auto", 1.0, 0.5, "cpu"),
        ("cuda", 0.0, 0.0, "cuda"),  # to be told that there is none
        ("cuda", 1.0, 1.0, "cuda"),
    ],
)
def test_the_device_of_a_job_is_that_of_its_slot(
    make_order: MakeOrder, device: str, gpus: float, share: float, found: str
) -> None:
    from bench.engine.worker import device_for

    order = make_order("uniform", device=device, limits=Resources(gpus=gpus))
    assert device_for(order, share) == found


def test_jobs_go_where_their_share_of_a_gpu_is(make_order: MakeOrder) -> None:
    from bench.engine.dask import DaskEngine as Engine
    from bench.engine.dask import _gpus_wanted, _Slot
    from bench.engine.link import Member
    from bench.engine.waiting import Ticket

    engine: Any = object.__new__(Engine)
    shares = {"cpu": 0.0, "half": 0.5, "whole": 1.0}
    engine._slots = {a: _Slot(a, Member(a, share, {})) for a, share in shares.items()}

    def places(device: str, gpus: float) -> list[str]:
        order = make_order("uniform", device=device, limits=Resources(gpus=gpus))
        ticket = Ticket(order=order, gpus_wanted=_gpus_wanted(order))
        return [a for a in shares if engine._grant(a, ticket) is not None]

    assert places("cpu", 1.0) == ["cpu", "half", "whole"]
    assert places("auto", 0.0) == ["cpu", "half", "whole"]
    assert places("auto", 0.5) == ["half", "whole"]
    assert places("auto", 1.0) == ["whole"]
    assert places("auto", 2.0) == ["cpu", "half", "whole"]  # nobody has so much: the job will say so
    assert places("cuda", 0.0) == ["half", "whole"]
