"""The pairs of metrics that the bench has: one of fidelity and one of diversity, each meant to lie in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor

from bench.metrics import images as metrics

Values = tuple[float, float]
K = 5  # neighbours, as in the other tasks of the family


def precision_recall(real: Tensor, generated: Tensor) -> Values:
    found = metrics.precision_recall(real=real, generated=generated, k=K)
    return found.precision, found.recall


def density_coverage(real: Tensor, generated: Tensor) -> Values:
    found = metrics.density_coverage(real=real, generated=generated, k=K)
    return found.density, found.coverage


def symmetric(real: Tensor, generated: Tensor) -> Values:
    found = metrics.symmetric_precision_recall(real=real, generated=generated, k=K)
    return found.precision, found.recall


def probabilistic(real: Tensor, generated: Tensor) -> Values:
    """With the published k of 4."""
    found = metrics.probabilistic_precision_recall(real=real, generated=generated)
    return found.precision, found.recall


def clipped(real: Tensor, generated: Tensor) -> Values:
    found = metrics.clipped_density_coverage(real=real, generated=generated, k=K)
    return found.density, found.coverage


def chamfer(real: Tensor, generated: Tensor) -> Values:
    """Ratios r as min(1, 1 / r)."""
    found = metrics.chamfer(real=real, generated=generated)
    return found.fidelity, found.coverage


def chamfer_median(real: Tensor, generated: Tensor) -> Values:
    found = metrics.chamfer_median(real=real, generated=generated)
    return _bounded(found.g2r_ratio), _bounded(found.r2g_ratio)


def _bounded(ratio: float) -> float:
    """min(1, 1 / ratio); a ratio that is not a number stays one."""
    return 1 / ratio if not ratio <= 1 else 1.0


PAIRS: Mapping[str, Callable[[Tensor, Tensor], Values]] = {
    "precision-recall": precision_recall,
    "density-coverage": density_coverage,
    "symmetric": symmetric,
    "probabilistic": probabilistic,
    "clipped": clipped,
    "chamfer": chamfer,
    "chamfer-median": chamfer_median,
}
