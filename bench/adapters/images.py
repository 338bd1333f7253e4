"""Adapters of the family `images`: generators of images, sources of features or moments, encoders, metrics."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from bench.spec import Adapter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Images = npt.NDArray[np.uint8]
    Labels = npt.NDArray[np.int64]
    Features = npt.NDArray[np.float32]
    Float64 = npt.NDArray[np.float64]


class ImageGenerator(Adapter):
    """Makes images. The bench calls `setup`, then `fit` once, then `sample`, then `close`.

    Images are uint8 arrays of shape (n, C, H, W) with C 1 or 3 and the C, H, W of the dataset.
    `self.info` is set before `setup` is called; `ctx.size` tells how much work is wanted.
    """

    #: Which real images `fit` receives. Models use "fit"; "hold" marks an oracle that is shown as such.
    fits_on: ClassVar[Literal["fit", "hold"]] = "fit"

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        """Train on `images` (uint8 (N, C, H, W)); the default does nothing, for pretrained models.

        `budget_s` is the wall-clock time left for the whole job. Same seed, same result.
        """
        return

    @abstractmethod
    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        """Return `n` images, uint8 (n, C, H, W). Same seed, same images.

        `labels` asks for classes (None: the model's own mix); `nfe` asks for a number of function
        evaluations, for models that have one.
        """


class FeatureSource(Adapter):
    """Stands in for a generator of which only features exist: surrogates and precomputed sets.

    It is scored with the metrics of features alone and has no pictures.
    """

    def fit_features(self, reference: Mapping[str, Features], *, seed: int) -> None:
        """Look at the reference features, one float32 (n, d) array per encoder name."""
        return

    @abstractmethod
    def features(self, n: int, *, seed: int, encoder: str) -> Features:
        """Return float32 (n, d) features in the space of `encoder`. Same seed, same features."""


class ImageEncoder(Adapter):
    """Turns images into feature vectors, in which distances are measured; takes part in `images.audit`.

    Its card needs the tag "encoder" and `only_tasks=("images.audit",)`.
    """

    #: Names an encoder that the bench has, which is then used instead; "default" is that of the data set.
    encoder: str | None = None

    def encode(self, images: Images, *, device: str) -> Features:
        """Return float32 (n, d) features of images uint8 (n, C, H, W); each depends on its own image alone."""
        # Not abstract: an encoder that only names one of the bench needs no method.
        raise NotImplementedError(f"{type(self).__name__} encodes nothing and names no encoder")

    def head(self) -> tuple[Features, Features] | None:
        """Weights (classes, d) and bias (classes,) that turn features into logits; None without a classifier."""
        return None


class MetricTable(Adapter):
    """Metric values of published models, made in the feature space of one encoder; for `images.human_correlation`.

    Its card needs the tag "metric-table" and `only_tasks=("images.human_correlation",)`.
    """

    #: Takes the values of the published table instead of asking for `values`.
    published: bool = False

    def values(self, dataset: str, models: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """For each metric that was computed its values for `models`, in their order."""
        # Not abstract: the published table is taken without asking.
        raise NotImplementedError(f"{type(self).__name__} has no values")


class MetricPair(Adapter):
    """A metric of fidelity and one of diversity, both meant to be 1 for equal sets and 0 for disjoint ones.

    Takes part in `images.sanity` alone; its card needs the tag "metric-pair" and `only_tasks=("images.sanity",)`.
    """

    #: Names a pair that the bench has, which is then used instead of `measure`.
    pair: str | None = None

    def measure(self, real: Float64, generated: Float64) -> tuple[float, float]:
        """Fidelity and diversity of generated points (m, d) beside real ones (n, d); NaN where not defined."""
        # Not abstract: a pair that only names one of the bench needs no method.
        raise NotImplementedError(f"{type(self).__name__} measures nothing and names no pair")


class MomentSource(Adapter):
    """Stands in for a generator of which only the mean and covariance of its features are known.

    Of such a model only the Frechet distance can be computed; every other metric says so.
    """

    @abstractmethod
    def moments(self, encoder: str) -> tuple[Float64, Float64]:
        """Mean (d,) and covariance (d, d) in the space of `encoder`, the data set's default."""
