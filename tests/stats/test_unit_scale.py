from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stats.unit_scale import Scale, scale_for


@given(st.floats(-1e6, 1e6), st.booleans())
def test_scores_lie_in_the_unit_interval_and_keep_the_order(value: float, higher: bool) -> None:
    scale = scale_for(lo=-5.0, hi=7.0, higher_is_better=higher)
    assert scale is not None
    assert 0.0 <= scale.score(value) <= 1.0
    better = value + 1.0 if higher else value - 1.0
    assert scale.score(better) >= scale.score(value) >= scale.score(None) == 0.0


def test_a_finite_range_comes_before_anchors() -> None:
    assert scale_for(lo=0.0, hi=2.0, higher_is_better=False, baseline=1.5, bound=0.5) == Scale(
        2.0, 0.0, "range"
    )


@pytest.mark.parametrize(
    ("higher", "baseline", "bound"),
    [
        (True, 1.0, 0.5),
        (False, 0.5, 1.0),
        (True, 1.0, 1.0),
        (True, None, 1.0),
        (False, 1.0, None),
        (True, 0.0, math.inf),
    ],
)
def test_anchors_in_the_wrong_order_make_no_scale(
    higher: bool, baseline: float | None, bound: float | None
) -> None:
    assert scale_for(lo=0.0, hi=math.inf, higher_is_better=higher, baseline=baseline, bound=bound) is None


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValueError, match="must not exceed"):
        scale_for(lo=1.0, hi=0.0, higher_is_better=True)
