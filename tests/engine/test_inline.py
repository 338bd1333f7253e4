"""The inline engine gives the same numbers as the one with processes."""

from __future__ import annotations

import pytest

from bench.engine import EngineError, InlineEngine, LocalEngine
from tests.engine.conftest import MakeOrder


def test_same_numbers_as_in_a_process(make_order: MakeOrder, engine: LocalEngine) -> None:
    inline = InlineEngine()
    futures = [engine.submit(make_order("uniform", repeat=repeat)) for repeat in range(4)]
    for repeat, future in enumerate(futures):
        here = inline.submit(make_order("uniform", repeat=repeat)).result(timeout=0)
        there = future.result(timeout=120)
        assert here.status == there.status == "ok"
        assert here.rows == there.rows
        assert here.artifact_sha256 == there.artifact_sha256


@pytest.mark.parametrize(
    ("model", "status", "error_type"),
    [
        ("raise", "error", "ValueError"),
        ("raise-unprintable", "error", "_Unprintable"),
        ("sys-exit", "error", "SystemExit"),
        ("out-of-range", "invalid_output", "InvalidOutput"),
        ("needs-module", "skipped", "MissingRequirement"),
    ],
)
def test_faults_that_need_no_process(make_order: MakeOrder, model: str, status: str, error_type: str) -> None:
    seen: list[tuple[str, str, int, int]] = []
    engine = InlineEngine(on_progress=lambda *what: seen.append(what))
    outcome = engine.submit(make_order(model)).result(timeout=0)
    assert (outcome.status, outcome.error_type) == (status, error_type)
    assert seen[0][1:] == ("collect", 0, 0)


def test_shut_down(make_order: MakeOrder) -> None:
    engine = InlineEngine()
    assert engine.slots == 1
    engine.shutdown()
    with pytest.raises(EngineError):
        engine.submit(make_order("uniform"))
