"""Many jobs, some hostile, and a coordinator that is killed again and again: every job ends up stored once.

    BENCH_CHAOS_JOBS=2000 BENCH_CHAOS_KILLS=10 pytest tests/cli/test_chaos.py -s

is the full size; the default is one that continuous integration can afford.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from bench.engine.processes import marked_with
from bench.keys import unit_seed
from bench.store import Store
from bench.work import FAILED
from tests.cluster import until

N_JOBS = int(os.environ.get("BENCH_CHAOS_JOBS", "300"))
N_KILLS = int(os.environ.get("BENCH_CHAOS_KILLS", "4"))
# One job in twenty does one of these, in turn.
DEEDS = {
    "segfault": "crash",
    "sleep": "timeout",
    "fill-memory": "oom",
    "exit-3": "crash",
    "garble-channel": "crash",
}
MODEL = """
from bench.selftest import DEEDS, Uniform
from bench.spec import ModelInfo, Resources

class Chaos(Uniform):
    info = ModelInfo(
        name="chaos", version="1", families=("selftest",), resources=Resources(memory_mb=250, timeout_s=6.0)
    )

    def produce(self, n, reference, *, seed):
        DEEDS[FATES.get(seed, "nothing")]()
        return super().produce(n, reference, seed=seed)
"""
STORED_WITHIN_S = 2.0  # what ended longer ago is on disk whatever happens

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]


def expected_statuses() -> dict[int, str]:
    """repeat -> status."""
    names = list(DEEDS.values())
    return {i: names[i // 20 % len(names)] if i % 20 == 7 else "ok" for i in range(N_JOBS)}


def write_model(folder: Path) -> None:
    deeds = list(DEEDS)
    fates = {
        unit_seed(
            task="selftest.echo", task_version=1, dataset="selftest-ramp", repeat=i, suite_seed=0
        ): deeds[i // 20 % len(deeds)]
        for i in range(7, N_JOBS, 20)
    }
    (folder / "chaos.py").write_text(MODEL.replace("FATES", repr(fates)))


def start(folder: Path) -> subprocess.Popen[str]:
    command = ["run", "--suite", "selftest", "--size", "tiny", "--model", "chaos.py:Chaos", "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "bench", *command, "--repeats", str(N_JOBS), "--progress", "plain"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "BENCH_TEST_MARK": folder.name},
    )


def finished(line: str) -> int | None:
    """The repeat that a line of progress says has ended."""
    found = re.match(r"\[\d+/\d+\] chaos on .* / repeat (\d+):", line)
    return int(found[1]) if found else None


def kill_after(process: subprocess.Popen[str], jobs: int, pause: float) -> dict[int, float]:
    """SIGKILL once so many jobs have ended and `pause` has passed; repeat -> when it was said to have ended."""
    ended: dict[int, float] = {}
    assert process.stderr is not None
    for line in process.stderr:
        repeat = finished(line)
        if repeat is not None:
            ended[repeat] = time.monotonic()
        if len(ended) >= jobs:
            break
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    process.stderr.close()
    process.wait()
    return {repeat: killed - at for repeat, at in ended.items()}


def rows(folder: Path) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for row in Store.open(folder / "results").read("jobs", ["repeat", "status"]).to_pylist():
        found.setdefault(row["repeat"], []).append(row["status"])
    return found


def test_every_job_ends_up_stored_once_with_the_right_status(tmp_path: Path) -> None:
    write_model(tmp_path)
    rng, began, progress = random.Random(11), time.monotonic(), []
    for _ in range(N_KILLS):
        jobs = rng.randrange(1, max(2, round(1.4 * N_JOBS / (N_KILLS + 1))))
        ages = kill_after(start(tmp_path), jobs, rng.uniform(0.0, 0.5))
        until(lambda: not marked_with(f"BENCH_TEST_MARK={tmp_path.name}"), 20)
        stored = rows(tmp_path)
        assert {repeat for repeat, age in ages.items() if age > STORED_WITHIN_S} <= set(stored)
        progress.append(len(stored))
    last = start(tmp_path)
    text = last.communicate(timeout=1800)[1]
    assert last.returncode == 1, text[-2000:]
    assert {repeat: [status] for repeat, status in expected_statuses().items()} == rows(tmp_path)
    store = Store.open(tmp_path / "results")
    assert store.verify() == []
    assert len(store.history()) == store.current().num_rows == N_JOBS
    assert Counter(p.status in FAILED for p in store.history())[True] == len(range(7, N_JOBS, 20))
    assert not list(store.path.glob("runs/*/running"))
    assert sum(0 < n < N_JOBS for n in progress) == len(progress), (
        "the kills came while jobs were being stored"
    )
    again = start(tmp_path)
    assert "nothing to run: everything is stored already" in again.communicate(timeout=120)[1]
    print(f"\n{N_JOBS} jobs, {N_KILLS} kills, stored at each: {progress}; {time.monotonic() - began:.0f} s")
