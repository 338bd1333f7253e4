"""Agreement with public packages that compute the same numbers in another way."""

from __future__ import annotations

import numpy as np
import pytest

from bench.stats.bradley_terry import ELO, bradley_terry_from_wins
from bench.stats.confseq import hedged
from bench.stats.intervals import proportion
from bench.stats.paired import benjamini_hochberg, holm


def test_adjusted_p_values_against_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    rng = np.random.default_rng(0)
    for size in (1, 2, 17, 200):
        p = rng.random(size) ** 3
        assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])
        assert benjamini_hochberg(p) == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1])


def test_wilson_against_statsmodels() -> None:
    proportions = pytest.importorskip("statsmodels.stats.proportion", reason="statsmodels is not installed")
    for k, n in ((0, 20), (14, 307), (5, 5)):
        interval = proportion(k, n)
        assert (interval.low, interval.high) == pytest.approx(
            proportions.proportion_confint(k, n, method="wilson"), abs=1e-12
        )


def test_ratings_against_choix() -> None:
    choix = pytest.importorskip("choix", reason="choix is not installed")
    rng = np.random.default_rng(0)
    won = rng.integers(1, 20, (12, 12)).astype(float)
    np.fill_diagonal(won, 0)
    expected = choix.ilsr_pairwise_dense(won, tol=1e-12)
    found = [r.rating for r in bradley_terry_from_wins(won, [str(i) for i in range(12)])]
    assert found == pytest.approx(1000 + ELO * (expected - expected.mean()), abs=1e-4)


def test_sequence_against_confseq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "float_", np.float64, raising=False)  # confseq 0.0.11 predates NumPy 2
    betting = pytest.importorskip("confseq.betting", reason="confseq is not installed")
    x = np.random.default_rng(0).beta(2, 5, 300)
    low, high = betting.betting_cs(x, breaks=4_000, running_intersection=True, trunc_scale=1 / 2, theta=1 / 2)
    sequence = hedged(x)
    assert np.abs(sequence.low - low).max() <= 2 / 4_000
    assert np.abs(sequence.high - high).max() <= 2 / 4_000
