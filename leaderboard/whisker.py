"""Whiskers: a mean and its interval on a small axis that a whole column shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 60, 9, 3
MANY = 12  # more ticks than this are drawn as their range and quartiles
LOG_SPAN = 1e4  # the widest range a logarithmic axis shows
LOG_RANGE = 100.0  # a positive column wider than this gets a logarithmic axis


@dataclass(frozen=True, slots=True)
class Axis:
    """A shared horizontal axis from `low` to `high`, linear or logarithmic."""

    low: float
    high: float
    log: bool = False

    def x(self, value: float, width: float = WIDTH) -> float:
        """The position of `value` in pixels, kept inside the drawing."""
        span = width - 2 * MARGIN
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        if high <= low:
            return width / 2
        at = value
        if self.log:
            at = math.log(max(value, self.low))
        return MARGIN + span * min(1.0, max(0.0, (at - low) / (high - low)))


def axis_for(points: Iterable[float], ends: Iterable[float] = ()) -> Axis | None:
    """An axis that shows all means, and interval ends as far as they do not dwarf the means."""
    values = [v for v in points if math.isfinite(v)]
    if not values:
        return None
    low, high = min(values), max(values)
    if low > 0 and high / low > LOG_RANGE:
        # One value next to zero must not squeeze all others into a corner; it sits on the left edge.
        return Axis(max(low, high / LOG_SPAN) / 1.2, high * 1.2, log=True)
    room = (high - low) * 0.3
    inside = [e for e in ends if math.isfinite(e)]
    if room == 0:  # all means are equal: the intervals set the scale
        return Axis(min([low, *inside]), max([high, *inside]))
    return Axis(max(low - room, min([low, *inside])), min(high + room, max([high, *inside])))


def path(axis: Axis, mean: float, low: float | None, high: float | None, width: int = WIDTH) -> str:
    """SVG path: the interval as a line with end caps (no cap where it leaves the axis), the mean as a bar.

    Whole pixels keep the small whiskers of large tables crisp and short.
    """
    middle = (HEIGHT + 1) // 2
    at = round(axis.x(mean, width))
    bar = f"M{at} 1v{HEIGHT - 1}"
    if low is None or high is None:
        return bar
    left, right = round(axis.x(low, width)), round(axis.x(high, width))
    start = f"M{left} {middle}" if _outside(axis, low) else f"M{left} {middle - 2}v4m0-2"
    end = "" if _outside(axis, high) else "m0-2v4"
    return f"{start}H{right}{end}{bar}"


def ticks(axis: Axis, values: Iterable[float], width: int) -> str:
    """SVG path of thin ticks, one per value; of many values their range with its quartiles."""
    at = sorted(round(axis.x(v, width)) for v in values)
    if len(at) <= MANY:
        return "".join(f"M{x} 2v{HEIGHT - 3}" for x in dict.fromkeys(at))
    quartiles = dict.fromkeys(at[round(share * (len(at) - 1))] for share in (0.25, 0.5, 0.75))
    middle = (HEIGHT + 1) // 2
    return f"M{at[0]} {middle}H{at[-1]}" + "".join(f"M{x} 2v{HEIGHT - 3}" for x in quartiles)


def _outside(axis: Axis, value: float) -> bool:
    tolerance = 1e-9 * max(abs(axis.low), abs(axis.high))
    return value < axis.low - tolerance or value > axis.high + tolerance
