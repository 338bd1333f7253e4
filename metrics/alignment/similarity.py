"""Perceptual similarity: two alternatives, just noticeable differences, odd ones out, similarity structures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.ranks import spearman
from bench.metrics.alignment.result import Float, Score, mean_score, undefined

THINGS_CEILING = 0.6767  # odd-one-out accuracy of people on the THINGS test triplets


def two_alternatives(*, d0: npt.ArrayLike, d1: npt.ArrayLike, chose_1: npt.ArrayLike) -> Score:
    """Agreement with people who said which of two images is nearer to a third; in [0, 1], higher is better.

    `d0`, `d1`: distances (n,) of either image to the reference, the smaller being the model's choice; `chose_1`: the
    share of people who chose image 1, in [0, 1]. A tie earns half. Source: R. Zhang et al. (2018), The unreasonable
    effectiveness of deep features as a perceptual metric.

    >>> two_alternatives(d0=[1, 2, 3, 1], d1=[2, 1, 3, 5], chose_1=[0.2, 1, 0.4, 0]).value
    0.825
    """
    return mean_score(two_alternative_items(d0=d0, d1=d1, chose_1=chose_1))


def two_alternative_items(*, d0: npt.ArrayLike, d1: npt.ArrayLike, chose_1: npt.ArrayLike) -> Float:
    """The agreement on each triplet, (n,)."""
    first, second, share = _checked(d0=d0, d1=d1, chose_1=chose_1)
    if len(share) and (share.min() < 0 or share.max() > 1):
        raise ValueError("chose_1 must be shares from 0 to 1")
    return np.asarray(np.select([first < second, second < first], [1 - share, share], 0.5))


def two_alternatives_ceiling(*, chose_1: npt.ArrayLike) -> tuple[float, float]:
    """(The best any model can reach, what an observer drawn at random reaches) on these answers."""
    (share,) = _checked(chose_1=chose_1)
    return float(np.maximum(share, 1 - share).mean()), float((share**2 + (1 - share) ** 2).mean())


def noticeable_precision(*, distance: npt.ArrayLike, same: npt.ArrayLike) -> Score:
    """Average precision of small distances as a sign that people see no difference; in [0, 1].

    `same`: the share of people (n,) who took the two for the same. Pairs of equal distance count as one point, so that
    the order of rows cannot matter; precision is made non-increasing from the right.
    """
    d, share = _checked(distance=distance, same=same)
    if share.sum() == 0:
        return undefined("no positive: nobody took any pair for the same")
    order = np.argsort(d, kind="stable")
    last = np.append(d[order][1:] != d[order][:-1], True)  # of each group of equal distances
    hits, misses = np.cumsum(share[order])[last], np.cumsum(1 - share[order])[last]
    precision = np.maximum.accumulate((hits / (hits + misses))[::-1])[::-1]
    steps = np.diff(np.concatenate(([0.0], hits / share.sum())))
    return Score(value=float((precision * steps).sum()), n_used=len(d))


def odd_one_out(*, similarities: npt.ArrayLike, odd: npt.ArrayLike) -> Score:
    """Share of triplets on which the model's odd one is that of the people; in [0, 1], chance is 1/3.

    `similarities` (n, 3): of the pairs (0, 1), (0, 2), (1, 2); `odd` (n,): the image people chose, 0-2. The model's odd
    one is outside its most similar pair; exact ties share the credit.
    """
    found = np.asarray(similarities, dtype=np.float64)
    _finite(found, "similarities")
    outside = found[:, ::-1]  # column i: similarity of the pair without image i
    best = outside == outside.max(axis=1, keepdims=True)
    chosen = best[np.arange(len(found)), np.asarray(odd, dtype=np.int64)]
    return mean_score(chosen / best.sum(axis=1))


def normalised_odd_one_out(*, accuracy: float, ceiling: float = THINGS_CEILING) -> float:
    """(accuracy - 1/3) / (ceiling - 1/3): 0 is chance, 1 the agreement of people; not clipped."""
    return (accuracy - 1 / 3) / (ceiling - 1 / 3)


def cosine_distance(*, x: npt.ArrayLike, y: npt.ArrayLike) -> Float:
    """1 - cosine of the rows of `x` and `y`, each (n, d); in [0, 2], exactly 0 for equal rows.

    A row without length is at distance 1 from everything but an equal row.
    """
    a, b = (np.asarray(v, dtype=np.float64) for v in (x, y))
    for array in (a, b):
        _finite(array, "features")
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    cosine = np.divide(products, lengths, out=np.zeros(len(a)), where=lengths > 0)
    return np.where((a == b).all(axis=1), 0.0, np.clip(1 - cosine, 0.0, 2.0))


def standardised_distance(*, x: npt.ArrayLike, y: npt.ArrayLike, references: npt.ArrayLike) -> Float:
    """Euclidean distance of rows after every feature is divided by its deviation over `references`.

    Features that are constant over the references are left out.
    """
    a, b, r = (np.asarray(v, dtype=np.float64) for v in (x, y, references))
    for array in (a, b, r):
        _finite(array, "features")
    spread = r.std(axis=0)
    kept = spread > 0
    return np.asarray(np.linalg.norm((a[:, kept] - b[:, kept]) / spread[kept], axis=1))


def structure_agreement(*, x: npt.ArrayLike, y: npt.ArrayLike) -> Score:
    """Spearman correlation of the upper triangles of two (dis)similarity matrices (n, n), n >= 4."""
    a, b = (np.asarray(v, dtype=np.float64) for v in (x, y))
    if a.shape != b.shape or a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"expected two square matrices of one size, got {a.shape} and {b.shape}")
    if len(a) < 4:
        return undefined(f"{len(a)} items; at least 4 are needed")
    rows = np.triu_indices(len(a), 1)
    found = spearman(x=a[rows], y=b[rows])
    return Score(value=found.value, n_used=found.n_used, reason=found.reason)


def _checked(**named: npt.ArrayLike) -> tuple[Float, ...]:
    """Vectors of one length and finite: a NaN compared with anything would silently count as wrong."""
    arrays = {name: np.asarray(value, dtype=np.float64) for name, value in named.items()}
    if len({a.shape for a in arrays.values()}) != 1 or next(iter(arrays.values())).ndim != 1:
        raise ValueError(f"expected vectors of one length, got { {n: a.shape for n, a in arrays.items()} }")
    for name, array in arrays.items():
        _finite(array, name)
    return tuple(arrays.values())


def _finite(array: Float, name: str) -> None:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise ValueError(f"{name}: {len(bad)} values are not finite, the first at {bad[0].tolist()}")
