"""Scoring a model of which only the mean and covariance of its features are known."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from bench.metrics.images import GaussianStatistics, feature_statistics, frechet_from_statistics
from bench.spec import Measure

ONLY_MOMENTS = "the model handed in mean and covariance alone, from which only the Fréchet distance follows"


def moment_scores(
    real: torch.Tensor, generated: GaussianStatistics, metrics: Iterable[str]
) -> tuple[dict[str, Measure], tuple[str, ...]]:
    """A measure for each of `metrics`, all but "fd" without value, and the flags.

    `real` float32 (n, d) and the moments (d,), (d, d) are in the space of one encoder.
    """
    found = frechet_from_statistics(real=feature_statistics(real), generated=generated)
    measures = {name: Measure(value=None, reason=ONLY_MOMENTS) for name in metrics}
    measures["fd"] = Measure(
        value=found.distance,
        n=len(real),
        reason="no interval: the images behind the moments are not known, nor is their number",
    )
    return measures, tuple(flag.replace("n<d", "n below d") for flag in found.flags)
