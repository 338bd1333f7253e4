"""Intervals for one number: reference values, edge cases, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.stats.intervals import (
    bca,
    clustered,
    group_mean,
    mean_t,
    proportion,
    sample_mean_interval,
)

quick = settings(deadline=None, max_examples=40)
TWELVE = [0.2, 0.5, 0.1, 0.9, 0.4, 0.7, 0.3, 0.8, 0.6, 0.35, 0.15, 0.95]
FIBONACCI = [1, 2, 2, 3, 5, 8, 13, 21, 34, 55]


def test_mean_t_reference() -> None:
    value, low, high = mean_t([0.71, 0.74, 0.70, 0.78, 0.73])
    assert [value, low, high] == pytest.approx([0.732, 0.693329, 0.770671], abs=5e-7)


def test_one_repeat_has_no_interval_and_equal_ones_have_no_width() -> None:
    assert tuple(mean_t([0.5])) == (0.5, None, None)
    assert tuple(mean_t([0.5, 0.5, 0.5])) == (0.5, 0.5, 0.5)


@quick
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(0.5, 0.999))
def test_mean_t_agrees_with_scipy(x: list[float], confidence: float) -> None:
    interval = mean_t(x, confidence=confidence)
    if np.std(x) < 1e-6 * (1 + np.abs(x).max()):
        return  # scipy's variance is all rounding there
    low, high = stats.ttest_1samp(x, 0).confidence_interval(confidence)
    assert interval.low == pytest.approx(low, rel=1e-6, abs=1e-6)
    assert interval.high == pytest.approx(high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("k", "n", "low", "high"), [(0, 20, 0.0, 0.161125), (14, 307, 0.027356, 0.075080)])
def test_wilson_reference(k: int, n: int, low: float, high: float) -> None:
    interval = proportion(k, n)
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-7)


@quick
@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy_and_never_closes(pair: tuple[int, int]) -> None:
    k, n = pair
    interval = proportion(k, n)
    low, high = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert interval.low is not None
    assert interval.high is not None
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=1e-9)
    assert 0 <= interval.low <= k / n <= interval.high <= 1
    assert interval.low < interval.high


@pytest.mark.parametrize(
    ("x", "low", "high", "tolerance"), [(TWELVE, 0.3458, 0.6625, 0.01), (FIBONACCI, 6.5, 29.0, 0.3)]
)
def test_bca_reference(x: list[float], low: float, high: float, tolerance: float) -> None:
    interval = bca(x, resamples=99_999)
    assert interval.method == "bca"
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=tolerance)


def test_bca_is_deterministic_and_follows_its_generator() -> None:
    assert bca(TWELVE) == bca(TWELVE)
    assert bca(TWELVE, rng=np.random.default_rng(1)) != bca(TWELVE, rng=np.random.default_rng(2))


def test_bca_edge_cases() -> None:
    assert tuple(bca([0.3, 0.3, 0.3])) == (pytest.approx(0.3), pytest.approx(0.3), pytest.approx(0.3))
    assert tuple(bca([0.3])) == (0.3, None, None)


def test_undefined_correction_falls_back_to_the_percentile_interval_and_says_so() -> None:
    interval = bca([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], np.median)
    assert interval.method == "percentile"
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= 1.0 <= interval.high


def test_bca_in_chunks_equals_bca_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bca(TWELVE)
    monkeypatch.setattr("bench.stats.intervals._CHUNK_BYTES", 8 * 12 * 100)
    assert bca(TWELVE) == whole


def test_clusters_of_one_are_plain_samples() -> None:
    assert tuple(clustered(TWELVE, range(12))) == pytest.approx(tuple(bca(TWELVE)), abs=1e-12)


def test_copies_within_a_cluster_add_no_information() -> None:
    once = clustered(TWELVE, range(12))
    copied = clustered(np.repeat(TWELVE, 9), np.repeat(np.arange(12), 9))
    naive = bca(np.repeat(TWELVE, 9))
    assert tuple(copied) == pytest.approx(tuple(once), abs=0.01)  # sums that tie on paper sort by rounding
    assert copied.high - copied.low > 2 * (naive.high - naive.low)  # type: ignore[operator]


def test_clustered_coverage_where_the_naive_interval_fails() -> None:
    rng = np.random.default_rng(0)
    names = np.repeat(np.arange(20), 8)
    hits = np.zeros(2)
    for _ in range(150):
        x = rng.normal(size=20)[names] + 0.2 * rng.normal(size=160)
        for i, interval in enumerate((clustered(x, names, resamples=499), bca(x, resamples=499))):
            hits[i] += interval.low <= 0 <= interval.high  # type: ignore[operator]
    assert hits[0] / 150 > 0.85
    assert hits[1] / 150 < 0.65


def test_one_cluster_has_no_interval() -> None:
    assert tuple(clustered([0.1, 0.9], ["a", "a"])) == (0.5, None, None)


def test_binary_samples_never_get_zero_width() -> None:
    for x, groups in (
        ([1, 1, 1], None),
        ([0, 0, 0, 0], ["a", "a", "b", "b"]),
        ([1, 0, 1, 0], ["a", "a", "b", "b"]),
    ):
        interval = sample_mean_interval(x, clusters=groups)
        assert interval.value == np.mean(x)
        assert interval.low < interval.high  # type: ignore[operator]


def test_sample_mean_interval_chooses_by_the_data() -> None:
    assert sample_mean_interval([0, 1, 1]).method == "wilson"
    assert sample_mean_interval(TWELVE) == bca(TWELVE)
    assert sample_mean_interval(TWELVE, clusters=range(12)).method == "bca"


def test_group_mean_reference() -> None:
    group = group_mean([0.8, 0.4], [0.01, 0.05])
    assert [group.value, group.se] == pytest.approx([0.6, 0.025495], abs=5e-7)
    assert group.se != pytest.approx(0.00986, abs=1e-4)  # the size-weighted error of another estimator
    assert group.high - group.low == pytest.approx(2 * 1.959964 * group.se, rel=1e-6)
