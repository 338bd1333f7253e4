"""All pairs at once agree with one pair at a time, and the error rate over all of them is held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stats.compare import TaskPairs, compare
from bench.stats.eprocess import RunningComparison
from bench.stats.groups import pairwise_anytime, pairwise_t, separable
from bench.stats.paired import corrected_t, holm, paired_t


@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), n=st.integers(2, 8))
def test_all_pairs_are_each_pair_with_holm(seed: int, k: int, n: int) -> None:
    values = np.random.default_rng(seed).normal(size=(k, n))
    i, j = np.triu_indices(k, 1)
    single = holm([paired_t(values[a], values[b]).p_value for a, b in zip(i, j, strict=True)])
    np.testing.assert_allclose(pairwise_t(values)[i, j], single, rtol=1e-9)


def test_resampled_splits_use_the_corrected_test() -> None:
    values = np.random.default_rng(0).normal(size=(2, 10))
    expected = corrected_t(values[0] - values[1], 1 / 9).p_value
    assert pairwise_t(values, test_over_train=1 / 9)[0, 1] == pytest.approx(expected, rel=1e-9)


def test_what_cannot_be_tested_is_nan() -> None:
    values = np.array([[0.1, 0.2, 0.4], [0.3, 0.4, 0.6], [0.5, np.nan, 0.7], [0.9, 0.1, 0.3]])
    p = pairwise_t(values)
    assert np.isnan(p[0, 1])  # the same difference each time, but for rounding
    assert np.isnan(p[2]).all()
    assert np.isnan(np.diag(p)).all()
    assert p[0, 3] == p[3, 0]
    assert not separable(p)[2].any()
    assert np.isnan(pairwise_t(values[:, :1])).all()


@given(seed=st.integers(0, 10**6), k=st.integers(2, 4))
def test_anytime_pairs_are_running_comparisons(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.clip(rng.normal(0.5, 0.2, (k, 60)) + 0.1 * np.arange(k)[:, None], 0, 1)
    found = pairwise_anytime(scores * 4 - 1, lo=-1.0, hi=3.0)
    for at, (i, j) in enumerate(zip(found.first, found.second, strict=True)):
        running = RunningComparison(lo=-1.0, hi=3.0)
        for a, b in zip(scores[i] * 4 - 1, scores[j] * 4 - 1, strict=True):
            running.update(float(a), float(b))
        assert found.low[at] == pytest.approx(running.low, abs=1e-8)
        assert found.high[at] == pytest.approx(running.high, abs=1e-8)
        assert found.log_e[at] == pytest.approx(max(running.max_log_e_a, running.max_log_e_b), abs=1e-9)


def test_equal_models_are_told_apart_at_most_as_often_as_allowed() -> None:
    rng = np.random.default_rng(1)
    runs = 400
    wrong_t = sum(separable(pairwise_t(rng.normal(size=(5, 4)))).any() for _ in range(runs))
    streams = rng.integers(0, 2, (runs, 3, 200)).astype(float)
    wrong_e = sum((pairwise_anytime(s).adjusted_p <= 0.05).any() for s in streams)
    allowed = runs * (0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5)
    assert wrong_t <= allowed
    assert wrong_e <= allowed


def test_a_constant_difference_is_no_claim() -> None:
    (line,) = compare(
        [
            TaskPairs(
                task="t", metric="m", keys_a=(0, 1, 2), a=(0.1, 0.2, 0.4), keys_b=(0, 1, 2), b=(0.3, 0.4, 0.6)
            )
        ]
    )
    assert (line.verdict, line.p_value, line.low) == ("no_spread", None, None)
    assert "no claim" in line.words("a", "b")


def test_refusals() -> None:
    with pytest.raises(ValueError, match="two models"):
        pairwise_anytime(np.ones((1, 4)))
    with pytest.raises(ValueError, match="outside"):
        pairwise_anytime(np.full((2, 4), 2.0))
    with pytest.raises(ValueError, match="test_over_train"):
        pairwise_t(np.ones((2, 4)), test_over_train=-1.0)
