"""Improved precision and recall: is each sample inside the other set's estimated manifold?"""

from __future__ import annotations

from dataclasses import dataclass

from bench.metrics.images._inputs import Ball, Features
from bench.metrics.images._neighborhood import Neighborhood, neighborhood, share


@dataclass(frozen=True)
class PrecisionRecall:
    """precision: share of generated points in some real ball; recall: the reverse. Both in [0, 1], higher better."""

    precision: float
    recall: float
    k: int


def precision_recall(
    *, real: Features, generated: Features, k: int = 5, ball: Ball = "closed"
) -> PrecisionRecall:
    """Precision and recall of Kynkaanniemi et al. 2019.

    The manifold of a set is the union of balls around its points that reach to each point's k-th nearest other
    point of the set. `ball="closed"` counts points at exactly the radius, as the paper does; "open" does not, as
    the package prdc does.

    real: (n, d), generated: (m, d), numpy or torch, n, m > k. Exact: distances and comparisons are those of float64.
    Raises ValueError for bad features or k.

    Kynkaanniemi, Karras, Laine, Lehtinen, Aila, "Improved Precision and Recall Metric for Assessing Generative
    Models", NeurIPS 2019.

    >>> import numpy as np
    >>> real, generated = np.array([[0.0], [1], [3], [7], [20]]), np.array([[0.5], [2], [10], [11]])
    >>> precision_recall(real=real, generated=generated, k=1)
    PrecisionRecall(precision=1.0, recall=0.6, k=1)
    """
    return precision_recall_of(neighborhood(real=real, generated=generated, ball_ks=(k,), ball=ball), k)


def precision_recall_of(hood: Neighborhood, k: int) -> PrecisionRecall:
    """Precision and recall from neighbours already measured."""
    generated, real = hood.holding(k)
    return PrecisionRecall(share(generated > 0), share(real > 0), k)
