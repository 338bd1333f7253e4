"""Metrics of generated images on feature vectors: arrays in, small results out.

Fidelity and coverage, sets passed as `real=` and `generated=`:
    frechet_distance                 mean and covariance                    (Heusel et al. 2017)
    frechet_infinity                 the same, extrapolated                 (Chong & Forsyth 2020)
    kernel_distance                  unbiased MMD^2, cubic kernel           (Binkowski et al. 2018)
    rbf_mmd                          MMD^2, Gaussian kernel on directions   (Jayasumana et al. 2024)
    sliced_wasserstein               transport on random lines, and its closed form (Nadjahi et al. 2021)
    precision_recall                 share inside nearest-neighbour balls   (Kynkaanniemi et al. 2019)
    density_coverage                 depth inside balls, balls reached      (Naeem et al. 2020)
    symmetric_precision_recall       balls of both sets                     (Khayatkhoei & AbdAlmageed 2023)
    probabilistic_precision_recall   soft balls                             (Park & Kim 2023)
    clipped_density_coverage         bounded and calibrated                 (Salvy et al. 2026)
    chamfer, chamfer_median          one-sided nearest-neighbour distances  (this project)
    neighbor_metrics                 precision, recall, density, coverage and Chamfer from one pass over all pairs

Novelty, sets passed as `train=`, `held_out=` and `generated=`:
    authenticity                     nearer to a training sample than its neighbour? (Alaa et al. 2022)
    copying_test, cell_copying_test  nearer to training samples than held-out ones?  (Meehan et al. 2020)
    memorisation_ratio               the same as a ratio, with the nearest pairs     (this project)
    fld_gap                          likelihoods of training and held-out samples    (Jiralerspong et al. 2023)

Diversity and collapse:
    vendi                            effective number of samples            (Friedman & Dieng 2023)
    effective_rank                   effective number of directions         (Roy & Vetterli 2007)
    class_balance                    class histograms, dropped classes
    inception_score                  confident and varied classes           (Salimans et al. 2016)

Flows: straightness, trajectory_straightness, chord_straightness            (Liu et al. 2023)

Metrics themselves: judge, steadiness (under known damage), rank_agreement (with people)

Sets are passed by keyword only: a swapped pair would be a plausible wrong number.
"""

from bench.metrics.images._inputs import Ball, Features
from bench.metrics.images._neighborhood import Neighborhood
from bench.metrics.images.authenticity import Authenticity, authenticity, training_radii
from bench.metrics.images.chamfer import Chamfer, chamfer
from bench.metrics.images.chamfer_median import ChamferMedian, chamfer_median
from bench.metrics.images.class_balance import ClassBalance, class_balance
from bench.metrics.images.clipped import ClippedDensityCoverage, clipped_density_coverage
from bench.metrics.images.copying import (
    CellCopyingTest,
    CopyingTest,
    cell_copying_test,
    copying_test,
    held_out_distances,
)
from bench.metrics.images.density_coverage import DensityCoverage, density_coverage, expected_coverage
from bench.metrics.images.effective_rank import EffectiveRank, effective_rank
from bench.metrics.images.fd_infinity import FrechetInfinity, frechet_infinity
from bench.metrics.images.fld import FldGap, fld_gap
from bench.metrics.images.frechet import (
    FrechetDistance,
    GaussianStatistics,
    feature_statistics,
    frechet_distance,
    frechet_from_statistics,
    statistics_from_moments,
)
from bench.metrics.images.inception_score import InceptionScore, inception_score
from bench.metrics.images.kernel import KernelDistance, Subsets, kernel_distance
from bench.metrics.images.memorisation import MemorisationRatio, NearestPair, memorisation_ratio
from bench.metrics.images.precision_recall import PrecisionRecall, precision_recall
from bench.metrics.images.probabilistic import ProbabilisticPrecisionRecall, probabilistic_precision_recall
from bench.metrics.images.rank_agreement import RankAgreement, rank_agreement
from bench.metrics.images.rbf import RbfDistance, rbf_mmd
from bench.metrics.images.sliced_wasserstein import (
    SlicedApproximation,
    SlicedWasserstein,
    sliced_wasserstein,
    sliced_wasserstein_approximation,
)
from bench.metrics.images.straightness import (
    Straightness,
    chord_straightness,
    straightness,
    trajectory_straightness,
)
from bench.metrics.images.symmetric import SymmetricPrecisionRecall, symmetric_precision_recall
from bench.metrics.images.together import NeighborMetrics, equalise, neighbor_metrics
from bench.metrics.images.vendi import Vendi, vendi
from bench.metrics.images.verdicts import Verdict, judge, steadiness

__all__ = [
    "Authenticity",
    "Ball",
    "CellCopyingTest",
    "Chamfer",
    "ChamferMedian",
    "ClassBalance",
    "ClippedDensityCoverage",
    "CopyingTest",
    "DensityCoverage",
    "EffectiveRank",
    "Features",
    "FldGap",
    "FrechetDistance",
    "FrechetInfinity",
    "GaussianStatistics",
    "InceptionScore",
    "KernelDistance",
    "MemorisationRatio",
    "NearestPair",
    "NeighborMetrics",
    "Neighborhood",
    "PrecisionRecall",
    "ProbabilisticPrecisionRecall",
    "RankAgreement",
    "RbfDistance",
    "SlicedApproximation",
    "SlicedWasserstein",
    "Straightness",
    "Subsets",
    "SymmetricPrecisionRecall",
    "Vendi",
    "Verdict",
    "authenticity",
    "cell_copying_test",
    "chamfer",
    "chamfer_median",
    "chord_straightness",
    "class_balance",
    "clipped_density_coverage",
    "copying_test",
    "density_coverage",
    "effective_rank",
    "equalise",
    "expected_coverage",
    "feature_statistics",
    "fld_gap",
    "frechet_distance",
    "frechet_from_statistics",
    "frechet_infinity",
    "held_out_distances",
    "inception_score",
    "judge",
    "kernel_distance",
    "memorisation_ratio",
    "neighbor_metrics",
    "precision_recall",
    "probabilistic_precision_recall",
    "rank_agreement",
    "rbf_mmd",
    "sliced_wasserstein",
    "sliced_wasserstein_approximation",
    "statistics_from_moments",
    "steadiness",
    "straightness",
    "symmetric_precision_recall",
    "training_radii",
    "trajectory_straightness",
    "vendi",
]
