"""SIGKILL of the process that runs the engine leaves nothing running."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.engine.processes import marked_with

COORDINATOR = """
import sys
from pathlib import Path
from bench.engine import LocalEngine
from bench.testing import build_order

root = Path(sys.argv[1])
engine = LocalEngine(2)
done = engine.submit(build_order("grandchildren", root))
for model in ("slow", "ignore-sigterm", "slow"):
    engine.submit(build_order(model, root))
print(done.result().status, flush=True)
engine.shutdown()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_nothing_is_left_two_seconds_after_sigkill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_TEST_MARK", tmp_path.name)
    mark = f"BENCH_TEST_MARK={tmp_path.name}"
    command = [sys.executable, "-c", COORDINATOR, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ok\n"
    give_up = time.monotonic() + 60
    while len(marked_with(mark)) < 5:  # the coordinator, two supervisors, two children
        assert time.monotonic() < give_up
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    # The one clock in these tests: the promise itself is a time.
    deadline = time.monotonic() + 2.0
    while (left := marked_with(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []
