"""Paired tests: reference values, exactness, pairing errors, multiple comparisons."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.stats.paired import (
    PairingError,
    benjamini_hochberg,
    corrected_t,
    holm,
    pair,
    paired_t,
    sign_flip,
    wilcoxon,
    win_rate,
)

quick = settings(deadline=None, max_examples=40)
A = [0.71, 0.74, 0.70, 0.78, 0.73]
B = [0.69, 0.70, 0.70, 0.72, 0.71]
TEN = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
differences = st.lists(st.integers(-20, 20), min_size=2, max_size=10)


def test_paired_t_reference() -> None:
    test = paired_t(A, B)
    assert [test.statistic, test.p_value] == pytest.approx([2.745626, 0.051606], abs=5e-7)
    assert test.low is not None
    assert test.low < 0 < test.mean  # p just above 5 %


@quick
@given(differences)
def test_paired_t_agrees_with_scipy(d: list[int]) -> None:
    test = paired_t(d, [0] * len(d))
    if np.ptp(d) == 0:
        assert test.p_value == (1.0 if d[0] == 0 else 0.0)
        return
    expected = stats.ttest_rel(d, [0] * len(d))
    assert [test.statistic, test.p_value] == pytest.approx([expected.statistic, expected.pvalue], rel=1e-9)
    assert (test.low, test.high) == pytest.approx(
        tuple(expected.confidence_interval(0.95)), rel=1e-9, abs=1e-9
    )


def test_corrected_t_reference_and_its_limit() -> None:
    d = [0.01, 0.02, 0.015, 0, 0.03, 0.01, 0.02, 0.005, 0.01, 0.02]
    test = corrected_t(d, 1 / 9)
    assert [test.statistic, test.p_value] == pytest.approx([3.479920, 0.006939], abs=5e-7)
    assert corrected_t(d, 0.0).p_value == paired_t(d, [0] * 10).p_value


def test_sign_flip_reference() -> None:
    test = sign_flip(A, B)
    assert (test.method, test.p_value) == ("sign_flip_exact", 4 / 32)


@quick
@given(differences)
def test_exact_sign_flip_is_the_count_over_all_patterns(d: list[int]) -> None:
    reached = [abs(np.dot(s, d)) >= abs(sum(d)) for s in itertools.product([-1, 1], repeat=len(d))]
    assert sign_flip(d, [0] * len(d)).p_value == np.mean(reached)


@pytest.mark.parametrize("rounded", [True, False])
def test_random_sign_flip_estimates_the_exact_p(monkeypatch: pytest.MonkeyPatch, rounded: bool) -> None:
    d = np.random.default_rng(4).normal(0.4, 1, 16)
    d = np.round(d) if rounded else d  # equal magnitudes take another path than distinct ones
    exact = sign_flip(d, 0 * d).p_value
    monkeypatch.setattr("bench.stats.paired.EXACT_UP_TO", 0)
    test = sign_flip(d, 0 * d)
    assert test.method == "sign_flip_random"
    assert test.p_value == pytest.approx(exact, abs=4 * (exact / 100_000) ** 0.5)
    assert test == sign_flip(d, 0 * d)


def test_random_sign_flip_never_reports_zero() -> None:
    assert sign_flip(np.ones(500), np.zeros(500)).p_value == 1 / 100_001


def test_wilcoxon_reference() -> None:
    assert wilcoxon(A, B).p_value == 0.125
    assert wilcoxon(A, A).p_value == 1.0


@quick
@given(st.permutations(range(1, 12)), st.lists(st.sampled_from([-1, 1]), min_size=11, max_size=11))
def test_wilcoxon_agrees_with_scipy(sizes: list[int], signs: list[int]) -> None:
    d = np.array(sizes) * np.array(signs)
    assert wilcoxon(d, 0 * d).p_value == pytest.approx(stats.wilcoxon(d).pvalue)


@quick
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_win_rates_of_both_sides_sum_to_one(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    forth, back = win_rate(a, b), win_rate(b, a)
    assert forth.rate + back.rate == pytest.approx(1.0)
    assert (forth.wins, forth.ties, forth.losses) == (back.losses, back.ties, back.wins)
    assert forth.wins + forth.ties + forth.losses == len(pairs)


def test_pairing_follows_the_keys_not_the_order() -> None:
    keys, a, b = pair([("t", 0), ("t", 1)], [1, 2], [("t", 1), ("t", 0)], [20, 10])
    assert (keys, a.tolist(), b.tolist()) == ((("t", 0), ("t", 1)), [1, 2], [10, 20])


def test_unpaired_units_are_counted_on_both_sides() -> None:
    with pytest.raises(
        PairingError, match=r"1 of the 2 units of B are missing in A and 2 of the 3 units of A"
    ) as e:
        pair(["a", "b", "c"], [1, 2, 3], ["c", "d"], [1, 2])
    assert (e.value.missing_a, e.value.missing_b) == (1, 2)


def test_repeated_keys_are_refused() -> None:
    with pytest.raises(ValueError, match=r"1 repeated key.*'a'"):
        pair(["a", "a"], [1, 2], ["a", "b"], [1, 2])


def test_adjusted_p_reference() -> None:
    assert holm(TEN).tolist() == pytest.approx(
        [0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615], abs=1e-12
    )
    assert benjamini_hochberg(TEN).tolist() == pytest.approx(
        [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.105714, 0.216, 0.216, 0.216], abs=5e-7
    )


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjustments_are_ordered_and_equivariant(p: list[float]) -> None:
    strict, loose = holm(p), benjamini_hochberg(p)
    assert (np.asarray(p) <= loose + 1e-15).all()
    assert (loose <= strict + 1e-12).all()
    assert (strict <= 1).all()
    order = np.random.default_rng(len(p)).permutation(len(p))
    assert holm(np.asarray(p)[order]).tolist() == strict[order].tolist()
    assert benjamini_hochberg(np.asarray(p)[order]).tolist() == loose[order].tolist()
