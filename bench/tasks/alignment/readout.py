"""Logits for a benchmark's classes: the model's own head where its label space fits, else a probe on its features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from bench.adapters.alignment import VisionModel
from bench.errors import MissingRequirement
from bench.metrics.alignment.calibration import softmax
from bench.metrics.alignment.categories import category_scores
from bench.tasks.alignment.seeing import Array, Images, check_batches, features_of, logits_of

IMAGENET = 1_000
CATEGORIES16 = "categories16"  # the label space of the 16 categories, which ImageNet's classes can answer

Labels = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings:
    """Logits (n, K) of each readout there is: "native" and "probe"."""

    by_readout: dict[str, Array]
    headline: str

    @property
    def logits(self) -> Array:
        return self.by_readout[self.headline]


def readings(
    model: VisionModel,
    images: Images,
    *,
    space: str,
    classes: int,
    train: tuple[Images, Labels] | None,
    device: str,
) -> Readings:
    """Both readouts, as far as they exist; the headline is the native one unless its head was never trained."""
    check_batches(model, images, device)
    found: dict[str, Array] = {}
    if space == CATEGORIES16 and model.label_space == "imagenet1k":
        scores = category_scores(softmax(logits_of(model, images, device, IMAGENET)))
        found["native"] = np.log(np.maximum(scores, 1e-30)).astype(np.float32)
    elif model.label_space == space:
        found["native"] = logits_of(model, images, device, classes)
    if train is not None:
        known, labels = features_of(model, train[0], device), train[1]
        found["probe"] = Probe(known, labels).logits(features_of(model, images, device)).astype(np.float32)
    if not found:
        raise MissingRequirement(
            f"label space {model.label_space!r} does not fit, and there is nothing to fit a readout on: "
            "these images need logits of ImageNet's 1,000 classes"
        )
    native = "native" in found and (model.native_head or "probe" not in found)
    return Readings(by_readout=found, headline="native" if native else "probe")


class Probe:
    """Multinomial logistic regression on standardised features: L2 with C = 1, L-BFGS, float64.

    Features that are constant over the training images are left out.
    """

    def __init__(self, features: Array, labels: Labels, *, c: float = 1.0) -> None:
        x = np.asarray(features, dtype=np.float64)
        self._mean, spread = x.mean(axis=0), x.std(axis=0)
        self._kept = spread > 1e-12
        self._spread = spread[self._kept]
        self.classes = np.unique(labels)
        if len(self.classes) < 2:
            raise ValueError(f"a probe needs at least two classes, got {self.classes.tolist()}")
        self._weights = _fitted(
            self._standardised(x), np.searchsorted(self.classes, labels), len(self.classes), c
        )

    def logits(self, features: Array) -> Float:
        """(n, K), in the order of the sorted classes."""
        x = self._standardised(np.asarray(features, dtype=np.float64))
        return np.asarray(x @ self._weights[:-1] + self._weights[-1])

    def gradient(self) -> tuple[npt.NDArray[np.bool_], Float]:
        """(which features count, weights (features, K) of what counts, not standardised)."""
        return self._kept, self._weights[:-1] / self._spread[:, None]

    def _standardised(self, x: Float) -> Float:
        return np.asarray((x[:, self._kept] - self._mean[self._kept]) / self._spread)


def _fitted(x: Float, labels: Labels, k: int, c: float) -> Float:
    """Weights (d + 1, k), the last row being the intercept, which is not penalised."""
    d = x.shape[1]
    onehot = np.eye(k)[labels]

    def loss(flat: Float) -> tuple[float, Float]:
        w = flat.reshape(d + 1, k)
        scores = x @ w[:-1] + w[-1]
        top = scores.max(axis=1, keepdims=True)
        e = np.exp(scores - top)
        total = e.sum(axis=1, keepdims=True)
        value = float((np.log(total) + top - (scores * onehot).sum(axis=1, keepdims=True)).sum())
        residual = e / total - onehot
        slope = np.concatenate([c * (x.T @ residual) + w[:-1], c * residual.sum(axis=0, keepdims=True)])
        return c * value + 0.5 * float((w[:-1] ** 2).sum()), slope.ravel()

    start = np.zeros((d + 1) * k)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2_000, "gtol": 1e-3 * c})
    return np.asarray(found.x.reshape(d + 1, k))
