"""How all models stand in one metric on one dataset: shared by the pages of all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from bench.leaderboard import cells, tables, whisker
from bench.leaderboard.cells import Estimate
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.whisker import Axis
from bench.spec import MetricInfo

STRIP_WIDTH = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The axis all models share, a tick for each of them, and who is ranked where."""

    axis: Axis | None
    decimals: int
    ticks: str  # SVG path
    ranks: Mapping[LineKey, str]  # "2 of 9"

    def strip(self, e: Estimate) -> str:
        """The whisker of one model on the wide axis."""
        if self.axis is None or e.mean is None:
            return ""
        return whisker.path(self.axis, e.mean, e.low, e.high, STRIP_WIDTH)


def standing(
    metric: MetricInfo, estimates: Mapping[LineKey, Estimate], lines: Mapping[LineKey, Line]
) -> Standing:
    axis = cells.axis_of(estimates.values())
    means = [e.mean for e in estimates.values() if e.mean is not None]
    return Standing(
        axis=axis,
        decimals=cells.decimals_of(estimates.values()),
        ticks=whisker.ticks(axis, means, STRIP_WIDTH) if axis else "",
        ranks=_ranks(metric, estimates, lines),
    )


def _ranks(
    metric: MetricInfo, estimates: Mapping[LineKey, Estimate], lines: Mapping[LineKey, Line]
) -> dict[LineKey, str]:
    """Ranks of means among full results of all models but upper bounds; ties share the better rank.

    Empty for descriptive metrics.
    """
    if metric.direction == "none":
        return {}
    marks = {
        key: tables.goodness(metric, e.mean)
        for key, e in estimates.items()
        if e.mean is not None and lines[key].limit is None and lines[key].role != "bound"
    }
    ordered = sorted(marks.values())
    return {
        key: f"{1 + len(ordered) - bisect_right(ordered, mark)} of {len(ordered)}"
        + (" (tie)" if bisect_right(ordered, mark) - bisect_left(ordered, mark) > 1 else "")
        for key, mark in marks.items()
    }
