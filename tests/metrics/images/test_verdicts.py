"""Verdicts on metrics: by hand, against scipy, by their properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from bench.metrics.images.verdicts import judge, steadiness

DRAWS = [9.0, 10.0, 11.0]  # mean 10, standard deviation 1
NUMBERS = st.floats(-100, 100, width=16)


@pytest.mark.parametrize(
    ("values", "worse", "word", "z"),
    [
        ([11.0, 12, 14], 1, "tracks", 4),
        ([11.0, 12, 14], -1, "fooled", -4),
        ([9.0, 8, 6], -1, "tracks", 4),
        ([11.0, 12, 12.9], 1, "blind", 2.9),
        ([20.0, 30, 10], 1, "blind", 0),  # what it says in between does not count
        ([30.0, 14, 20], 1, "erratic", 10),  # noticed, in the wrong order
        ([14.0], 1, "tracks", 4),
        ([6.0], 1, "fooled", -4),
    ],
)
def test_by_hand(values: list[float], worse: int, word: str, z: float) -> None:
    found = judge(values=values, held_out=DRAWS, worse=worse)
    assert (found.word, found.z) == (word, pytest.approx(z))


@pytest.mark.parametrize(
    ("values", "spread", "word"),
    [
        ([10.0, 12.9, 7.1], 1.0, "steady"),
        ([10.0, 13.1, 10], 1.0, "erratic"),
        ([10.0, 12.9, 10], 0.5, "erratic"),  # means over four draws scatter half as much
        ([10.0, 6.9], 1.0, "erratic"),  # better is no excuse
        ([10.0, 10.14, 9.86], 0.01, "steady"),  # beyond chance, but less than 3 % in all
        ([10.0, 10.31], 0.01, "erratic"),
    ],
)
def test_steadiness_by_hand(values: list[float], spread: float, word: str) -> None:
    assert steadiness(values=values, held_out=DRAWS, worse=1, spread=spread).word == word


@given(st.lists(NUMBERS, min_size=2, max_size=8))
def test_tau_is_that_of_scipy(values: list[float]) -> None:
    found = judge(values=values, held_out=DRAWS, worse=1).tau
    expected = kendalltau(range(len(values)), values)[0]
    assert found == (pytest.approx(expected, abs=1e-12) if expected == expected else 0.0)


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.lists(NUMBERS, min_size=2, max_size=6, unique=True))
def test_a_metric_turned_round_gets_the_same_verdict(values: list[float], draws: list[float]) -> None:
    plain = judge(values=values, held_out=draws, worse=1)
    turned = judge(values=[-v for v in values], held_out=[-v for v in draws], worse=-1)
    assert (turned.word, turned.tau) == (plain.word, pytest.approx(plain.tau))
    assert turned.z == pytest.approx(plain.z, rel=1e-6, abs=1e-9)


def test_draws_that_agree_make_any_change_count() -> None:
    found = judge(values=[1.0 + 1e-6], held_out=[1.0, 1.0], worse=1)
    assert found.word == "tracks"
    assert judge(values=[5.0], held_out=[0.0, 0.0], worse=1).z == 1e6  # finite, so that it can be stored
    assert judge(values=[0.0], held_out=[0.0, 0.0], worse=1).word == "blind"


@pytest.mark.parametrize(("values", "draws"), [([], [1.0, 2.0]), ([1.0], [1.0])])
def test_too_little_is_refused(values: list[float], draws: list[float]) -> None:
    with pytest.raises(ValueError, match="needs a value and two held-out draws"):
        judge(values=values, held_out=draws, worse=1)
