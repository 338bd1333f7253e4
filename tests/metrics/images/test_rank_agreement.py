"""Rank agreement with people: by hand, against scipy, by its properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from bench.metrics.images.rank_agreement import rank_agreement


def test_by_hand() -> None:
    found = rank_agreement(metric=[1.0, 2, 3, 4], rates=[1.0, 3, 2, 4])  # 1 - 6 (0 + 1 + 1 + 0) / (4 * 15)
    assert found.value == pytest.approx(0.8)
    # atanh(.8) +- 1.959964 sqrt(1.32)
    assert (found.low, found.high, found.n) == (
        pytest.approx(-0.8188, abs=1e-4),
        pytest.approx(0.9975, abs=1e-4),
        4,
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=20))
def test_it_is_that_of_scipy_with_ties(pairs: list[tuple[int, int]]) -> None:
    first, second = (list(map(float, part)) for part in zip(*pairs, strict=True))
    if min(first) == max(first) or min(second) == max(second):
        with pytest.raises(ValueError, match="all values are equal"):
            rank_agreement(metric=first, rates=second)
    else:
        found = rank_agreement(metric=first, rates=second)
        assert found.value == pytest.approx(spearmanr(first, second)[0], abs=1e-9)
        assert found.low is None or found.low < found.value < found.high  # type: ignore[operator]


@given(st.lists(st.floats(-9, 9, width=16), min_size=4, max_size=12, unique=True))
def test_only_the_order_counts(values: list[float]) -> None:
    rates = list(np.arange(len(values), dtype=float))
    plain = rank_agreement(metric=values, rates=rates)
    assert rank_agreement(metric=[value**3 for value in map(float, values)], rates=rates).value == plain.value
    assert rank_agreement(metric=[-value for value in values], rates=rates).value == -plain.value


def test_intervals_cover_the_truth() -> None:
    """Of a correlated normal pair, whose Spearman correlation is 6 / pi asin(rho / 2)."""
    rng, rho = np.random.default_rng(0), 0.7
    truth = 6 / np.pi * np.arcsin(rho / 2)
    hits = 0
    for _ in range(400):
        x, noise = rng.standard_normal((2, 12))
        found = rank_agreement(metric=list(x), rates=list(rho * x + np.sqrt(1 - rho**2) * noise))
        hits += found.low is not None and found.low <= truth <= found.high  # type: ignore[operator]
    assert 0.91 <= hits / 400 <= 0.99


def test_complete_agreement_and_few_models_have_no_interval() -> None:
    assert rank_agreement(metric=[1.0, 2, 3, 4, 5], rates=[5.0, 4, 3, 2, 1]).low is None
    assert rank_agreement(metric=[1.0, 3, 2], rates=[1.0, 2, 3]).high is None


@pytest.mark.parametrize(
    ("metric", "rates", "message"),
    [
        ([1.0, 2], [1.0, 2], "at least 3 models"),
        ([1.0, 2, 3], [1.0, 2], "equally long"),
        ([1.0, float("nan"), 3], [1.0, 2, 3], "metric: value 1 is not finite"),
        ([1.0, 2, 3], [1.0, 2, float("inf")], "rates: value 2 is not finite"),
    ],
)
def test_bad_input_is_explained(metric: list[float], rates: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank_agreement(metric=metric, rates=rates)
