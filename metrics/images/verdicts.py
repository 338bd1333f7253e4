"""Verdicts on metrics: does one get worse as samples get worse, and stay where nothing that it measures changes?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Word = Literal["tracks", "blind", "fooled", "erratic", "steady"]
NOTICED = 3.0  # standard deviations of held-out draws
ORDERED = 0.8  # Kendall's tau
NEGLIGIBLE = 0.03  # of the mean over held-out draws: a drift that changes no conclusion
_SMALLEST_SPREAD = 1e-9  # relative to the mean: draws that agree to the last digits
_FARTHEST = 1e6


@dataclass(frozen=True)
class Verdict:
    """word: what the metric does; tau: Kendall correlation with severity in the direction "worse", in [-1, 1].

    z: how far the last value (of `steadiness` the farthest) lies from held-out draws, in their standard deviations;
    positive means worse, and more than a million counts as a million.
    """

    word: Word
    tau: float
    z: float


def judge(*, values: Sequence[float], held_out: Sequence[float], worse: int) -> Verdict:
    """What a metric makes of samples that get worse from one of `values` to the next.

    `held_out` are its values on draws of real samples, `worse` is 1 where larger is worse and -1 where smaller is.
    "tracks": the last value is at least 3 standard deviations worse than real samples, and the order of the values is
    that of the severities (tau at least .8); "blind": it lies within 3 standard deviations; "fooled": it is better
    than real samples by 3; "erratic": anything else. Raises ValueError for fewer than two draws or no value.

    >>> judge(values=[1.0, 2.0, 4.0], held_out=[0.1, 0.0, -0.1], worse=1).word
    'tracks'
    >>> judge(values=[1.0, 2.0, 4.0], held_out=[0.1, 0.0, -0.1], worse=-1).word
    'fooled'
    """
    scores = _deviations(values, held_out, worse)
    tau, z = _tau(values, worse), scores[-1]
    if len(values) == 1:
        tau = math.copysign(1.0, z) if z else 0.0
    if abs(z) < NOTICED:
        return Verdict("blind", tau, z)
    if z < 0:
        return Verdict("fooled", tau, z)
    return Verdict("tracks" if tau >= ORDERED else "erratic", tau, z)


def steadiness(
    *, values: Sequence[float], held_out: Sequence[float], worse: int, spread: float = 1.0
) -> Verdict:
    """Whether a metric stays where it is while something changes that is no matter of quality.

    "steady": every value lies within 3 standard deviations of the held-out draws, or all of them together span at most
    3 % of the mean of these; else "erratic". `spread` is the standard deviation of a value relative to that of a
    draw, for a mean over several draws scatters less. Raises ValueError as `judge` does.

    >>> steadiness(values=[0.9, 1.0, 1.1], held_out=[0.9, 1.0, 1.1], worse=1).word
    'steady'
    """
    farthest = max(_deviations(values, held_out, worse), key=abs) / spread
    span = max(values) - min(values)
    is_negligible = span <= NEGLIGIBLE * abs(sum(held_out) / len(held_out))
    word: Word = "steady" if abs(farthest) < NOTICED or is_negligible else "erratic"
    return Verdict(word, _tau(values, worse), farthest)


def _deviations(values: Sequence[float], held_out: Sequence[float], worse: int) -> list[float]:
    if len(held_out) < 2 or not len(values):
        raise ValueError(f"needs a value and two held-out draws, got {len(values)} and {len(held_out)}")
    draws = np.asarray(held_out, dtype=float)
    mean = float(draws.mean())
    spread = max(float(draws.std(ddof=1)), _SMALLEST_SPREAD * abs(mean), np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        scores = worse * (np.asarray(values, dtype=float) - mean) / spread
    return [float(score) for score in scores.clip(-_FARTHEST, _FARTHEST)]


def _tau(values: Sequence[float], worse: int) -> float:
    """Kendall's tau-b of values and severities; 0 where all values are equal."""
    steps = np.sign(np.subtract.outer(values, values))
    order = np.sign(np.subtract.outer(range(len(values)), range(len(values))))
    pairs = math.sqrt(float((steps**2).sum() * (order**2).sum()))
    return worse * float((steps * order).sum()) / pairs if pairs else 0.0
