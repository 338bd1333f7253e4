"""What the curve of a metric looks like while one thing changes: the criteria of Räisä et al. (2025).

Every function takes the values in the order of the places and says whether they have the shape; a value that is not
a number makes every shape false.

Räisä, van Breugel, van der Schaar, "Position: All Current Generative Fidelity and Diversity Metrics are Flawed",
ICML 2025.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CLOSE = 0.05  # to a wanted value; also the range of a flat line
CLEAR = 0.2  # between a high place and a low one
NEAR = 0.1  # to the largest or the smallest value
_DIGITS = 1e-9  # of shares that were averaged: .95 has to be within .05 of 1


def is_close(value: float, target: float) -> bool:
    """Within .05 of `target`.

    >>> is_close(0.95, 1.0), is_close(0.94, 1.0), is_close(float("nan"), 1.0)
    (True, False, False)
    """
    return abs(value - target) <= CLOSE + _DIGITS


def is_flat(values: Sequence[float]) -> bool:
    """All within a range of .05.

    >>> is_flat([0.5, 0.55, 0.52]), is_flat([0.5, 0.56])
    (True, False)
    """
    return _is_whole(values) and max(values) - min(values) <= CLOSE + _DIGITS


def settles(values: Sequence[float]) -> bool:
    """The second half is flat.

    >>> settles([0.0, 0.3, 0.5, 0.52]), settles([0.5, 0.5, 0.5, 0.6])
    (True, False)
    """
    return _is_whole(values) and is_flat(values[len(values) // 2 :])


def rises(values: Sequence[float]) -> bool:
    """The last value is at least .2 above the first, within .1 of the largest, the first within .1 of the smallest.

    >>> rises([0.0, 0.7, 1.0]), rises([0.0, 1.0, 0.5]), rises([0.9, 1.0, 1.0])
    (True, False, False)
    """
    if not _is_whole(values):
        return False
    first, last = values[0], values[-1]
    return _clears(last, first) and _is_near(max(values), last) and _is_near(first, min(values))


def falls(values: Sequence[float]) -> bool:
    """`rises`, read backwards.

    >>> falls([1.0, 0.7, 0.0])
    True
    """
    return rises(values[::-1])


def falls_early(values: Sequence[float], *, share: float) -> bool:
    """`falls`, and lies at least .1 below the first value at `share` of the way.

    >>> falls_early([1.0, 0.8, 0.0], share=0.5), falls_early([1.0, 0.95, 0.0], share=0.5)
    (True, False)
    """
    middle = round(share * (len(values) - 1))
    return falls(values) and values[0] - values[middle] >= NEAR - _DIGITS


def is_bell(values: Sequence[float], *, peak: int) -> bool:
    """The value at `peak` is at least .2 above both ends and within .1 of the largest; an end is near the smallest.

    >>> is_bell([0.0, 1.0, 0.3], peak=1), is_bell([0.0, 0.5, 1.0], peak=1)
    (True, False)
    """
    if not _is_whole(values):
        return False
    first, top, last = values[0], values[peak], values[-1]
    return (
        _clears(top, first)
        and _clears(top, last)
        and _is_near(max(values), top)
        and _is_near(min(first, last), min(values))
    )


def _is_whole(values: Sequence[float]) -> bool:
    return len(values) > 0 and all(map(math.isfinite, values))


def _clears(high: float, low: float) -> bool:
    return high - low >= CLEAR - _DIGITS


def _is_near(high: float, low: float) -> bool:
    return high - low <= NEAR + _DIGITS
