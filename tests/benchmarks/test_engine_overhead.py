"""What the harness adds to a job: both stages of a job that does nearly nothing, on a warm slot.

    pytest tests/benchmarks/test_engine_overhead.py --benchmark-only

The wall-clock median should be at most 0.15 s. On a busy machine look at the printed CPU time instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.engine import LocalEngine
from bench.testing import build_order

ROUNDS = 30


@pytest.fixture
def warm_engine(tmp_path: Path) -> Iterator[LocalEngine]:
    engine = LocalEngine(1)
    assert engine.submit(build_order("uniform", tmp_path)).result().status == "ok"
    yield engine
    engine.shutdown()


def test_overhead_of_a_warm_job(benchmark: Any, warm_engine: LocalEngine, tmp_path: Path) -> None:
    supervisor = warm_engine._drivers[0].pid
    assert supervisor is not None
    before = _cpu_seconds(supervisor)
    outcome = benchmark.pedantic(
        lambda order: warm_engine.submit(order).result(),
        setup=lambda: ((build_order("uniform", tmp_path),), {}),
        rounds=ROUNDS,
    )
    assert outcome.status == "ok"
    cpu = (_cpu_seconds(supervisor) - before) / ROUNDS
    benchmark.extra_info["cpu_seconds_per_job"] = cpu
    print(f"\nCPU time of supervisor and children: {cpu:.3f} s per job")


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
