"""Effective rank: over how many directions do the features spread?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from bench.metrics.images import _linalg
from bench.metrics.images._inputs import Features, feature_pair
from bench.metrics.images.vendi import exp_entropy


@dataclass(frozen=True)
class EffectiveRank:
    """real, generated: exp entropy of the normalised covariance eigenvalues, in [1, d], 0 when all rows are equal.

    ratio: generated / real; 1 expected, below 1 a collapse on fewer directions, above 1 added noise; nan when all
    real rows are equal.
    """

    real: float
    generated: float
    ratio: float


def effective_rank(*, real: Features, generated: Features) -> EffectiveRank:
    """Effective ranks of the covariances of both sets.

    real: (n, d), generated: (m, d), numpy or torch, n, m >= 2; make the sizes equal (`equalise`) when n < d, for the
    rank is below n. Raises ValueError for bad features.

    Roy, Vetterli, "The effective rank: A measure of effective dimensionality", EUSIPCO 2007.

    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> found = effective_rank(real=corners, generated=corners * [1, 0])
    >>> round(found.real, 9), round(found.generated, 9)
    (2.0, 1.0)
    """
    x, y = feature_pair(real=real, generated=generated, minimum=2)
    ranks = _rank(x), _rank(y)
    return EffectiveRank(*ranks, ranks[1] / ranks[0] if ranks[0] > 0 else math.nan)


def _rank(features: Tensor) -> float:
    if bool((features == features[0]).all()):
        return 0.0
    values = _linalg.second_moment_spectrum(features, centre=_linalg.mean(features))
    return exp_entropy(values / values.sum())
