"""The small parts of the engine: frames, logs, GPU shares, reports, memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.engine import devices, make_engine
from bench.engine.audit import WriteAudit
from bench.engine.devices import GpuPool, visible_gpus
from bench.engine.frames import MAX_FRAME, FrameError, FrameReader, write_frame
from bench.engine.joblog import CappedLog
from bench.engine.memory import MemoryMeter
from bench.engine.report import StageReport, check_notes, clean_text, make_outcome, report_from_json
from bench.errors import InvalidOutput, MissingRequirement, UsageError
from bench.work import outcome_from_json, to_json
from tests.engine.conftest import MakeOrder

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=5), st.integers(1, 7))
@settings(deadline=None, max_examples=50)
def test_frames_survive_any_cutting(values: list[Any], chunk: int) -> None:
    read_end, write_end = os.pipe()
    out_read, out_write = os.pipe()
    try:
        for value in values:
            write_frame(write_end, value)
        os.close(write_end)
        reader, received = FrameReader(out_read), []
        while data := os.read(read_end, chunk):
            os.write(out_write, data)
            received += reader.read()
        assert received == values
    finally:
        for fd in (read_end, out_read, out_write):
            os.close(fd)


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x02{{", b"\x00\x00\x00\x01\xff"])
def test_garbage_is_no_frame(data: bytes) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    with pytest.raises(FrameError):
        FrameReader(read_end).read()
    os.close(read_end)
    os.close(write_end)


def test_too_large_a_frame_is_refused() -> None:
    with pytest.raises(FrameError, match="over the limit"):
        write_frame(-1, "x" * (MAX_FRAME + 1))


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(400, 1000))
@settings(deadline=None, max_examples=100)
def test_log_keeps_both_ends_within_the_limit(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], limit: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "deep" / "job.log"
    with CappedLog(path, limit) as log:
        for chunk in chunks:
            log.write(chunk)
    written, everything = path.read_bytes(), b"".join(chunks)
    assert len(written) <= limit
    if b"bytes left out" in written:
        head, _, rest = written.partition(b"\n[... ")
        count, _, tail = rest.partition(b" bytes left out ...]\n")
        assert everything.startswith(head)
        assert everything.endswith(tail)
        assert len(head) + len(tail) + int(count) == len(everything)
    else:
        assert written == everything


def test_gpu_shares() -> None:
    pool = GpuPool(("0", "1"))
    first, second = pool.take(0.5), pool.take(0.5)
    assert first == second != ()
    assert pool.take(2) is None
    other = pool.take(1)
    assert other is not None
    assert set(other) | set(first or ()) == {"0", "1"}
    assert pool.take(0.25) is None
    pool.give_back(0.5, first or ())
    assert pool.take(0.25) == first
    assert pool.take(0.0) == ()
    assert pool.take(3) == ()  # never to be had: the job itself will say so


@given(st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), max_size=20))
def test_gpus_are_never_granted_twice(wanted: list[float]) -> None:
    pool, held = GpuPool(("a", "b", "c")), []
    for amount in wanted:
        taken = pool.take(amount)
        if taken is None:
            amount_back, taken_back = held.pop(0)
            pool.give_back(amount_back, taken_back)
        else:
            held.append((amount, taken))
        use = dict.fromkeys("abc", 0.0)
        for amount_held, names in held:
            for name in names:
                use[name] += amount_held if len(names) == 1 else 1.0
        assert max(use.values()) <= 1.0 + 1e-6


@pytest.mark.parametrize(
    ("value", "found"), [("", ()), ("-1", ()), ("0", ("0",)), ("2, 0", ("2", "0")), ("1,-1,2", ("1",))]
)
def test_visible_gpus_follow_the_variable(
    monkeypatch: pytest.MonkeyPatch, value: str, found: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert visible_gpus() == found


def test_no_gpu_tool_means_no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert visible_gpus() == ()
    assert devices.cpu_name()
    assert devices.usable_cores() >= 1


def test_engine_names() -> None:
    with pytest.raises(UsageError, match="one job at a time"):
        make_engine("inline", workers=2)
    with pytest.raises(UsageError, match="at least 1"):
        make_engine("local", workers=0)
    with pytest.raises(UsageError, match="unknown"):
        make_engine("nosuch")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("x"), "error"),
        (SystemExit(0), "error"),
        (KeyboardInterrupt(), "error"),
        (InvalidOutput("x"), "invalid_output"),
        (MissingRequirement("x"), "skipped"),
        (MemoryError(), "oom"),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory"), "oom"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 1 bytes"), "oom"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), "oom"),
        (RuntimeError("out of patience"), "error"),
    ],
)
def test_status_of_an_exception(error: BaseException, status: str) -> None:
    report = StageReport(stage="collect")
    report.fail(error)
    assert report.status == status
    assert report.error_type == type(error).__name__


def test_a_forged_report_is_refused() -> None:
    good = StageReport(stage="collect", notes={"n": 1}).to_json()
    assert report_from_json(json.loads(json.dumps(good)), "collect").notes == {"n": 1}
    forgeries: list[dict[str, Any]] = [
        {"status": "timeout"},
        {"status": ["ok"]},
        {"error_message": 7},
        {"notes": {"x": [1]}},
        {"notes": {"x": float("nan")}},
        {"notes": 5},
        {"setup_s": "fast"},
        {"collect_s": float("inf")},
        {"peak_gpu_mb": True},
    ]
    for forgery in forgeries:
        with pytest.raises((ValueError, TypeError, InvalidOutput)):
            report_from_json({**good, **forgery}, "collect")
    with pytest.raises(KeyError):
        report_from_json({}, "collect")


def test_collect_cannot_report_what_only_scoring_knows() -> None:
    forged = {**StageReport(stage="collect").to_json(), "artifact_sha256": "f" * 64, "flags": ["best"]}
    report = report_from_json(forged, "collect")
    assert report.artifact_sha256 == ""
    assert report.flags == ()


def test_notes_are_finite_scalars() -> None:
    import numpy as np

    notes = check_notes({"a": np.float32(0.5), "b": np.int64(3), "c": None, "d": True, "e": "\ud800"})
    assert notes == {"a": 0.5, "b": 3, "c": None, "d": True, "e": "?"}
    assert all(type(value) in (float, int, bool, str, type(None)) for value in notes.values())
    for bad in ({1: 2}, {"": 1}, {"x": float("inf")}, {"x": {}}, [], {f"k{i}": i for i in range(1001)}):
        with pytest.raises(InvalidOutput):
            check_notes(bad)


@given(st.text(st.characters(), max_size=50), st.integers(1, 60))
def test_clean_text_can_be_stored(text: str, limit: int) -> None:
    for keep in ("start", "end"):
        cleaned = clean_text(text, limit, keep=keep)
        cleaned.encode("utf-8")
        assert len(cleaned) <= limit


def test_outcome_survives_json(make_order: MakeOrder) -> None:
    order = make_order("uniform")
    reports = [
        StageReport(stage="collect", setup_s=0.1, collect_s=0.2, notes={"a": 1, "b": 1}, peak_gpu_mb=5.0),
        StageReport(stage="score", score_s=0.3, notes={"b": 2}, flags=("odd",), peak_gpu_mb=2.0),
    ]
    outcome = make_outcome(order, reports, duration_s=1.0)
    assert outcome_from_json(json.loads(json.dumps(to_json(outcome)))) == outcome
    assert (outcome.setup_s, outcome.collect_s, outcome.score_s) == (0.1, 0.2, 0.3)
    assert outcome.notes == {"a": 1, "b": 2}
    assert outcome.peak_gpu_mb == 5.0


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs /proc/<pid>/smaps_rollup")
def test_shared_pages_are_not_charged_to_a_fork() -> None:
    ballast = bytearray(b"x") * (100 * 2**20)
    meter = MemoryMeter(50 * 2**20)
    go_read, go_write = os.pipe()
    done_read, done_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.read(go_read, 1)
            for i in range(0, len(ballast), 4096):  # each write copies a page
                ballast[i] = 1
            os.write(done_write, b"x")
            os.read(go_read, 1)
        finally:
            os._exit(0)
    try:
        assert not meter.over([pid])
        assert meter.used_mb < 20
        os.write(go_write, b"x")
        os.read(done_read, 1)
        meter._next_check = 0.0
        assert meter.over([pid])
        assert 90 < meter.used_mb < 130
    finally:
        os.write(go_write, b"x")
        os.waitpid(pid, 0)
        for fd in (go_read, go_write, done_read, done_write):
            os.close(fd)


def test_audit_in_a_process_of_its_own(tmp_path: Path) -> None:
    """A hook can't be taken out again, so it is installed in a fork."""
    allowed, answer = tmp_path / "mine", tmp_path / "answer.json"
    allowed.mkdir()
    (tmp_path / "there.txt").write_text("there")
    pid = os.fork()
    if pid == 0:
        try:
            audit = WriteAudit([allowed], forbidden=[allowed / "score"])
            (allowed / "a.txt").write_text("a")
            (allowed / "score").mkdir()
            (tmp_path / "there.txt").read_text()
            (tmp_path / "b.txt").write_text("b")
            (tmp_path / "folder").mkdir()
            (allowed / "a.txt").rename(tmp_path / "moved.txt")
            os.close(os.open(bytes(tmp_path / "c.txt"), os.O_WRONLY | os.O_CREAT))
            found = audit.outside()
            answer.write_text(json.dumps(found))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert [Path(path).name for path in json.loads(answer.read_text())] == [
        "score",
        "b.txt",
        "folder",
        "moved.txt",
        "c.txt",
    ]
