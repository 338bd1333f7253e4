"""Memorisation ratio: are generated samples nearer to the training samples than to as many held-out ones?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from bench.metrics.images._inputs import Features, feature_sets
from bench.metrics.neighbors import nearest_to

DEGENERATE_HELD_OUT = "degenerate-held-out"
_PAIRS = 16


@dataclass(frozen=True)
class NearestPair:
    """A generated sample, its nearest training sample and their distance."""

    generated: int
    train: int
    distance: float


@dataclass(frozen=True)
class MemorisationRatio:
    """ratio: mean distance to the nearest training sample / to the nearest held-out one; 1 is clean, 0 copies.

    to_train, to_held_out: these means; train_quantile, held_out_quantile: the 1 % quantiles of the distances, where
    a few copies show that do not move a mean.
    pairs: the 16 generated samples nearest to a training sample, nearest first.
    flags: "degenerate-held-out" when every generated sample is a held-out one, so that the ratio is nan.
    """

    ratio: float
    ratio_se: float
    to_train: float
    to_held_out: float
    train_quantile: float
    held_out_quantile: float
    pairs: tuple[NearestPair, ...]
    flags: tuple[str, ...] = ()


def memorisation_ratio(*, train: Features, held_out: Features, generated: Features) -> MemorisationRatio:
    """Compare the distances of generated samples to training samples and to as many held-out real ones.

    train: (n, d), held_out: (n, d), a random subset of the training samples as large as the held-out set, for a
    larger set is nearer by its size alone; generated: (m, d); numpy or torch. Raises ValueError for bad features
    and for sets of different sizes. The definition is this project's own.

    >>> import numpy as np
    >>> train, held_out = np.array([[0.0], [4]]), np.array([[1.0], [6]])
    >>> memorisation_ratio(train=train, held_out=held_out, generated=np.array([[0.0], [4], [5]])).ratio  # 1 / 4
    0.25
    """
    known, kept, y = feature_sets(train=train, held_out=held_out, generated=generated)
    if len(known) != len(kept):
        raise ValueError(
            f"train and held_out must have one size, got {len(known)} and {len(kept)}; "
            "take a random subset of the larger"
        )
    to_train = nearest_to(points=known, queries=y, k=1)
    to_kept = nearest_to(points=kept, queries=y, k=1).distances[:, 0]
    near = to_train.distances[:, 0]
    mean, reference = float(near.mean()), float(to_kept.mean())
    ratio = mean / reference if reference > 0 else math.nan
    order = near.argsort(stable=True)[:_PAIRS].tolist()
    return MemorisationRatio(
        ratio=ratio,
        ratio_se=_standard_error(near - ratio * to_kept) / reference if reference > 0 else math.nan,
        to_train=mean,
        to_held_out=reference,
        train_quantile=_quantile(near),
        held_out_quantile=_quantile(to_kept),
        pairs=tuple(NearestPair(row, int(to_train.indices[row, 0]), float(near[row])) for row in order),
        flags=() if reference > 0 else (DEGENERATE_HELD_OUT,),
    )


def _standard_error(values: Tensor) -> float:
    """Of the mean; of the residuals of a ratio of means it is that of the ratio to first order."""
    return float(values.std()) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def _quantile(distances: Tensor) -> float:
    """The 1 % quantile, a distance that occurs (torch's quantile refuses more than 2^24 values)."""
    return float(distances.sort().values[max(0, math.ceil(0.01 * len(distances)) - 1)])
