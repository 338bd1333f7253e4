"""Anchored scores: a metric on the scale between what is trivial and what real data reach.

Metrics of different units become comparable, and what real data cannot reach is not asked of a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

SMALLEST_SPREAD = 0.01
UNDEFINED = "the anchors lie within 0.01 of each other, so that the metric tells nothing here"


@dataclass(frozen=True, slots=True)
class Anchored:
    """`value`: 0 at the lower anchor, 100 at the upper one, not clipped; None where `reason` says why not."""

    value: float | None
    reason: str = ""


def anchored(value: float, *, low: float, high: float) -> Anchored:
    """100 (value - low) / (high - low), for metrics of either direction.

    Undefined where |high - low| < 0.01. Raises ValueError for numbers that are not finite.

    >>> round(anchored(0.75, low=0.5, high=1.0).value)
    50
    """
    if not all(map(math.isfinite, (value, low, high))):
        raise ValueError(f"value and anchors must be finite, got {value}, {low}, {high}")
    if abs(high - low) < SMALLEST_SPREAD:
        return Anchored(None, UNDEFINED)
    return Anchored(100 * (value - low) / (high - low))


def dimension_score(scores: Mapping[str, Anchored]) -> Anchored:
    """Mean of the defined scores of one dimension's metrics."""
    defined = [score.value for score in scores.values() if score.value is not None]
    if not defined:
        return Anchored(None, "no metric of the dimension is defined between the anchors")
    return Anchored(sum(defined) / len(defined))


def total(dimensions: Mapping[str, Anchored]) -> Anchored:
    """The weakest dimension. Never a mean: fidelity must not pay for a leak, nor privacy for a collapse."""
    defined = [score.value for score in dimensions.values() if score.value is not None]
    if not defined:
        return Anchored(None, "no dimension is defined between the anchors")
    return Anchored(min(defined))
