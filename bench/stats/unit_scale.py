"""Scores in [0, 1] from values of any range, so that they can be compared while results arrive.

An anytime-valid comparison of means needs bounded scores. A metric with a finite range has them. Of others,
two anchors that were measured before make a scale: the trivial baseline is 0, the upper bound is 1, and values
beyond an anchor are clipped to it. The claim is then about the mean of clipped scores: that A lies further
from the baseline towards the upper bound, not about the raw mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to [0, 1], 1 is best: (value - worst) / (best - worst), clipped."""

    worst: float
    best: float
    basis: Literal["range", "anchors"]

    def score(self, value: float | None) -> float:
        """The score of `value`; a failure (None) counts like the worst, so that failing never pays.

        Examples
        --------
        >>> scale = Scale(4.0, 0.0, "anchors")
        >>> [scale.score(v) for v in (1.0, 5.0, None)]
        [0.75, 0.0, 0.0]
        """
        if value is None:
            return 0.0
        return min(1.0, max(0.0, (value - self.worst) / (self.best - self.worst)))

    @property
    def words(self) -> str:
        kind = "the declared range" if self.basis == "range" else "the baseline and the upper bound, clipped"
        return f"scores from {self.worst:.4g} (0) to {self.best:.4g} (1), {kind}"


def scale_for(
    *, lo: float, hi: float, higher_is_better: bool, baseline: float | None = None, bound: float | None = None
) -> Scale | None:
    """The scale of a metric with range [lo, hi]; of the anchors where the range is not finite; else None.

    Anchors in the wrong order (a baseline at least as good as the upper bound) make no scale.

    Examples
    --------
    >>> scale_for(lo=0.0, hi=float("inf"), higher_is_better=False, baseline=2.0, bound=0.5)
    Scale(worst=2.0, best=0.5, basis='anchors')
    """
    if lo > hi:
        raise ValueError(f"lo must not exceed hi, got [{lo}, {hi}]")
    if math.isfinite(lo) and math.isfinite(hi) and lo < hi:
        return Scale(lo, hi, "range") if higher_is_better else Scale(hi, lo, "range")
    if baseline is None or bound is None or not (math.isfinite(baseline) and math.isfinite(bound)):
        return None
    ordered = bound > baseline if higher_is_better else bound < baseline
    return Scale(baseline, bound, "anchors") if ordered else None
