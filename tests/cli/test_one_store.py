"""One store and what can happen to it: two runs at once, and a disk that fills up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bench.store import Store
from tests.cli.conftest import Bench

RUN = ("run", "--suite", "selftest", "--size", "tiny", "--model", "selftest-uniform", "--workers", "1")
# Fills the disk of the store while jobs arrive; prints what the run said, then how it ended.
FULL_DISK = """
set -e
mount -t tmpfs -o size=560m tmpfs disk
"$@" --out disk/results --repeats 400 2> stderr &
run=$!
until grep -q '^\\[20/' stderr; do kill -0 $run; sleep 0.05; done
dd if=/dev/zero of=disk/filler bs=1M 2> /dev/null || true
code=0
wait $run || code=$?
rm disk/filler
cp -r disk/results results
echo "exit code $code"
"""


def test_two_runs_at_once_share_the_work_and_store_it_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", *RUN, "--repeats", "40"]
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    runs = [
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environ) for _ in "ab"
    ]
    texts = [run.communicate(timeout=300)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], texts
    store = Store.open(tmp_path / "results")
    rows = store.read("jobs", ["job_key", "status", "run_id"]).to_pylist()
    assert Counter(row["status"] for row in rows)["ok"] == len(rows)
    assert len({row["job_key"] for row in rows}) == store.current().num_rows == 40
    # A job may be done twice only if one run had stored it after the other had made its plan.
    assert len(rows) <= 80
    assert store.verify() == []
    counts = [tuple(map(int, re.findall(r"(\d+) ok.* (\d+) cached", text)[0])) for text in texts]
    assert all(sum(count) == 40 for count in counts), texts


def test_a_disk_that_fills_up_ends_the_run_with_exit_code_3(bench: Bench, tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs the program unshare to mount a small disk")
    (tmp_path / "disk").mkdir()
    inside = ["unshare", "--user", "--map-root-user", "--mount"]
    trial = subprocess.run(
        [*inside, "mount", "-t", "tmpfs", "tmpfs", "disk"], cwd=tmp_path, capture_output=True
    )
    if trial.returncode:
        pytest.skip(f"cannot mount a small disk here: {trial.stderr.decode().strip()}")
    done = subprocess.run(
        [*inside, "sh", "-c", FULL_DISK, "sh", sys.executable, "-m", "bench", *RUN],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        timeout=300,
    )
    said = (tmp_path / "stderr").read_text()
    assert done.stdout == "exit code 3\n", (done, said[-2000:])
    told = re.search(
        r"bench: stopped: cannot write .*No space left on device; free some space and run again", said
    )
    assert told is not None, said[-2000:]
    counted = re.search(r"\((\d+) jobs of this run are stored\)", said)
    assert counted is not None, said[-2000:]
    store = Store.open(tmp_path / "results")
    stored = store.read("jobs", ["status"])["status"].to_pylist()
    assert len(stored) == int(counted[1])
    assert 0 < len(stored) < 400
    resumed = bench(*RUN, "--repeats", 30)
    assert resumed.returncode in (0, 1), resumed.stderr  # 1: jobs that could not write their own artifact
    assert store.verify() == []
