"""The metrics of the family `images`: definitions, ranges, directions and sources."""

from __future__ import annotations

from bench.spec import MetricInfo

_OWN = "this project, 2026; after the argument for Chamfer distances in a 2026 abstract without public code"
_HEUSEL = "M. Heusel et al. (2017), GANs trained by a two time-scale update rule converge to a local Nash equilibrium"
_BINKOWSKI = "M. Binkowski et al. (2018), Demystifying MMD GANs"
_KYNKAANNIEMI = (
    "T. Kynkaanniemi et al. (2019), Improved precision and recall metric for assessing generative models"
)
_NAEEM = "M. F. Naeem et al. (2020), Reliable fidelity and diversity metrics for generative models"
_SALVY = (
    "N. Salvy, H. Talbot and B. Thirion (2026), Enhanced generative model evaluation with clipped density and "
    "coverage"
)
_ALAA = "A. M. Alaa, B. van Breugel, E. S. Saveliev and M. van der Schaar (2022), How faithful is your synthetic data?"
_MEEHAN = (
    "C. Meehan, K. Chaudhuri and S. Dasgupta (2020), A non-parametric test to detect data-copying in generative "
    "models"
)

NOVELTY_METRICS = (
    MetricInfo(
        name="memorisation_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Memorisation ratio",
        definition="Mean distance from a generated image to its nearest training image, divided by that to the "
        "nearest of as many held-out ones. 1 is clean, 0 are copies (copies of a training set twice as large as the "
        "held-out set give about one half); below 0.9 the badge `copying` is given.",
        cite=_OWN,
    ),
    MetricInfo(
        name="authenticity",
        direction="none",
        lo=0.0,
        hi=1.0,
        title="Authenticity",
        definition="Share of generated images farther from their nearest training image than that one's own nearest "
        "training neighbour. 0 for copies, about one half for real images, 1 for noise.",
        cite=_ALAA,
    ),
    MetricInfo(
        name="copying_z",
        direction="none",
        target=0.0,
        title="Copying test, z",
        definition="Mann-Whitney statistic of the distances to training images, generated against held-out ones: "
        "far below 0 is copying, far above 0 unlike the training images.",
        cite=_MEEHAN,
    ),
    MetricInfo(
        name="fd_inf",
        direction="min",
        title="Fréchet, extrapolated",
        definition="Fréchet distance extrapolated to infinitely many generated images by a line in 1 / n; may be "
        "negative. Needs 500 images.",
        cite="M. J. Chong and D. Forsyth (2020), Effectively unbiased FID and Inception score and where to find them",
    ),
    MetricInfo(
        name="clipped_density",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Clipped density",
        definition="Density with radii and counts clipped, relative to that of real images, at most 1: falls with "
        "the share of bad images (k = 5).",
        cite=_SALVY,
    ),
    MetricInfo(
        name="clipped_coverage",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Clipped coverage",
        definition="Share of good images that would reach as much of the balls of real ones (k = 5).",
        cite=_SALVY,
    ),
    MetricInfo(
        name="vendi_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Vendi ratio",
        definition="Effective number of different generated images (cosine kernel), divided by that of real ones. "
        "Below 1: collapse; above 1: noise.",
        cite="D. Friedman and A. B. Dieng (2023), The Vendi score: a diversity evaluation metric for machine learning",
    ),
    MetricInfo(
        name="rank_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Effective rank ratio",
        definition="Effective rank of the covariance of generated features, divided by that of real ones: below 1 a "
        "collapse on fewer directions.",
        cite="O. Roy and M. Vetterli (2007), The effective rank: a measure of effective dimensionality",
    ),
)

FIDELITY_METRICS = (
    MetricInfo(
        name="chamfer_dev",
        direction="min",
        lo=0.0,
        primary=True,
        title="Chamfer deviation",
        definition="|ln r2g_ratio| + |ln g2r_ratio| + |ln self_ratio|: 0 if generated images lie as near to real "
        "ones, and to each other, as real ones do; ratios below 0.001 count as 0.001.",
        cite=_OWN,
    ),
    MetricInfo(
        name="r2g_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Coverage ratio",
        definition="Mean distance from a real image to its nearest generated one, divided by that to its nearest "
        "other real one. Above 1: parts of the real images are not reached.",
        cite=_OWN,
    ),
    MetricInfo(
        name="g2r_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Fidelity ratio",
        definition="Mean distance from a generated image to its nearest real one, divided by the distance between "
        "nearest real ones. Above 1: generated images lie off the real ones; below 1 is not better than real.",
        cite=_OWN,
    ),
    MetricInfo(
        name="self_ratio",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Self ratio",
        definition="Mean distance between nearest generated images, divided by that between nearest real ones. "
        "Below 1: concentration or duplicates; above 1: added noise.",
        cite=_OWN,
    ),
    MetricInfo(
        name="chamfer",
        direction="min",
        lo=0.0,
        title="Chamfer",
        definition="Half the sum of chamfer_r2g and chamfer_g2r.",
        cite=_OWN,
    ),
    MetricInfo(
        name="chamfer_r2g",
        direction="min",
        lo=0.0,
        title="Real to generated",
        definition="Mean distance from a real image to its k nearest generated ones (k = 1; facet k=5).",
        cite=_OWN,
    ),
    MetricInfo(
        name="chamfer_g2r",
        direction="min",
        lo=0.0,
        title="Generated to real",
        definition="Mean distance from a generated image to its k nearest real ones (k = 1; facet k=5).",
        cite=_OWN,
    ),
    MetricInfo(
        name="fd",
        direction="min",
        lo=0.0,
        title="Fréchet distance",
        definition="Fréchet distance between Gaussians with the means and covariances of both feature sets; blind "
        "to everything else. It falls with the number of images: compare only at equal n.",
        cite=_HEUSEL,
    ),
    MetricInfo(
        name="kid",
        direction="min",
        unit="×10⁻³",
        title="Kernel distance",
        definition="1000 times the unbiased squared MMD over all images with the kernel (x·y/d + 1)³; may be "
        "negative.",
        cite=_BINKOWSKI,
    ),
    MetricInfo(
        name="precision",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Precision",
        definition="Share of generated images inside some closed ball around a real one that reaches to its k-th "
        "nearest other real one (k = 5; facet k=3).",
        cite=_KYNKAANNIEMI,
    ),
    MetricInfo(
        name="recall",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Recall",
        definition="Share of real images inside some closed ball around a generated one that reaches to its k-th "
        "nearest other generated one (k = 5; facet k=3).",
        cite=_KYNKAANNIEMI,
    ),
    MetricInfo(
        name="density",
        direction="none",
        lo=0.0,
        target=1.0,
        title="Density",
        definition="Mean number of real balls that hold a generated image, divided by k; 1 is expected of real "
        "images, more means concentration where real images are dense. At most n / k.",
        cite=_NAEEM,
    ),
    MetricInfo(
        name="coverage",
        direction="max",
        lo=0.0,
        hi=1.0,
        title="Coverage",
        definition="Share of real images whose ball holds a generated one; about 0.97 is expected of real images "
        "at k = 5.",
        cite=_NAEEM,
    ),
)
