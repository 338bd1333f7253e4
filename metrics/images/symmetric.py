"""Symmetric precision and recall: each sample must also be near in the eyes of its own set."""

from __future__ import annotations

from dataclasses import dataclass

from bench.metrics.images._inputs import Ball, Features
from bench.metrics.images._neighborhood import Neighborhood, neighborhood, share
from bench.metrics.images.density_coverage import density_coverage_of
from bench.metrics.images.precision_recall import precision_recall_of


@dataclass(frozen=True)
class SymmetricPrecisionRecall:
    """All in [0, 1], higher better.

    precision: the smaller of precision and complement_precision; recall: the smaller of recall and coverage.
    complement_precision: share of generated points whose own ball holds a real point.
    """

    precision: float
    recall: float
    complement_precision: float
    k: int


def symmetric_precision_recall(
    *, real: Features, generated: Features, k: int = 5, ball: Ball = "closed"
) -> SymmetricPrecisionRecall:
    """Symmetric precision and recall of Khayatkhoei & AbdAlmageed 2023.

    In many dimensions the balls of one set are all larger than those of the other, so that plain precision and
    recall move against each other with the spread alone; the complement uses the balls of the other set.

    real: (n, d), generated: (m, d), numpy or torch, n, m > k. Raises ValueError for bad features or k.

    Khayatkhoei, AbdAlmageed, "Emergent Asymmetry of Precision and Recall for Measuring Fidelity and Diversity of
    Generative Models in High Dimensions", ICML 2023.

    >>> import numpy as np
    >>> real, generated = np.array([[0.0], [1], [3], [7], [20]]), np.array([[0.5], [2], [10], [11]])
    >>> symmetric_precision_recall(real=real, generated=generated, k=1)
    SymmetricPrecisionRecall(precision=0.5, recall=0.6, complement_precision=0.5, k=1)
    """
    return symmetric_of(neighborhood(real=real, generated=generated, ball_ks=(k,), ball=ball), k)


def symmetric_of(hood: Neighborhood, k: int) -> SymmetricPrecisionRecall:
    """Symmetric precision and recall from neighbours already measured."""
    balls, depth = precision_recall_of(hood, k), density_coverage_of(hood, k)
    radii = hood.generated_self.distances[:, k - 1]
    nearest = hood.cross.generated_to_real.distances[:, 0]
    complement = share(nearest <= radii if hood.closed else nearest < radii)
    return SymmetricPrecisionRecall(
        min(balls.precision, complement), min(balls.recall, depth.coverage), complement, k
    )
