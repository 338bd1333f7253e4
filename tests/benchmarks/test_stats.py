"""Cost of the statistics, and of a peer beside them where one is installed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from bench.stats.bradley_terry import bradley_terry
from bench.stats.confseq import hedged
from bench.stats.regions import mean_region
from bench.stats.scores import scores_from_table

pytestmark = pytest.mark.benchmark(group="stats", timer=time.process_time)


@pytest.fixture
def observations() -> np.ndarray:
    return np.random.default_rng(0).random(2_000)


def test_hedged_sequence_at_every_t(benchmark: Any, observations: np.ndarray) -> None:
    sequence = benchmark.pedantic(hedged, (observations,), rounds=5)
    assert sequence.low[-1] < 0.5 < sequence.high[-1]


def test_hedged_sequence_of_confseq(
    benchmark: Any, observations: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(np, "float_", np.float64, raising=False)  # confseq 0.0.11 predates NumPy 2
    betting = pytest.importorskip("confseq.betting", reason="confseq is not installed")
    low, high = benchmark.pedantic(
        betting.betting_cs, (observations,), {"breaks": 1_000, "running_intersection": True}, rounds=2
    )
    assert low[-1] < 0.5 < high[-1]


def test_hedged_sequence_of_a_finite_set(benchmark: Any, observations: np.ndarray) -> None:
    sequence = benchmark.pedantic(hedged, (observations,), {"population": 2_000}, rounds=5)
    assert sequence.low[-1] == pytest.approx(observations.mean())


def test_ratings_of_forty_models_on_sixty_tasks_with_bootstrap(benchmark: Any) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 60)) + np.linspace(0, 2, 40)[:, None]
    scores = scores_from_table(table, [f"m{i}" for i in range(40)])
    found = benchmark.pedantic(bradley_terry, (scores,), {"bootstraps": 200}, rounds=5)
    assert all(r.standing == "rated" for r in found)


def test_region_of_ten_metrics(benchmark: Any) -> None:
    x = np.random.default_rng(0).random((100, 10))
    region = benchmark.pedantic(mean_region, (x,), rounds=5)
    assert region.contains(region.centre)[0]
