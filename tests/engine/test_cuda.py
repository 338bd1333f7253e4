"""What only a machine with a GPU can show."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.engine import LocalEngine
from bench.engine.devices import visible_gpus
from bench.spec import Resources
from bench.testing import build_order
from bench.work import Outcome

GPUS = visible_gpus()
pytestmark = pytest.mark.skipif(not GPUS, reason="no NVIDIA GPU on this machine")
HALF = Resources(gpus=0.5, timeout_s=120)


def test_jobs_on_a_gpu(tmp_path: Path) -> None:
    engine = LocalEngine(2, gpus=GPUS[:1])
    try:
        hog = engine.submit(build_order("cuda-hog", tmp_path, device="cuda"))
        halves = [
            engine.submit(build_order("needs-gpu", tmp_path, device="cuda", limits=HALF, repeat=i))
            for i in range(2)
        ]
        outcomes: list[Outcome] = [future.result(timeout=300) for future in (hog, *halves)]
    finally:
        engine.shutdown(kill=True)
    assert [outcome.status for outcome in outcomes] == ["oom", "ok", "ok"], outcomes
    for outcome in outcomes[1:]:
        assert outcome.peak_gpu_mb is not None
        assert outcome.peak_gpu_mb >= 16
        assert outcome.device == "cuda"
        assert outcome.device_name
    assert {outcome.worker for outcome in outcomes[1:]} <= {"local-0", "local-1"}


def test_more_gpus_than_there_are(tmp_path: Path) -> None:
    engine = LocalEngine(1, gpus=GPUS)
    limits = Resources(gpus=len(GPUS) + 1.0)
    try:
        order = build_order("needs-gpu", tmp_path, device="cuda", limits=limits)
        outcome = engine.submit(order).result(timeout=300)
    finally:
        engine.shutdown(kill=True)
    assert outcome.status == "skipped"
    assert f"needs {len(GPUS) + 1} GPU" in outcome.error_message
