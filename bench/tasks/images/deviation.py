"""The number that image tasks rank by: how far the three Chamfer ratios lie from those of real images."""

from __future__ import annotations

import math

from bench.metrics.images import Chamfer

SMALLEST_RATIO = 1e-3  # ratios below count as this, or equal images would be infinitely far


def bounded_deviation(result: Chamfer) -> float:
    """`result.deviation` with ratios below 0.001 counted as 0.001: collapse is ranked last, not left out.

    nan where the reference is degenerate.
    """
    ratios = (result.r2g_ratio, result.g2r_ratio, result.self_ratio)
    if any(map(math.isnan, ratios)):
        return math.nan
    return sum(abs(math.log(max(ratio, SMALLEST_RATIO))) for ratio in ratios)
