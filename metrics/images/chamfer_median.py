"""Chamfer ratios with medians for means: one outlier, however far away, moves them no more than any other sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bench.metrics.images._inputs import Features
from bench.metrics.images._neighborhood import Neighborhood, neighborhood


@dataclass(frozen=True)
class ChamferMedian:
    """Median distances to the nearest sample of the other set over the median between nearest real samples, >= 0.

    1 is as near as another real sample. nan where that median is 0: half of the real samples have an equal.
    """

    r2g_ratio: float
    g2r_ratio: float


def chamfer_median(*, real: Features, generated: Features) -> ChamferMedian:
    """Median counterparts of the Chamfer ratios at k = 1.

    The mean distance to the nearest real sample follows a single far one; half of all samples have to move before
    a median does. The price: what happens to less than half of the samples is hardly seen.

    real: (n, d), generated: (m, d), numpy or torch, n, m >= 2. Raises ValueError for bad features.

    >>> import numpy as np
    >>> real, generated = np.array([[0.0], [1], [3], [7], [20]]), np.array([[0.5], [2], [10], [11]])
    >>> chamfer_median(real=real, generated=generated)
    ChamferMedian(r2g_ratio=0.5, g2r_ratio=1.0)
    """
    return chamfer_median_of(neighborhood(real=real, generated=generated, distance_ks=(1,)))


def chamfer_median_of(hood: Neighborhood) -> ChamferMedian:
    """Median ratios from neighbours already measured."""
    base, r2g, g2r = (
        float(table.distances[:, 0].quantile(0.5))
        for table in (hood.real_self, hood.cross.real_to_generated, hood.cross.generated_to_real)
    )
    if base == 0:
        return ChamferMedian(math.nan, math.nan)
    return ChamferMedian(r2g / base, g2r / base)
