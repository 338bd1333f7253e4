"""Authenticity: is a generated sample farther from its nearest training sample than that one's own neighbour?"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from bench.metrics.images._inputs import Features, feature_set, feature_sets
from bench.metrics.images._neighborhood import share
from bench.metrics.neighbors import nearest_others, nearest_to


@dataclass(frozen=True)
class Authenticity:
    """share of authentic generated samples, in [0, 1]: 0 for copies of training samples, higher is more novel.

    Held-out real samples give about one half, not 1; noise gives 1, so that it is no measure of quality.
    """

    share: float


def training_radii(*, train: Features) -> Tensor:
    """Distance of each training sample to its nearest neighbour among them, float64 (n,): the same for every model.

    train: (n, d), numpy or torch, n >= 2. Raises ValueError for bad features.
    """
    known = feature_set(train, "train")
    if len(known) < 2:
        raise ValueError(f"train: needs at least 2 samples, got {len(known)}")
    return nearest_others(points=known, k=1).distances[:, 0]


def authenticity(*, train: Features, generated: Features, radii: Tensor | None = None) -> Authenticity:
    """Share of generated samples whose distance to the nearest training sample t exceeds that of t to its neighbour.

    train: (n, d), generated: (m, d), numpy or torch, n >= 2. radii: `training_radii` of this training set, if they are
    at hand; they take most of the time. Raises ValueError for bad features and a wrong number of radii.

    Alaa, van Breugel, Saveliev, van der Schaar, "How Faithful is your Synthetic Data? Sample-level Metrics for
    Evaluating and Auditing Generative Models", ICML 2022.

    >>> import numpy as np
    >>> authenticity(train=np.array([[0.0], [1], [5]]), generated=np.array([[0.0], [0.5], [9.5], [-2]])).share
    0.5
    """
    known, y = feature_sets(train=train, generated=generated)
    if radii is None:
        radii = training_radii(train=known)
    if radii.shape != (len(known),):
        raise ValueError(f"radii: {len(known)} training samples need as many radii, got {tuple(radii.shape)}")
    nearest = nearest_to(points=known, queries=y, k=1)
    return Authenticity(share(nearest.distances[:, 0] > radii[nearest.indices[:, 0]]))
