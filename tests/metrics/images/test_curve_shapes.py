"""Shapes of curves: hand cases at every limit, and properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.metrics.images.curve_shapes import (
    falls,
    falls_early,
    is_bell,
    is_close,
    is_flat,
    rises,
    settles,
)

CURVES = st.lists(st.floats(-1, 2), min_size=3, max_size=12)


@pytest.mark.parametrize(("value", "found"), [(0.95, True), (1.05, True), (0.949, False), (math.nan, False)])
def test_close_means_within_a_twentieth(value: float, found: bool) -> None:
    assert is_close(value, 1.0) is found


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.0, 0.2, 0.0], True),  # just .2 above both ends
        ([0.0, 0.19, 0.0], False),
        ([0.0, 0.2, 0.01], False),  # less than .2 above the right end
        ([0.0, 0.9, 1.0, 0.0], True),  # .1 below the largest
        ([0.0, 0.89, 1.0, 0.0], False),
        ([0.2, 1.0, -0.1, 0.0], True),  # the right end is within .1 of the smallest
        ([0.2, 1.0, -0.11, 0.0], False),
        ([0.0, math.nan, 0.0], False),
    ],
)
def test_a_bell(values: list[float], found: bool) -> None:
    assert is_bell(values, peak=1) is found


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.0, 0.2], True),
        ([0.0, 0.19], False),
        ([0.1, 0.0, 1.0, 0.9], True),
        ([0.11, 0.0, 1.0, 0.9], False),
        ([0.1, 0.0, 1.0, 0.89], False),
    ],
)
def test_a_rise_and_a_fall(values: list[float], found: bool) -> None:
    assert rises(values) is found
    assert falls(values[::-1]) is found


def test_a_fall_has_to_come_in_time() -> None:
    assert falls_early([1.0, 0.9, 0.9, 0.0], share=0.5)  # round(1.5) = 2
    assert not falls_early([1.0, 0.9, 0.91, 0.0], share=0.5)
    assert not falls_early([1.0, 0.0, 0.9], share=0.5)  # comes in time, but is no fall


def test_flat_and_settled() -> None:
    assert is_flat([0.3, 0.35, 0.3])
    assert not is_flat([0.3, 0.36, 0.3])
    assert settles([9.0, 0.3, 0.35])
    assert not settles([0.3, 0.3, 0.36])
    assert not settles([math.nan, 0.3, 0.3])


@given(values=CURVES)
@settings(max_examples=100, deadline=None)
def test_shapes_exclude_each_other(values: list[float]) -> None:
    found = [is_flat(values), rises(values), falls(values), *(is_bell(values, peak=p) for p in (1, -2))]
    assert sum(found[:3]) <= 1
    assert not (found[0] and any(found[3:]))


@given(values=CURVES, by=st.floats(-3, 3))
@settings(max_examples=50, deadline=None)
def test_only_differences_matter_to_a_shape(values: list[float], by: float) -> None:
    rounded = [round(value, 3) for value in values]  # far from the limits, or at them
    moved = [value + round(by, 3) for value in rounded]
    for shape in (is_flat, rises, falls, settles):
        assert shape(moved) == shape(rounded)
