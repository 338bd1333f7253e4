"""Vendi score: the effective number of different samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from bench.metrics.images import _linalg
from bench.metrics.images._inputs import Features, feature_set


@dataclass(frozen=True)
class Vendi:
    """Effective numbers, in [1, n]: of order 1 (exp entropy), 2 (inverse Simpson) and infinity (1 / largest share).

    More is more diverse; noise is very diverse. Rows of zeros have no direction and are left out.
    """

    order_1: float
    order_2: float
    order_inf: float


def vendi(*, generated: Features) -> Vendi:
    """Vendi scores with the cosine kernel: exponential entropies of the eigenvalues of K / n.

    The eigenvalues come from the smaller of the n x n kernel and the d x d matrix with the same ones.
    generated: (n, d), numpy or torch, n >= 1. Raises ValueError for bad features.

    Friedman, Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine Learning", TMLR 2023; orders:
    Pasarkar, Dieng, "Cousins of the Vendi Score", AISTATS 2024.

    >>> import numpy as np
    >>> round(vendi(generated=np.eye(5)).order_1, 9), round(vendi(generated=np.ones((5, 3))).order_1, 9)
    (5.0, 1.0)
    """
    values = _linalg.second_moment_spectrum(feature_set(generated, "generated"), unit=True)
    total = float(values.sum())
    if total == 0:
        return Vendi(1.0, 1.0, 1.0)
    shares = values / total
    return Vendi(exp_entropy(shares), 1 / float(shares.square().sum()), 1 / float(shares.max()))


def exp_entropy(shares: Tensor) -> float:
    """exp(-sum p ln p) of shares that sum to 1; shares of 0 add nothing."""
    positive = shares[shares > 0]
    return math.exp(-float((positive * positive.log()).sum()))
