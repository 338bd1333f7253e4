from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.leaderboard import whisker
from bench.leaderboard.whisker import Axis, axis_for

finite = st.floats(-1e12, 1e12)


def test_wide_positive_columns_are_logarithmic() -> None:
    assert axis_for([1.0, 101.0]) == Axis(1 / 1.2, 101 * 1.2, log=True)
    assert axis_for([1.0, 99.0]) is not None
    assert not axis_for([1.0, 99.0]).log  # type: ignore[union-attr]
    assert not axis_for([-1.0, 500.0]).log  # type: ignore[union-attr]
    assert axis_for([]) is None
    assert axis_for([1e-14, 10.0, 20.0]) == Axis(20 / 1e4 / 1.2, 24.0, log=True)


def test_one_huge_interval_does_not_flatten_the_others() -> None:
    axis = axis_for([0.0, 1.0], [-1000.0, 1000.0])
    assert axis == Axis(-0.3, 1.3)
    assert axis_for([2.0, 2.0], [1.0, 3.0]) == Axis(1.0, 3.0)


@given(st.lists(finite, min_size=1), finite)
def test_positions_stay_inside_and_in_order(values: list[float], other: float) -> None:
    axis = axis_for(values)
    assert axis is not None
    xs = [axis.x(v) for v in sorted([*values, other])]
    assert all(whisker.MARGIN - 1e-9 <= x <= whisker.WIDTH - whisker.MARGIN + 1e-9 for x in xs)
    assert all(b >= a - 1e-9 for a, b in pairwise(xs))


def test_path_has_caps_only_inside_the_axis() -> None:
    axis = Axis(0.0, 1.0)
    inside = whisker.path(axis, 0.5, 0.25, 0.75)
    assert inside == "M16 3v4m0-2H44m0-2v4M30 1v8"
    outside = whisker.path(axis, 0.5, -3.0, 0.75)
    assert outside == "M3 5H44m0-2v4M30 1v8"
    assert whisker.path(axis, 0.5, None, None) == "M30 1v8"


def test_many_ticks_become_their_range_and_quartiles() -> None:
    path = whisker.ticks(Axis(0.0, 1.0), [i / 100 for i in range(101)], 106)
    assert path == "M3 5H103M28 2v6M53 2v6M78 2v6"


@pytest.mark.parametrize("n", [1, 5])
def test_ticks_on_one_pixel_are_drawn_once(n: int) -> None:
    assert re.findall(r"M\d+ ", whisker.ticks(Axis(0.0, 1.0), [0.5] * n, 160)) == ["M80 "]
