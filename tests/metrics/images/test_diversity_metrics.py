"""Vendi, effective rank, class balance, inception score: known values and limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.metrics.images import class_balance, effective_rank, inception_score, vendi

Array = npt.NDArray[Any]


def cloud(seed: int, n: int = 50, d: int = 6) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_vendi_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    result = vendi(generated=small["gen"])
    assert result.order_1 == pytest.approx(
        small_values["vendi_score0.0.3 score_dual gen normalize"], rel=1e-9
    )
    assert result.order_2 == pytest.approx(small_values["dgm_eval vendi linear q2 gen"], rel=1e-9)
    assert result.order_inf == pytest.approx(small_values["dgm_eval vendi linear qinf gen"], rel=1e-9)
    train = vendi(generated=small["train"]).order_1
    assert train == pytest.approx(small_values["dgm_eval vendi linear q1 train"], rel=1e-9)


def test_both_sides_of_the_kernel_give_one_value() -> None:
    """n = d + 1 uses the d x d matrix, n = d the n x n kernel; zero columns change nothing but the side."""
    points = cloud(0, 9, 8)
    padded = np.hstack([points, np.zeros((9, 8))])
    assert vendi(generated=padded).order_1 == pytest.approx(vendi(generated=points).order_1, rel=1e-12)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), d=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_vendi_is_a_number_of_samples(seed: int, n: int, d: int) -> None:
    points = cloud(seed, n, d)
    result = vendi(generated=points)
    assert 1 - 1e-9 <= result.order_inf <= result.order_2 + 1e-9
    assert result.order_2 <= result.order_1 + 1e-9 <= min(n, d) + 2e-9
    doubled = vendi(generated=np.vstack([points, 7 * points]))
    assert doubled.order_1 == pytest.approx(result.order_1, rel=1e-9)


def test_vendi_of_equal_orthogonal_and_zero_rows() -> None:
    assert vendi(generated=np.ones((9, 4))).order_1 == pytest.approx(1, abs=1e-12)
    for order in ("order_1", "order_2", "order_inf"):
        assert getattr(vendi(generated=3 * np.eye(7)), order) == pytest.approx(7, rel=1e-12)
    assert vendi(generated=np.zeros((4, 3))).order_1 == 1
    with_zeros = vendi(generated=np.vstack([np.eye(3), np.zeros((5, 3))]))
    assert with_zeros.order_1 == pytest.approx(3, rel=1e-12)


def test_effective_rank_counts_directions_of_equal_spread() -> None:
    corners = np.vstack([np.eye(6), -np.eye(6)])
    collapsed = corners * np.array([1, 1, 0, 0, 0, 0])
    result = effective_rank(real=corners + 5, generated=collapsed)
    assert (result.real, result.generated, result.ratio) == pytest.approx((6, 2, 1 / 3), rel=1e-12)


def test_effective_rank_by_definition_with_few_and_many_samples() -> None:
    for n in (5, 40):
        points = cloud(0, n, 12)
        values = np.linalg.eigvalsh(np.cov(points.T)).clip(min=0)
        shares = values[values > 1e-12] / values.sum()
        expected = math.exp(-(shares * np.log(shares)).sum())
        assert effective_rank(real=points, generated=points).real == pytest.approx(expected, rel=1e-9)


def test_effective_rank_without_spread() -> None:
    result = effective_rank(real=cloud(0), generated=np.ones((50, 6)))
    assert (result.generated, result.ratio) == (0, 0)
    assert math.isnan(effective_rank(real=np.ones((50, 6)), generated=cloud(0)).ratio)


def test_class_balance_by_hand() -> None:
    real = np.repeat(np.arange(4), 25)
    result = class_balance(real=real, generated=np.repeat([0, 1, 2, 3, 9], [40, 40, 17, 2, 1]))
    assert result.total_variation == pytest.approx((0.15 + 0.15 + 0.08 + 0.23 + 0.01) / 2)
    assert result.dropped == (3,)
    assert class_balance(real=real, generated=real[::-1].copy()).total_variation == 0
    assert class_balance(real=real, generated=np.array([77])).total_variation == 1


@pytest.mark.parametrize("bad", [np.array([0.5]), np.array([[1]]), [1, 2], np.array([], dtype=int)])
def test_labels_are_whole_numbers(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^generated: "):
        class_balance(real=np.array([1, 2]), generated=bad)


def test_inception_score_limits() -> None:
    assert inception_score(logits=np.full((9, 5), 3.0)).score == 1
    assert inception_score(logits=1e6 * np.eye(5)).score == pytest.approx(5, rel=1e-12)
    one_class = np.tile(np.array([[50.0, 0, 0]]), (8, 1))
    assert inception_score(logits=one_class).score == pytest.approx(1, abs=1e-12)


def test_inception_score_by_definition() -> None:
    logits = cloud(0, 100, 4)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = np.exp((p * np.log(p / p.mean(0))).sum(1).mean())
    assert inception_score(logits=logits).score == pytest.approx(expected, rel=1e-12)
    assert inception_score(logits=logits + 1e4).score == pytest.approx(expected, rel=1e-8)
