"""Soft agreement with people: by hand, against the published table of CIFAR-10H, and by its properties."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bench.metrics.alignment.calibration import fitted_temperature, softmax, split_half
from bench.metrics.alignment.result import HumanDataError
from bench.metrics.alignment.uncertainty import (
    SoftAgreement,
    clipped,
    distributions,
    entropies,
    second_choice,
    soft_agreement,
)

Table = Callable[[str], pd.DataFrame]
COUNTS, PREDICTIONS = "cifar10h_counts.parquet", "cifar10_test_crossval_probs.parquet"


def people(table: Table) -> tuple[Any, Any, Any]:
    frame = table(COUNTS)
    counts = frame[[f"c{i}" for i in range(10)]].to_numpy(dtype=np.int64)
    return counts, distributions(counts), frame["label"].to_numpy(dtype=np.int64)


def rounded(found: SoftAgreement) -> list[float | None]:
    names = ("accuracy", "cross_entropy", "kl", "js", "tv", "rho_entropy", "second_choice", "confusion_rho")
    return [getattr(found, name).value for name in names]


def predictor(name: str, p: Any, labels: Any, table: Table) -> Any:
    if name == "network":
        return table(PREDICTIONS).to_numpy(dtype=np.float64)
    if name == "class means":
        return np.stack([p[labels == c].mean(axis=0) for c in range(10)])[labels]
    if name == "one-hot":
        return 0.999 * np.eye(10)[labels] + 0.0001
    return p if name == "people" else np.full_like(p, 0.1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("people", (0.9921, 0.1545, 0, 0, 0, 1, 1, 1)),
        ("network", (0.9294, 0.5135, 0.3591, 0.0467, 0.1015, 0.3788, 0.3804, 0.8115)),
        ("class means", (1, 0.2565, 0.1021, 0.0220, 0.0629, 0.2358, 0.5041, 1)),
        # All its entropies are equal: a correlation with them (-0.0554 has been printed) is one with rounding errors.
        ("one-hot", (1, 0.4398, 0.2853, 0.0186, 0.0480, None, 0.1081, None)),
        ("uniform", (0.1, 2.3026, 2.1481, 0.4908, 0.8649, None, 0.0808, None)),
    ],
)
def test_the_published_table(name: str, expected: tuple[float | None, ...], table: Table) -> None:
    _, p, labels = people(table)
    found = soft_agreement(p=p, q=predictor(name, p, labels, table), labels=labels)
    for value, wanted in zip(rounded(found), expected, strict=True):
        assert value == (None if wanted is None else pytest.approx(wanted, abs=5e-4))
    assert found.second_choice.n_used == 4727


def test_what_is_known_of_the_people(table: Table) -> None:
    counts, p, labels = people(table)
    assert p[np.arange(len(p)), labels].mean() == pytest.approx(0.9523, abs=5e-5)
    assert (entropies(p) == 0).mean() == pytest.approx(0.4393, abs=5e-5)
    assert entropies(p).mean() == pytest.approx(0.15446, abs=5e-6)
    found = split_half(counts=counts)
    assert found.js == pytest.approx(0.0124, abs=5e-3)
    assert found.tv == pytest.approx(0.0368, abs=5e-3)
    assert found.rho_entropy == pytest.approx(0.539, abs=5e-3)
    assert found.corrected == pytest.approx(0.700, abs=5e-3)


def test_images_and_answers_are_in_the_same_order(table: Table) -> None:
    """Rows of the network shuffled within classes lose what they know of single images."""
    _, p, labels = people(table)
    q, rng = table(PREDICTIONS).to_numpy(dtype=np.float64), np.random.default_rng(0)
    shuffled = q.copy()
    within = {"as it is": [], "shuffled": []}  # type: ignore[var-annotated]
    for c in range(10):
        rows = np.flatnonzero(labels == c)
        shuffled[rows] = q[rng.permutation(rows)]
        for name, values in (("as it is", q), ("shuffled", shuffled)):
            found = soft_agreement(p=p[rows], q=values[rows], labels=labels[rows]).rho_entropy.value
            within[name].append(found)
    assert np.mean(within["as it is"]) == pytest.approx(0.334, abs=5e-4)
    assert abs(np.mean(within["shuffled"])) < 0.03
    overall = soft_agreement(p=p, q=shuffled, labels=labels).rho_entropy.value
    assert overall == pytest.approx(0.094, abs=0.01)


def test_by_hand() -> None:
    found = soft_agreement(p=[[0.5, 0.5], [1, 0]], q=[[0.5, 0.5], [0.5, 0.5]], labels=[0, 0])
    assert found.cross_entropy.value == pytest.approx(math.log(2))
    assert found.kl.value == pytest.approx(math.log(2) / 2)
    assert found.tv.value == pytest.approx(0.25)
    assert found.ece == pytest.approx(0.5)
    js = (-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) - math.log(2) / 2) / 2
    assert found.js.value == pytest.approx(js)
    assert found.rho_entropy.value is None
    assert "same entropy" in found.rho_entropy.reason


def test_second_choices_need_a_unique_second() -> None:
    p = np.array([[0.6, 0.4, 0.0], [0.6, 0.2, 0.2], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    q = np.array([[0.5, 0.4, 0.1]] * 4)
    assert (second_choice(p, q).value, second_choice(p, q).n_used, second_choice(p, q).n_dropped) == (
        1.0,
        1,
        3,
    )


def test_a_temperature_is_found_again() -> None:
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((400, 5))
    assert fitted_temperature(p=softmax(logits, 2.0), logits=logits) == pytest.approx(2.0, rel=1e-2)


@pytest.mark.parametrize("counts", [[[0, 0]], [[1, -1]], [[0.5, 1]], [[float("nan"), 1]]])
def test_impossible_counts_are_refused(counts: Any) -> None:
    with pytest.raises(HumanDataError, match=r"rows \[0\]"):
        distributions(counts)


@given(hnp.arrays(np.float64, (6, 4), elements=st.floats(0.0, 1.0)), st.integers(0, 100))
def test_divergences_are_bounded_and_symmetric_where_they_should_be(raw: Any, seed: int) -> None:
    p = clipped(np.random.default_rng(seed).random((6, 4)))
    labels = np.array([0, 1, 2, 3, 0, 1])
    there, back = (soft_agreement(p=a, q=b, labels=labels) for a, b in ((p, clipped(raw)), (clipped(raw), p)))
    assert there.js.value == pytest.approx(back.js.value, abs=1e-9)
    assert 0 <= (there.js.value or 0) <= math.log(2)
    assert 0 <= (there.tv.value or 0) <= 1
    assert (there.kl.value or 0) >= 0
    itself = soft_agreement(p=p, q=p, labels=labels)
    assert itself.kl.value == pytest.approx(0, abs=1e-9)
