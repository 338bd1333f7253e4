"""E-values of many claims."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.stats.evalues import anytime_p, arrival_level, e_bh, holm_e

quick = settings(deadline=None, max_examples=40)
log_es = st.lists(st.floats(-5, 15), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("e", "rejected"),
    [([120, 60, 40, 3, 0.5], [True, True, True, False, False]), ([40, 25, 10, 3, 0.5], [False] * 5)],
)
def test_e_bh_reference(e: list[float], rejected: list[bool]) -> None:
    assert e_bh(np.log(e), alpha=0.05).tolist() == rejected


@quick
@given(log_es)
def test_e_bh_is_its_definition(log_e: list[float]) -> None:
    k = len(log_e)
    ordered = sorted(log_e, reverse=True)
    best = max((i for i in range(1, k + 1) if ordered[i - 1] >= np.log(k / (0.05 * i)) - 1e-12), default=0)
    assert e_bh(log_e).sum() == best
    assert e_bh(log_e)[np.argsort(log_e)[::-1][:best]].all()


@quick
@given(log_es)
def test_controlling_the_family_is_stricter_than_the_discovery_rate(log_e: list[float]) -> None:
    assert not (holm_e(log_e) <= 0.05 - 1e-9)[~e_bh(log_e)].any()


@quick
@given(log_es)
def test_p_values_of_evidence(log_e: list[float]) -> None:
    p = anytime_p(log_e)
    assert ((p > 0) & (p <= 1)).all()
    assert (holm_e(log_e) >= p - 1e-15).all()


def test_levels_of_all_arrivals_sum_to_alpha() -> None:
    levels = [arrival_level(j, alpha=0.05) for j in range(1, 20_001)]
    assert levels[0] == pytest.approx(0.05 * 6 / np.pi**2)
    assert 0.05 * (1 - 1e-4) < sum(levels) < 0.05
    with pytest.raises(ValueError, match="order of arrival"):
        arrival_level(0)


def test_false_discoveries_of_e_bh_under_dependence() -> None:
    # 8 of 10 hypotheses true; log-normal e-values of mean 1 that all share one factor.
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(2_000, 1))
    log_e = 2 * (0.8 * shared + 0.6 * rng.normal(size=(2_000, 10))) - 2
    log_e[:, :2] += 6
    rejected = np.array([e_bh(row, alpha=0.1) for row in log_e])
    false_share = rejected[:, 2:].sum(axis=1) / np.maximum(1, rejected.sum(axis=1))
    assert rejected[:, :2].mean() > 0.3
    assert false_share.mean() <= 0.1 * 8 / 10
