"""Metrics of generated images on feature vectors: arrays in, small results out.

    frechet_distance      mean and covariance                         (Heusel et al. 2017)
    kernel_distance       unbiased MMD^2, cubic kernel                (Binkowski et al. 2018)
    precision_recall      share inside nearest-neighbour balls        (Kynkaanniemi et al. 2019)
    density_coverage      depth inside balls, balls reached           (Naeem et al. 2020)
    chamfer               one-sided nearest-neighbour distances       (this project)
    neighbor_metrics      the last three at once, from one pass over all pairs

Sets are passed by keyword only, `real=` and `generated=`: a swapped pair would be a plausible wrong number.
"""

from bench.metrics.images._inputs import Ball, Features
from bench.metrics.images._neighborhood import Neighborhood
from bench.metrics.images.chamfer import Chamfer, chamfer
from bench.metrics.images.density_coverage import DensityCoverage, density_coverage, expected_coverage
from bench.metrics.images.frechet import (
    FrechetDistance,
    GaussianStatistics,
    feature_statistics,
    frechet_distance,
    frechet_from_statistics,
    statistics_from_moments,
)
from bench.metrics.images.kernel import KernelDistance, Subsets, kernel_distance
from bench.metrics.images.precision_recall import PrecisionRecall, precision_recall
from bench.metrics.images.together import NeighborMetrics, equalise, neighbor_metrics

__all__ = [
    "Ball",
    "Chamfer",
    "DensityCoverage",
    "Features",
    "FrechetDistance",
    "GaussianStatistics",
    "KernelDistance",
    "NeighborMetrics",
    "Neighborhood",
    "PrecisionRecall",
    "Subsets",
    "chamfer",
    "density_coverage",
    "equalise",
    "expected_coverage",
    "feature_statistics",
    "frechet_distance",
    "frechet_from_statistics",
    "kernel_distance",
    "neighbor_metrics",
    "precision_recall",
    "statistics_from_moments",
]
