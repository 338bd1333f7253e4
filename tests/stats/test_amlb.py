"""A real benchmark end to end: 7 systems x 35 tasks x 10 folds with 34 failures, against public peers' numbers."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.stats.bradley_terry import bradley_terry
from bench.stats.paired import holm, wilcoxon
from bench.stats.ranking import critical_difference, friedman, majority_cycle, mean_rank, win_rate, wins
from bench.stats.scores import Row, Scores, scores_from_rows

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "harness"
pytestmark = pytest.mark.skipif(
    not (FOLDER / "amlb_2019_1h.parquet").is_file(),
    reason="the AMLB table is not in ../shared/data/harness beside the repository",
)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    import pyarrow.parquet as pq

    table = pq.read_table(FOLDER / "amlb_2019_1h.parquet").to_pylist()
    return [Row(r["model"], r["task"], r["fold"], _utility(r["value"], r["higher_is_better"])) for r in table]


def _utility(value: float | None, higher_is_better: bool) -> float | None:
    if value is None or np.isnan(value):
        return None
    return value if higher_is_better else -value


@pytest.fixture(scope="module")
def scores(rows: list[Row]) -> Scores:
    return scores_from_rows(rows, policy="baseline", baseline="constantpredictor")


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "amlb_2019_1h_reference.json").read_text())
    return found


def test_the_failures_are_counted(scores: Scores) -> None:
    assert scores.utility.shape == (7, 35)
    assert scores.failed.sum() == 34
    assert set(scores.n_repeats) == {10}


def test_ranking(scores: Scores, reference: dict[str, Any]) -> None:
    assert dict(zip(scores.models, mean_rank(scores), strict=True)) == pytest.approx(reference["mean_rank"])
    assert dict(zip(scores.models, win_rate(scores), strict=True)) == pytest.approx(reference["win_rate"])
    order = sorted(zip(mean_rank(scores).round(4), scores.models, strict=True))
    assert [(name, rank) for rank, name in order] == [
        ("h2oautoml", 1.5714),
        ("autosklearn", 2.7429),
        ("tpot", 3.5429),
        ("tunedrandomforest", 3.5714),
        ("randomforest", 3.9429),
        ("autoweka", 5.9143),
        ("constantpredictor", 6.7143),
    ]


def test_friedman_and_critical_difference(scores: Scores, reference: dict[str, Any]) -> None:
    test = friedman(scores)
    assert [test.statistic, test.p_value] == pytest.approx(reference["friedman"], rel=1e-9)
    assert critical_difference(7, 35) == pytest.approx(reference["nemenyi_cd_0.05"], abs=1e-9)
    assert majority_cycle(scores) == ()


def test_wins_and_ratings(scores: Scores, reference: dict[str, Any]) -> None:
    assert list(scores.models) == reference["models"]
    assert wins(scores).tolist() == reference["wins"]
    found = {r.model: r.rating for r in bradley_terry(scores)}
    assert found == pytest.approx(reference["elo_mean1000"], abs=1e-5)


def test_pairwise_wilcoxon_with_holm(scores: Scores, reference: dict[str, Any]) -> None:
    pairs = list(itertools.combinations(range(7), 2))
    p = [wilcoxon(scores.utility[i], scores.utility[j]).p_value for i, j in pairs]
    names = [[scores.models[i], scores.models[j]] for i, j in pairs]
    assert names == [line[:2] for line in reference["wilcoxon_holm"]]
    assert p == pytest.approx([line[2] for line in reference["wilcoxon_holm"]], rel=1e-6)
    assert holm(p).tolist() == pytest.approx([line[3] for line in reference["wilcoxon_holm"]], rel=1e-6)


def test_dropping_failures_would_give_other_ranks(scores: Scores, reference: dict[str, Any]) -> None:
    trap = [reference["skipna_mean_rank_trap"][name] for name in scores.models]
    assert np.abs(mean_rank(scores) - trap).max() > 0.05


def test_other_policies(rows: list[Row]) -> None:
    worst = scores_from_rows(rows, policy="worst")
    exclude = scores_from_rows(rows, policy="exclude")
    assert np.isneginf(worst.utility).sum() == (worst.failed > 0).sum() > 0
    assert len(exclude.tasks) + len(exclude.excluded) == 35
    assert exclude.failed.sum() == 0
