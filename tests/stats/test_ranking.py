"""Ranks, critical differences, win rates: reference table A of the specification, properties, peers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.stats.ranking import (
    critical_difference,
    friedman,
    majority_cycle,
    mean_rank,
    nemenyi_q,
    normalised,
    rank_warnings,
    ranks,
    win_rate,
    wins,
)
from bench.stats.scores import Row, scores_from_rows, scores_from_table

quick = settings(deadline=None, max_examples=40)
tables = st.integers(3, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=2, max_size=8)
)
ERRORS = np.array(
    [
        [0.10, 0.20, 0.30, 0.15, 0.22, 0.31, 0.18, 0.40],
        [0.12, 0.18, 0.33, 0.15, 0.25, 0.30, 0.20, 0.42],
        [0.14, 0.22, 0.28, 0.20, 0.24, 0.36, 0.21, 0.41],
        [0.20, 0.25, 0.40, 0.22, 0.30, 0.39, 0.18, 0.50],
        [0.30, 0.35, 0.45, 0.33, 0.41, 0.52, 0.38, 0.61],
    ]
)
SCORES = scores_from_table(-ERRORS, list("ABCDE"))


def _scores(rows: list[list[int]]):  # type: ignore[no-untyped-def]
    table = np.array(rows, dtype=float).T
    return scores_from_table(table, [f"m{i}" for i in range(len(table))])


def test_reference_table_a() -> None:
    assert mean_rank(SCORES).tolist() == [1.5, 2.1875, 2.625, 3.6875, 5]
    test = friedman(SCORES)
    assert test.statistic == pytest.approx(24.379747, abs=5e-7)
    assert test.p_value == pytest.approx(6.7026e-5, rel=1e-5)
    assert critical_difference(5, 8) == pytest.approx(2.156495, abs=5e-7)
    assert win_rate(SCORES).tolist() == [0.875, 0.703125, 0.59375, 0.328125, 0]


@pytest.mark.parametrize(
    ("k", "q"),
    [(2, 1.9600), (3, 2.3437), (4, 2.5690), (5, 2.7278), (6, 2.8497), (10, 3.1637), (20, 3.5438)],
)
def test_nemenyi_reference(k: int, q: float) -> None:
    assert nemenyi_q(k) == pytest.approx(q, abs=5e-5)


@quick
@given(tables)
def test_ranks_and_friedman_agree_with_scipy(rows: list[list[int]]) -> None:
    scores = _scores(rows)
    assert ranks(scores).tolist() == stats.rankdata(-scores.utility, axis=0).tolist()
    test = friedman(scores)
    if all(len(set(row)) == 1 for row in rows):
        assert (test.statistic, test.p_value) == (0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*scores.utility)
    assert test.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert test.p_value == pytest.approx(expected.pvalue, abs=1e-9)


@quick
@given(tables)
def test_win_rate_and_mean_rank_are_one_affine_map(rows: list[list[int]]) -> None:
    scores = _scores(rows)
    k = len(scores.models)
    assert win_rate(scores) == pytest.approx((k - mean_rank(scores)) / (k - 1))
    matrix = wins(scores)
    assert matrix + matrix.T == pytest.approx(len(scores.tasks) * (1 - np.eye(k)))


def test_every_task_weighs_the_same_whatever_its_repeats() -> None:
    rows = [Row("a", "often", r, 1.0) for r in range(50)] + [Row("b", "often", r, 0.0) for r in range(50)]
    rows += [Row("a", "once", 0, 0.0), Row("b", "once", 0, 1.0)]
    assert wins(scores_from_rows(rows)).tolist() == [[0, 1], [1, 0]]


def test_a_model_alone() -> None:
    alone = scores_from_table([[0.5, 0.6]], ["a"])
    assert mean_rank(alone).tolist() == [1]
    assert win_rate(alone).tolist() == [0.5]
    with pytest.raises(ValueError, match="two models"):
        friedman(alone)


def test_normalised_is_clipped_per_task() -> None:
    scores = scores_from_table([[0.9, 0.2, 0.4], [0.7, 0.6, 0.4], [0.1, 1.0, 0.3]], ["a", "b", "c"])
    floor = np.array([0.5, 0.2, 0.4])
    # On the third task nothing exceeds the baseline: nobody gains from it.
    assert normalised(scores, floor).tolist() == pytest.approx([1 / 3, (0.5 + 0.5) / 3, 1 / 3])
    assert normalised(scores, floor, best=np.array([1.3, 1.0, 0.8]))[0] == pytest.approx(0.5 / 3)
    worst = scores_from_rows([Row("a", "t", 0, 1.0), Row("b", "t", 0, None)], policy="worst")
    assert normalised(worst, np.array([0.0])).tolist() == [1, 0]


def test_cycles_and_few_tasks_are_warned_of() -> None:
    cycle = scores_from_table([[3, 2, 1], [2, 1, 3], [1, 3, 2]], ["rock", "scissors", "paper"])
    assert set(majority_cycle(cycle)) == {"rock", "scissors", "paper"}
    assert majority_cycle(SCORES) == ()
    assert len(rank_warnings(SCORES)) == 1
    words = " ".join(rank_warnings(cycle))
    assert "cyclic" in words
    assert "fewer than 6" in words
