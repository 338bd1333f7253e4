"""Bradley-Terry: reference ratings, stationarity, infinite ratings, bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.stats.bradley_terry import ELO, bradley_terry, bradley_terry_from_wins
from bench.stats.scores import scores_from_table

quick = settings(deadline=None, max_examples=40)
ERRORS = np.array(
    [
        [0.10, 0.20, 0.30, 0.15, 0.22, 0.31, 0.18, 0.40],
        [0.12, 0.18, 0.33, 0.15, 0.25, 0.30, 0.20, 0.42],
        [0.14, 0.22, 0.28, 0.20, 0.24, 0.36, 0.21, 0.41],
        [0.20, 0.25, 0.40, 0.22, 0.30, 0.39, 0.18, 0.50],
        [0.30, 0.35, 0.45, 0.33, 0.41, 0.52, 0.38, 0.61],
    ]
)
CONNECTED = ERRORS.copy()
CONNECTED[4, 6] = 0.17
FIVE = list("ABCDE")
matrices = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(1, 9), min_size=k, max_size=k), min_size=k, max_size=k)
)


def test_reference_ratings() -> None:
    found = bradley_terry(scores_from_table(-CONNECTED, FIVE))
    assert [r.rating for r in found] == pytest.approx(
        [1278.8105, 1134.1109, 1051.4487, 847.2070, 688.4229], abs=5e-5
    )
    assert {(r.standing, r.tier) for r in found} == {("rated", 0)}


def test_a_model_without_a_win_is_below_all_and_does_not_shift_the_rest() -> None:
    found = bradley_terry(scores_from_table(-ERRORS, FIVE))
    assert (found[4].rating, found[4].standing, found[4].tier) == (None, "below all", 1)
    without = bradley_terry(scores_from_table(-ERRORS[:4], FIVE[:4]))
    assert [r.rating for r in found[:4]] == pytest.approx([r.rating for r in without], abs=1e-6)


def test_a_model_without_a_loss_is_above_all() -> None:
    found = bradley_terry(scores_from_table(ERRORS, FIVE))
    assert (found[4].standing, found[4].tier) == ("above all", 0)
    assert {r.tier for r in found[:4]} == {1}


def test_a_strict_order_has_no_finite_rating() -> None:
    found = bradley_terry(scores_from_table([[3, 3], [2, 2], [1, 1]], ["a", "b", "c"]))
    assert [(r.rating, r.standing, r.tier) for r in found] == [
        (None, "above all", 0),
        (None, "separated", 1),
        (None, "below all", 2),
    ]


def test_two_groups_rate_the_larger() -> None:
    table = [[9, 8], [8, 9], [5, 3], [4, 5], [3, 4]]
    found = bradley_terry(scores_from_table(table, FIVE))
    assert [r.standing for r in found] == ["above all"] * 2 + ["rated"] * 3
    assert [r.tier for r in found] == [0, 0, 1, 1, 1]
    assert np.mean([r.rating for r in found[2:]]) == pytest.approx(1000)


def test_models_that_never_met_are_not_compared() -> None:
    won = np.zeros((5, 5))
    won[0, 1] = won[1, 2] = won[2, 0] = won[3, 4] = won[4, 3] = 1
    found = bradley_terry_from_wins(won, FIVE)
    assert [r.standing for r in found] == ["rated"] * 3 + ["separated"] * 2


def test_one_model() -> None:
    (only,) = bradley_terry(scores_from_table([[0.5]], ["a"]), bootstraps=10)
    assert (only.rating, only.low, only.high, only.standing) == (1000, 1000, 1000, "rated")


@quick
@given(matrices)
def test_ratings_solve_the_likelihood_equations(rows: list[list[int]]) -> None:
    won = np.array(rows, dtype=float)
    np.fill_diagonal(won, 0)
    found = bradley_terry_from_wins(won, [str(i) for i in range(len(won))])
    theta = np.array([r.rating for r in found], dtype=float) / ELO
    expected = (won + won.T) / (1 + np.exp(theta[None] - theta[:, None]))
    np.fill_diagonal(expected, 0)
    assert expected.sum(axis=1) == pytest.approx(won.sum(axis=1), abs=1e-7)
    assert np.mean([r.rating for r in found]) == pytest.approx(1000)


def test_extreme_strengths_converge() -> None:
    won = np.array([[0, 1e6, 1e6], [1, 0, 1e6], [1e-3, 1, 0]])
    found = bradley_terry_from_wins(won, ["a", "b", "c"])
    ratings = [r.rating for r in found]
    assert ratings == sorted(ratings, reverse=True)  # type: ignore[type-var]


def test_bootstrap_is_deterministic_ordered_and_marks_unbounded_ends() -> None:
    scores = scores_from_table(-CONNECTED, FIVE)
    found = bradley_terry(scores, bootstraps=300)
    assert found == bradley_terry(scores, bootstraps=300)
    for r in found:
        assert r.low is None or r.low <= r.rating
        assert r.high is None or r.rating <= r.high
    assert found[4].low is None  # its one win is missing from a third of the resamples


def test_bootstrap_covers_the_true_strengths() -> None:
    rng = np.random.default_rng(0)
    truth = np.linspace(-1, 1, 5)
    hits = []
    for _ in range(60):
        noise = rng.gumbel(size=(5, 80))  # differences are logistic: exactly the model
        found = bradley_terry(scores_from_table(truth[:, None] + noise, FIVE), bootstraps=100, rng=rng)
        hits += [r.low <= 1000 + ELO * t <= r.high for r, t in zip(found, truth, strict=True)]  # type: ignore[operator]
    assert 0.87 <= np.mean(hits) <= 0.99


def test_bad_wins_are_refused() -> None:
    for bad in (np.zeros((2, 3)), -np.ones((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="wins"):
            bradley_terry_from_wins(bad, ["a", "b"])
