"""Inception score: confident predictions for single samples, varied over all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from bench.metrics.images._inputs import Features, feature_set


@dataclass(frozen=True)
class InceptionScore:
    """score in [1, classes], higher better; it never looks at real samples."""

    score: float


def inception_score(*, logits: Features) -> InceptionScore:
    """exp(mean KL(p(class | sample) || mean p)) over the whole sample, with probabilities kept as logarithms.

    logits: (n, classes) of a classifier for the generated samples, numpy or torch. Raises ValueError for bad values.

    Salimans, Goodfellow, Zaremba, Cheung, Radford, Chen, "Improved Techniques for Training GANs", NeurIPS 2016.

    >>> import numpy as np
    >>> round(inception_score(logits=1000 * np.eye(4)).score, 9)
    4.0
    """
    logs = torch.log_softmax(feature_set(logits, "logits").double(), dim=1)
    marginal = torch.logsumexp(logs, dim=0) - math.log(len(logs))
    divergence = float((logs.exp() * (logs - marginal)).sum(1).mean())
    return InceptionScore(math.exp(max(0.0, divergence)))
