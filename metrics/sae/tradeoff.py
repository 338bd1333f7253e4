"""The trade-off of rate, distortion and polysemanticity in one number, and what a language model keeps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

SMALLEST_GAP = 0.05  # nats


def hypervolume(*, points: Any) -> float:
    """Exact volume of [0, 1]^3 that is dominated by `points` (n, 3), each coordinate "lower is better"; in [0, 1].

    Coordinates are clipped to [0, 1], 1 being the reference. Higher is better; no points give 0.

    >>> hypervolume(points=[[0.5, 0.5, 0.5], [0.0, 0.0, 0.75]])
    0.3125
    """
    given = np.clip(np.asarray(points, dtype=np.float64).reshape(-1, 3), 0.0, 1.0)
    if not len(given):
        return 0.0
    levels = np.append(np.unique(given[:, 2]), 1.0)
    volume = 0.0
    for low, high in pairwise(levels):
        volume += (high - low) * _area(given[given[:, 2] <= low][:, :2])
    return float(volume)


def _area(points: np.ndarray) -> float:
    """Area of [0, 1]^2 dominated by `points` (n, 2)."""
    area, lowest = 0.0, 1.0
    for x, y in points[np.lexsort((points[:, 1], points[:, 0]))]:
        if y < lowest:
            area += (1.0 - x) * (lowest - y)
            lowest = y
    return area


def recovered(*, base: float, spliced: float, ablated: float) -> float | None:
    """(ablated - spliced) / (ablated - base) of losses: 1 = nothing lost, 0 = as bad as the ablation.

    None if the ablation costs less than 0.05, so that there is nothing to recover.
    """
    return (ablated - spliced) / (ablated - base) if ablated - base >= SMALLEST_GAP else None
