"""D8 maximum mean discrepancy of two tables."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from bench.metrics.tabular.features import FeatureMap, Features
from bench.metrics.tabular.result import Result, undefined
from bench.metrics.tabular.table import EncodedTable, check_same_layout

BANDWIDTH_ROWS = 2_000
_BLOCK = 1_024


def mmd2(*, real: EncodedTable, generated: EncodedTable, seed: int = 0, max_rows: int = 10_000) -> Result:
    """Unbiased squared maximum mean discrepancy with an RBF kernel whose bandwidth is the median real distance.

    0 is best; may be slightly negative. k(a, b) = exp(-|a - b|^2 / (2 h^2)), h the median distance between at most
    2,000 real rows. Numbers are scaled by the real range, categories one-hot / sqrt 2, so that two different ones
    are 1 apart. Larger tables are subsampled to `max_rows` rows. Undefined with fewer than two rows, and when most
    real rows are equal.

    Gretton, Borgwardt, Rasch, Schoelkopf, Smola, "A Kernel Two-Sample Test", JMLR 2012.
    """
    check_same_layout(real=real, generated=generated)
    if min(len(real), len(generated)) < 2:
        return undefined("the unbiased estimate needs at least two rows in each table")
    features = FeatureMap(real, generated, category_scale=float(np.sqrt(0.5)))
    x, y = (features(t.subsample(max_rows, seed=seed)) for t in (real, generated))
    sample = features(real.subsample(BANDWIDTH_ROWS, seed=seed))
    bandwidth = float(np.median(pdist(sample)))
    if bandwidth == 0:
        return undefined("most real rows are equal, so that the median distance between them is 0")
    within_real, within_generated, between = (
        _kernel_sum(a, b, bandwidth) for a, b in ((x, x), (y, y), (x, y))
    )
    n, m = len(x), len(y)
    value = (within_real - n) / (n * (n - 1)) + (within_generated - m) / (m * (m - 1)) - 2 * between / (n * m)
    return Result(float(value), n + m, facets={"bandwidth": bandwidth})


def _kernel_sum(first: Features, second: Features, bandwidth: float) -> float:
    """Sum of k(a, b) over all pairs. Squared distances by a matrix product: its rounding is far below the noise."""
    shift = second.mean(0)
    a, b = (first - shift) / bandwidth, (second - shift) / bandwidth
    half_a, half_b = (a**2).sum(1) / 2, (b**2).sum(1) / 2
    total = 0.0
    for i in range(0, len(a), _BLOCK):
        exponent = a[i : i + _BLOCK] @ b.T
        exponent -= half_a[i : i + _BLOCK, None]
        exponent -= half_b
        total += float(np.exp(np.minimum(exponent, 0, out=exponent), out=exponent).sum())
    return total
