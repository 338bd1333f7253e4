"""Whatever a model does is an ordinary outcome, and its neighbours never notice."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from bench.artifacts import artifact_digest
from bench.catalog.selftest import MODELS
from bench.engine import DaskEngine, Engine, LocalEngine
from bench.engine.processes import marked_with
from bench.testing import build_order
from bench.work import LOG_LIMIT, Outcome, WorkOrder
from tests.cluster import Cluster

pytestmark = pytest.mark.skipif(os.name != "posix", reason="jobs are POSIX process groups")

# model -> (status, stage, error type, what the message must contain, exit code, signal)
EXPECTED = {
    "uniform": ("ok", "score", "", "", None, ""),
    "many-samples": ("ok", "score", "", "", None, ""),
    "raise": ("error", "collect", "ValueError", "bad", None, ""),
    "raise-unprintable": ("error", "collect", "_Unprintable", "<unprintable>", None, ""),
    "raise-forged": ("error", "collect", "_Forged", "</script>", None, ""),
    "raise-memory-error": ("oom", "collect", "MemoryError", "", None, ""),
    "sys-exit": ("error", "collect", "SystemExit", "0", None, ""),
    "exit-0": ("crash", "collect", "Crash", "exit code 0 without a result", 0, ""),
    "exit-3": ("crash", "collect", "Crash", "exit code 3 without a result", 3, ""),
    "segfault": ("crash", "collect", "Crash", "SIGSEGV", None, "SIGSEGV"),
    "abort": ("crash", "collect", "Crash", "SIGABRT", None, "SIGABRT"),
    "sleep": ("timeout", "collect", "Timeout", "not done after 1.5 s", None, "SIGTERM"),
    "loop": ("timeout", "collect", "Timeout", "not done after 1.5 s", None, "SIGTERM"),
    "ignore-sigterm": ("timeout", "collect", "Timeout", "not done after 1.5 s", None, "SIGKILL"),
    "fill-memory": ("oom", "collect", "MemoryLimit", "the limit is 600 MB", None, "SIGTERM"),
    "fill-memory-below": ("oom", "collect", "MemoryLimit", "the limit is 600 MB", None, "SIGTERM"),
    "print-much": ("ok", "score", "", "", None, ""),
    "print-garbage": ("ok", "score", "", "", None, ""),
    "grandchildren": ("ok", "score", "", "", None, ""),
    "return-twice": ("ok", "score", "", "", None, ""),
    "garble-channel": ("crash", "collect", "Crash", "no result", 0, ""),
    "threads": ("ok", "score", "", "", None, ""),
    "polluter": ("ok", "score", "", "", None, ""),
    "writer": ("ok", "score", "", "", None, ""),
    "nan": ("invalid_output", "score", "InvalidOutput", "spread is nan", None, ""),
    "missing": ("invalid_output", "score", "InvalidOutput", "'spread' is declared but", None, ""),
    "extra": ("invalid_output", "score", "InvalidOutput", "'bonus' was returned but", None, ""),
    "out-of-range": ("invalid_output", "score", "InvalidOutput", "spread is 1.5, outside", None, ""),
    "wrong-mean": ("invalid_output", "score", "InvalidOutput", "mean of its samples", None, ""),
    "score-crash": ("crash", "score", "Crash", "SIGABRT", None, "SIGABRT"),
    "trapper": ("ok", "score", "", "", None, ""),
    "smuggler": ("invalid_output", "score", "InvalidOutput", "'link' is a link", None, ""),
    "needs-module": (
        "skipped",
        "collect",
        "MissingRequirement",
        "needs module module_that_does_not_exist (pip install",
        None,
        "",
    ),
    "needs-module-late": (
        "skipped",
        "collect",
        "MissingRequirement",
        "needs module module_that_does_not_exist (pip install",
        None,
        "",
    ),
    "needs-gpu": ("skipped", "collect", "MissingRequirement", "needs 1 GPU", None, ""),
    "cuda-hog": ("skipped", "collect", "MissingRequirement", "needs 1 GPU", None, ""),
}
ELSEWHERE = {"slow", "kill-supervisor"}  # used in test_local


class Faults:
    """All hostile jobs, run once, side by side."""

    def __init__(self, engine: Engine, root: Path, strays: Callable[[], list[int]]) -> None:
        self.orders: dict[str, WorkOrder] = {}
        futures: dict[str, Future[Outcome]] = {}
        for name in (*EXPECTED, "polluter-again", "uniform-again"):
            model = name.removesuffix("-again")
            self.orders[name] = build_order(model, root, audit_writes=model == "writer")
            futures[name] = engine.submit(self.orders[name])
        self.outcomes = {name: future.result(timeout=240) for name, future in futures.items()}
        engine.shutdown()
        self.strays = strays()

    def log(self, name: str) -> bytes:
        return Path(self.orders[name].log_path).read_bytes()


@pytest.fixture(scope="module", params=["local", "dask"])
def faults(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    root, patch = tmp_path_factory.mktemp("faults"), pytest.MonkeyPatch()
    if request.param == "dask":
        cluster: Cluster = request.getfixturevalue("cluster")
        engine: Engine = DaskEngine(scheduler=cluster.address)
        strays = cluster.strays
    else:
        # An engine of its own: its supervisors inherit the mark by which stray processes are found.
        mark = f"{root.name}-{os.getpid()}"
        patch.setenv("BENCH_TEST_MARK", mark)
        engine = LocalEngine(2)
        strays = functools.partial(marked_with, f"BENCH_TEST_MARK={mark}")
    try:
        yield Faults(engine, root, strays)
    finally:
        engine.shutdown(kill=True)
        patch.undo()


def test_every_hostile_model_is_in_the_table() -> None:
    assert {model.name.removeprefix("selftest-") for model in MODELS} == set(EXPECTED) | ELSEWHERE


@pytest.mark.parametrize("name", EXPECTED)
def test_status(faults: Faults, name: str) -> None:
    status, stage, error_type, message, exit_code, signal = EXPECTED[name]
    outcome = faults.outcomes[name]
    assert (outcome.status, outcome.stage, outcome.error_type) == (status, stage, error_type), outcome
    assert message in outcome.error_message
    assert (outcome.exit_code, outcome.signal) == (exit_code, signal)
    assert outcome.job_key == faults.orders[name].job.key
    assert (outcome.rows != ()) == (status == "ok")
    assert len(outcome.error_message) <= 2_000
    assert len(outcome.traceback) <= 8_000
    assert outcome.duration_s >= 0
    assert outcome.started_at <= outcome.ended_at <= time.time()


def test_traceback_has_the_line(faults: Faults) -> None:
    assert 'raise ValueError("bad")' in faults.outcomes["raise"].traceback


def test_texts_can_be_stored_as_utf8(faults: Faults) -> None:
    outcome = faults.outcomes["raise-forged"]
    (outcome.error_message + outcome.traceback).encode("utf-8")


def test_fault_handler_writes_to_the_log(faults: Faults) -> None:
    assert b"Segmentation fault" in faults.log("segfault")
    assert b"bench/selftest.py" in faults.log("segfault")


@pytest.mark.parametrize("name", ["sleep", "loop", "ignore-sigterm"])
def test_killed_within_three_seconds_of_the_timeout(faults: Faults, name: str) -> None:
    assert 1.5 <= faults.outcomes[name].duration_s <= 1.5 + 3.0


def test_memory_stays_near_the_limit(faults: Faults) -> None:
    for name in ("fill-memory", "fill-memory-below"):
        used = re.match(r"used (\d+) MB", faults.outcomes[name].error_message)
        assert used is not None
        assert 600 < int(used[1]) < 1200


def test_log_is_capped_and_keeps_both_ends(faults: Faults) -> None:
    log = faults.log("print-much")
    assert len(log) <= LOG_LIMIT
    assert log.startswith(b"first words\n")
    assert log.endswith(b"last words\n")
    assert b"bytes left out" in log


def test_log_takes_binary(faults: Faults) -> None:
    assert bytes(range(256)) * 64 in faults.log("print-garbage")


def test_no_stray_process_outlives_its_job(faults: Faults) -> None:
    assert faults.strays == []


def test_no_state_leaks_between_jobs(faults: Faults) -> None:
    first, again = faults.outcomes["polluter"], faults.outcomes["polluter-again"]
    assert first.status == again.status == "ok"
    assert first.rows == again.rows  # drawn from global generators, which every job finds seeded alike


def test_same_seed_same_artifact(faults: Faults) -> None:
    first, again = faults.outcomes["uniform"], faults.outcomes["uniform-again"]
    assert first.rows == again.rows
    assert first.artifact_sha256 == again.artifact_sha256 != ""


def test_ten_million_samples_arrive(faults: Faults) -> None:
    outcome = faults.outcomes["many-samples"]
    assert outcome.n_samples == 10_000_000
    path = Path(faults.orders["many-samples"].work_dir, outcome.samples_file)
    with np.load(path) as arrays:
        assert arrays["mean"].dtype == np.float32
        mean = next(row.measure.value for row in outcome.rows if row.metric == "mean")
        assert arrays["mean"].mean(dtype=np.float64) == pytest.approx(mean, abs=1e-6)
        assert len(arrays["sample_ids"]) == 10_000_000


def test_what_a_job_used_is_known(faults: Faults) -> None:
    outcome = faults.outcomes["uniform"]
    assert outcome.cpu_s is not None
    assert outcome.cpu_s > 0
    assert outcome.peak_rss_mb is not None
    assert outcome.peak_rss_mb > 10
    assert outcome.peak_gpu_mb is None
    for seconds in (outcome.setup_s, outcome.collect_s, outcome.score_s):
        assert seconds is not None
        assert 0 <= seconds <= outcome.duration_s
    assert re.match(r"local-\d|dask-[0-9a-f]{6}\.\d", outcome.worker)
    assert outcome.hostname
    assert outcome.device_name
    assert outcome.notes == {"n_values": 100, "reference": "selftest-ramp"}
    assert [exhibit.file for exhibit in outcome.exhibits] == ["values.json"]


def test_writes_outside_are_noted(faults: Faults) -> None:
    note = str(faults.outcomes["writer"].notes["writes_outside"])
    assert "stray.txt" in note
    assert "kept.txt" not in note
    assert "values.npz" not in note


def test_a_crash_of_scoring_does_not_lose_the_artifact(faults: Faults) -> None:
    outcome = faults.outcomes["score-crash"]
    folder = Path(faults.orders["score-crash"].work_dir, "artifact")
    assert (outcome.artifact_sha256, outcome.artifact_bytes) == artifact_digest(folder)


def test_links_planted_by_a_model_are_not_followed(faults: Faults) -> None:
    work_dir = Path(faults.orders["trapper"].work_dir)
    assert not list(work_dir.glob("elsewhere/*"))
    assert not (work_dir / "exhibits").is_symlink()
    assert (work_dir / "exhibits" / "values.json").is_file()
