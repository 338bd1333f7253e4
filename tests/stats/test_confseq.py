"""Betting confidence sequences: reference values, an independent grid, validity, streaming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.stats.bets import RunningBets, bets, log_inverse, log_wealth
from bench.stats.confseq import HedgedSequence, hedged

quick = settings(deadline=None, max_examples=40)
SHORT = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]
LONG = np.array([7919 * i % 101 / 100 for i in range(1, 501)])
units = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_bets_reference() -> None:
    assert bets(SHORT, log_inverse(0.05, 2)).tolist() == pytest.approx(
        [6.524985, 4.635696, 3.075907, 2.553341, 2.278513, 1.828979, 1.677410, 1.572091, 1.493867, 1.286745],
        abs=5e-7,
    )


def test_short_sequence_reference() -> None:
    sequence = hedged(SHORT)
    assert sequence.low.tolist() == pytest.approx(
        [0, 0, 0, 0.095512, 0.095512, 0.143202, 0.203211, 0.261276, 0.261276, 0.273415], abs=5e-7
    )
    assert sequence.high.tolist() == pytest.approx([1.0] * 8 + [0.992784] * 2, abs=5e-7)


@pytest.mark.parametrize(
    ("t", "low", "high"),
    [
        (10, 0.204338, 0.729847),
        (50, 0.381712, 0.612164),
        (100, 0.419583, 0.586486),
        (200, 0.439758, 0.563266),
        (500, 0.458071, 0.543051),
    ],
)
def test_long_sequence_reference(t: int, low: float, high: float) -> None:
    sequence = hedged(LONG)
    assert [sequence.low[t - 1], sequence.high[t - 1]] == pytest.approx([low, high], abs=5e-7)


def _grid(x: np.ndarray, population: int | None = None, cells: int = 1_000) -> tuple[np.ndarray, np.ndarray]:
    """The definition, taken literally on a grid: which m are still in the running intersection."""
    stakes = bets(x, log_inverse(0.05, 2))
    m = np.linspace(0, 1, cells + 1)[:, None]
    mean, possible = np.broadcast_to(m, (cells + 1, x.size)), np.ones((cells + 1, x.size), dtype=bool)
    if population is not None:
        before = np.concatenate([[0], np.cumsum(x)[:-1]])
        raw = (population * m - before) / (population - np.arange(x.size))
        after = population * m - np.cumsum(x)
        possible = (after >= -1e-9) & (after <= population - np.arange(1, x.size + 1) + 1e-9)
        mean = np.clip(raw, 0, 1)
    wealth = np.maximum(log_wealth(x, mean, stakes, cap=0.5), log_wealth(1 - x, 1 - mean, stakes, cap=0.5))
    inside = np.logical_and.accumulate((wealth < np.log(2 / 0.05)) & possible, axis=1)
    low = np.where(inside.any(0), m[inside.argmax(0), 0], np.nan)
    high = np.where(inside.any(0), m[cells - inside[::-1].argmax(0), 0], np.nan)
    return low, high


@quick
@given(units)
def test_roots_are_the_ends_of_the_grid(values: list[float]) -> None:
    x = np.array(values)
    sequence = hedged(x)
    low, high = _grid(x)
    inside = ~np.isnan(low)
    assert (sequence.low[inside] <= low[inside] + 1e-9).all()
    assert (sequence.low[inside] > low[inside] - 1.001e-3).all()
    assert (sequence.high[inside] >= high[inside] - 1e-9).all()
    assert (sequence.high[inside] < high[inside] + 1.001e-3).all()


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_finite_population_follows_its_definition(share: float) -> None:
    items = (np.random.default_rng(3).random(150) < share).astype(float)
    sequence = hedged(items, population=150)
    low, high = _grid(items, population=150)
    inside = ~np.isnan(low)
    assert inside[:-1].all()
    assert np.abs(sequence.low - low)[inside].max() < 1.001e-3
    assert np.abs(sequence.high - high)[inside].max() < 1.001e-3


@quick
@given(units)
def test_an_exhausted_population_is_known_exactly(values: list[float]) -> None:
    sequence = hedged(values, population=len(values))
    assert sequence.low[-1] == pytest.approx(np.mean(values), abs=1e-12)
    assert sequence.low[-1] == pytest.approx(sequence.high[-1], abs=1e-12)


def test_a_finite_population_is_never_wider_in_the_end() -> None:
    x = np.random.default_rng(5).permutation(np.repeat([0.0, 1.0], 100))
    finite, infinite = hedged(x, population=200), hedged(x)
    assert finite.high[-1] - finite.low[-1] < 1e-12 < infinite.high[-1] - infinite.low[-1]
    assert finite.high[150] - finite.low[150] < 0.8 * (infinite.high[150] - infinite.low[150])


def test_observing_more_than_the_population_is_refused() -> None:
    with pytest.raises(ValueError, match="all 2 items"):
        hedged([1, 0, 1], population=2)


def test_nothing_observed_is_the_whole_range() -> None:
    running = HedgedSequence(lo=-1, hi=3)
    assert (running.low, running.high, running.n) == (-1, 3, 0)


def test_constant_data_keep_the_end_they_sit_on() -> None:
    zeros, ones = hedged(np.zeros(200)), hedged(np.ones(200))
    assert (zeros.low == 0).all()
    assert 0 < zeros.high[-1] < 0.05
    assert (ones.high == 1).all()
    assert ones.low[-1] == pytest.approx(1 - zeros.high[-1], abs=1e-9)


@quick
@given(units, st.floats(-100, 100), st.floats(0.1, 100))
def test_ranges_are_mapped_linearly(values: list[float], lo: float, width: float) -> None:
    unit = hedged(values)
    x = np.clip(lo + width * np.array(values), lo, lo + width)
    moved = hedged(x, lo=lo, hi=lo + width)
    assert moved.low == pytest.approx(lo + width * unit.low, abs=1e-4 * width)
    assert moved.high == pytest.approx(lo + width * unit.high, abs=1e-4 * width)


@quick
@given(units)
def test_intervals_are_nested_and_mirror_each_other(values: list[float]) -> None:
    sequence, mirror = hedged(values), hedged([1 - v for v in values])
    assert (np.diff(sequence.low) >= 0).all()
    assert (np.diff(sequence.high) <= 0).all()
    assert (sequence.low <= sequence.high + 1e-12).all()
    assert mirror.low == pytest.approx(1 - sequence.high, abs=1e-8)


def test_an_empty_interval_keeps_the_last_one_and_says_so() -> None:
    sequence = hedged(np.repeat([1.0, 0.0], 2000))  # sorted by value: the order the method forbids
    assert sequence.violated
    last = sequence.low[-1], sequence.high[-1]
    assert 0 < last[0] <= last[1] < 1
    assert not hedged(LONG).violated


def test_one_by_one_is_the_vectorised_wealth() -> None:
    running = RunningBets(log_inverse(0.05, 2))
    stakes = []
    for value in LONG.tolist():
        stakes.append(running.next_stake())
        running.observe(value)
    assert stakes == pytest.approx(bets(LONG, log_inverse(0.05, 2)).tolist(), rel=1e-12)


@pytest.mark.parametrize(("mean", "cap"), [(0.5, 0.5), (0.1, 0.5), (0.5, 0.75)])
def test_error_rate_over_all_times(mean: float, cap: float) -> None:
    x = (np.random.default_rng(7).random((400, 1000)) < mean).astype(float)
    stakes = bets(x, log_inverse(0.05, 2))
    wealth = np.maximum(
        log_wealth(x, mean, stakes, cap=cap), log_wealth(1 - x, 1 - mean, stakes, cap=cap)
    ).max(axis=1)
    # The truth leaves the sequence exactly when one of the two wealths at the truth reaches 2/alpha.
    missed = wealth >= np.log(2 / 0.05)
    assert missed.mean() <= 0.05
    few = np.concatenate([np.flatnonzero(missed)[:3], np.flatnonzero(~missed)[:3]])
    for i in few:
        sequence = hedged(x[i], cap=cap)
        assert (sequence.low[-1] <= mean <= sequence.high[-1]) == (not missed[i])
