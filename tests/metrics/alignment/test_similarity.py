"""Perceptual similarity: by hand, what must never happen to distances, and agreement with scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from sklearn.metrics import average_precision_score

from bench.metrics.alignment.ranks import average_ranks, rank_correlations, spearman
from bench.metrics.alignment.similarity import (
    cosine_distance,
    normalised_odd_one_out,
    noticeable_precision,
    odd_one_out,
    standardised_distance,
    structure_agreement,
    two_alternatives,
    two_alternatives_ceiling,
)

VECTORS = hnp.arrays(np.float64, (5, 3), elements=st.floats(-10, 10))


def test_two_alternatives_by_hand() -> None:
    answers = {"d0": [1, 2, 3, 1], "d1": [2, 1, 3, 5], "chose_1": [0.2, 1, 0.4, 0]}
    assert two_alternatives(**answers).value == pytest.approx((0.8 + 1 + 0.5 + 1) / 4)
    best, typical = two_alternatives_ceiling(chose_1=answers["chose_1"])
    assert best == pytest.approx((0.8 + 1 + 0.6 + 1) / 4)
    assert typical == pytest.approx((0.68 + 1 + 0.52 + 1) / 4)


@pytest.mark.parametrize("bad", ["d0", "d1", "chose_1"])
def test_a_distance_that_is_no_number_is_an_error(bad: str) -> None:
    answers: dict[str, Any] = {"d0": [1, 2], "d1": [2, 1], "chose_1": [0, 1], bad: [0, float("nan")]}
    with pytest.raises(ValueError, match=rf"{bad}: 1 values are not finite, the first at \[1\]"):
        two_alternatives(**answers)


def test_noticeable_differences_against_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    distance, same = rng.permutation(40).astype(float), rng.integers(0, 2, 40)
    ours = noticeable_precision(distance=distance, same=same).value
    assert ours is not None
    # scikit-learn leaves precision as it is; ours is its upper envelope.
    assert ours >= average_precision_score(same, -distance) - 1e-12
    assert noticeable_precision(distance=[1, 2, 3], same=[1, 1, 0]).value == 1
    assert noticeable_precision(distance=[1, 2, 3], same=[0, 0, 0]).value is None
    ties = [noticeable_precision(distance=[1, 1, 2], same=s).value for s in ([1, 0, 0.5], [0, 1, 0.5])]
    assert ties[0] == ties[1]


def test_odd_one_out_shares_the_credit_of_ties() -> None:
    found = odd_one_out(similarities=[[3, 2, 1], [1, 3, 3], [1, 1, 1]], odd=[2, 0, 1])
    assert found.value == pytest.approx((1 + 0.5 + 1 / 3) / 3)
    assert normalised_odd_one_out(accuracy=1 / 3) == pytest.approx(0)
    assert normalised_odd_one_out(accuracy=0.9) > 1  # above people, and shown so


def test_vectors_without_length() -> None:
    zero, one = np.zeros((1, 3)), np.ones((1, 3))
    assert cosine_distance(x=zero, y=one).tolist() == [1.0]
    assert cosine_distance(x=zero, y=zero).tolist() == [0.0]


def test_constant_features_count_for_nothing() -> None:
    references = np.array([[0.0, 5.0], [2.0, 5.0]])
    assert standardised_distance(x=[[0, 5]], y=[[3, 9]], references=references).tolist() == [3.0]


@given(VECTORS, VECTORS)
def test_distances_are_never_negative_and_zero_for_equals(x: Any, y: Any) -> None:
    found = cosine_distance(x=x, y=y)
    assert ((found >= 0) & (found <= 2)).all()
    assert cosine_distance(x=x, y=x).tolist() == [0.0] * len(x)
    assert found == pytest.approx(cosine_distance(x=y, y=x))
    assert (standardised_distance(x=x, y=y, references=x) >= 0).all()


def test_structures() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 6, 6))
    rows = np.triu_indices(6, 1)
    assert structure_agreement(x=a, y=b).value == pytest.approx(stats.spearmanr(a[rows], b[rows]).statistic)
    assert structure_agreement(x=a, y=np.ones((6, 6))).value is None
    assert structure_agreement(x=a[:3, :3], y=b[:3, :3]).value is None


def test_values_that_are_not_finite_are_named_by_position() -> None:
    with pytest.raises(ValueError, match=r"positions \[1, 3\]"):
        spearman(x=[1, float("nan"), 2, 3], y=[1, 2, 3, float("inf")])


@given(hnp.arrays(np.float64, (3, 12), elements=st.integers(0, 5).map(float)), st.integers(0, 50))
def test_ranks_and_correlations_agree_with_scipy(maps: Any, seed: int) -> None:
    other = np.random.default_rng(seed).integers(0, 4, maps.shape).astype(float)
    assert np.array_equal(average_ranks(maps), stats.rankdata(maps, axis=1))
    found = rank_correlations(maps=maps, ranked=average_ranks(other))
    for value, a, b in zip(found, maps, other, strict=True):
        if np.ptp(a) and np.ptp(b):
            assert value == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-10)
            assert spearman(x=a, y=b).value == pytest.approx(value, abs=1e-10)
        else:
            assert np.isnan(value)
