"""Copies and membership inference: known answers, and a leak that closest-record distances don't see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from bench.metrics.tabular.copies import exact_copies
from bench.metrics.tabular.gower import GowerSpace
from bench.metrics.tabular.membership import membership_inference
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.roc import auc, roc_curve, tpr_at
from bench.metrics.tabular.table import EncodedTable, concatenate
from tests.metrics.tabular.encode import numeric_table


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_auc_equals_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positives, negatives = rng.integers(0, 5, 20).astype(float), rng.integers(0, 5, 30).astype(float)
    labels = np.r_[np.ones(20), np.zeros(30)]
    expected = roc_auc_score(labels, np.r_[positives, negatives])
    assert auc(positives, negatives) == pytest.approx(expected)
    false, true = roc_curve(positives, negatives)
    assert np.trapezoid(true, false) == pytest.approx(expected)


def test_the_rate_at_few_false_alarms() -> None:
    negatives = np.arange(100.0)
    assert tpr_at(np.full(10, 200.0), negatives, 0.01) == 1
    assert tpr_at(np.full(10, -1.0), negatives, 0.01) == 0
    assert tpr_at(np.r_[np.full(3, 98.5), np.full(7, 0.0)], negatives, 0.01) == pytest.approx(0.3)
    assert tpr_at(np.zeros(10), np.zeros(10), 0.01) == pytest.approx(0.01), "equal scores are a coin toss"


def value(result: Result) -> float:
    assert result.value is not None
    return result.value


def test_exact_copies_are_counted_beyond_natural_ones() -> None:
    real = numeric_table([0.0, 1.0, 2.0, np.nan])
    found = exact_copies(
        real=real, generated=numeric_table([0.0, np.nan, 5.0, 6.0]), holdout=numeric_table([2.0, 9, 8, 7])
    )
    assert found.value == 0.25
    assert found.facets == {"generated_share": 0.5, "holdout_share": 0.25}
    assert found.detail["row"].tolist() == [0, 1]
    assert exact_copies(real=real, generated=numeric_table([5.0]), holdout=real).value == 0


class TestKnownAnswers:
    def attack(self, split: dict[str, EncodedTable], generated: EncodedTable) -> dict[str, Result]:
        return membership_inference(real=split["train"], generated=generated, holdout=split["holdout"])

    def test_a_copy_gives_everyone_away(self, adult_split: dict[str, EncodedTable]) -> None:
        found = self.attack(adult_split, adult_split["train"])
        assert value(found["mia_auc"]) > 0.99
        assert value(found["mia_tpr01"]) > 0.97

    def test_a_bootstrap_gives_most_away(self, adult_split: dict[str, EncodedTable]) -> None:
        train = adult_split["train"]
        drawn = train.take(np.random.default_rng(3000).integers(len(train), size=len(train)))
        found = self.attack(adult_split, drawn)
        assert value(found["mia_auc"]) == pytest.approx(0.80, abs=0.03)
        assert value(found["mia_tpr01"]) == pytest.approx(0.62, abs=0.03)

    def test_fresh_rows_give_nobody_away(self, adult_split: dict[str, EncodedTable]) -> None:
        found = self.attack(adult_split, adult_split["test"].take(np.arange(4000)))
        assert value(found["mia_auc"]) == pytest.approx(0.5, abs=0.03)
        assert value(found["mia_tpr01"]) == pytest.approx(0.01, abs=0.03)
        low, high = found["mia_auc"].interval or (0, 0)
        assert low <= value(found["mia_auc"]) <= high
        assert 0.01 < high - low < 0.1
        assert set(found["mia_auc"].facets) == {"distance", "density-1", "density-5"}

    def test_the_seed_decides(self, adult_split: dict[str, EncodedTable]) -> None:
        few = {name: t.take(np.arange(500)) for name, t in adult_split.items()}
        first, again, other = (
            membership_inference(real=few["train"], generated=few["test"], holdout=few["holdout"], seed=s)
            for s in (1, 1, 2)
        )
        assert first["mia_auc"].value == again["mia_auc"].value
        assert first["mia_auc"].facets != other["mia_auc"].facets


def test_a_partial_leak_is_found_by_the_attack_and_hardly_moves_the_median_distance(
    adult_split: dict[str, EncodedTable],
) -> None:
    """A tenth of fresh rows replaced by training rows; the median becomes the 44 % quantile, no more."""
    train, test, holdout = (adult_split[n] for n in ("train", "test", "holdout"))
    leaked = train.take(np.arange(400))
    fresh = test.take(np.arange(4000))
    generated = concatenate([test.take(np.arange(3600)), leaked])
    members = train.take(np.arange(2000))
    found = membership_inference(real=members, generated=generated, holdout=holdout)
    assert value(found["mia_tpr01"]) == pytest.approx(0.20, abs=0.03)
    space = GowerSpace(train)
    leaky, clean = (space.nearest(t, train).distances for t in (generated, fresh))
    assert np.median(leaky) == pytest.approx(np.quantile(clean, 0.4 / 0.9), rel=0.1)
    assert np.median(leaky) > 0.7 * np.median(clean)


def test_tables_too_small_to_attack_have_no_value() -> None:
    few = numeric_table([0.0, 1.0, 2.0])
    found = membership_inference(real=few, generated=few, holdout=few)
    assert all(r.value is None and r.reasons for r in found.values())
    five = numeric_table(np.arange(5.0))
    assert membership_inference(real=five, generated=five, holdout=five)["mia_auc"].value is not None
