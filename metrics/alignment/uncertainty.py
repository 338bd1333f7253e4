"""Human response uncertainty: distributions of answers against soft predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.ranks import average_ranks, correlation_columns, correlation_of
from bench.metrics.alignment.result import (
    Float,
    HumanDataError,
    Score,
    function_of_means,
    mean_score,
    undefined,
)

FLOOR = 1e-10  # probabilities are raised to it
BINS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftAgreement:
    """How far predictions Q are from the answers P of people; natural logarithms."""

    accuracy: Score  # against the labels
    cross_entropy: Score  # -sum P log Q, lower is better; its floor is the mean entropy of P
    kl: Score  # cross-entropy less the mean entropy of P; 0 is best
    js: Score  # Jensen-Shannon divergence, [0, ln 2]; 0 is best
    tv: Score  # total variation, [0, 1]; 0 is best
    rho_entropy: Score  # Spearman of the entropies of P and Q over images; higher is better
    second_choice: Score  # share of images with the second choice of people, where they have one
    confusion_rho: Score  # Spearman of the mean answers to the wrong classes
    ece: float  # expected calibration error, 15 bins; lower is better


def distributions(counts: npt.ArrayLike) -> Float:
    """Human distributions (n, k) from counts (n, k) of answers."""
    array = np.asarray(counts, dtype=np.float64)
    if array.ndim != 2 or len(array) == 0:
        raise HumanDataError(f"counts must be (images, classes), got {array.shape}")
    wrong = ~(np.isfinite(array) & (array >= 0) & (array == np.round(array))).all(axis=1) | (
        array.sum(axis=1) == 0
    )
    if wrong.any():
        raise HumanDataError(
            f"counts of {int(wrong.sum())} images are negative, not whole or all 0: rows "
            f"{np.flatnonzero(wrong)[:5].tolist()}"
        )
    return np.asarray(array / array.sum(axis=1, keepdims=True))


def entropies(p: Float) -> Float:
    """Entropy of each row in nats, (n,)."""
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(np.maximum(-(p * logs).sum(axis=1), 0.0))


def clipped(q: npt.ArrayLike) -> Float:
    """Predictions (n, k) with every probability at least 1e-10, rows summing to 1."""
    array = np.maximum(np.asarray(q, dtype=np.float64), FLOOR)
    return np.asarray(array / array.sum(axis=1, keepdims=True))


def soft_agreement(*, p: npt.ArrayLike, q: npt.ArrayLike, labels: npt.ArrayLike) -> SoftAgreement:
    """Compare predictions `q` (n, k) with the distributions `p` (n, k) of people's answers.

    Source: J. C. Peterson et al. (2019), Human uncertainty makes classification more robust.
    """
    people, model = np.asarray(p, dtype=np.float64), clipped(q)
    truth = np.asarray(labels, dtype=np.int64)
    if people.shape != model.shape or truth.shape != people.shape[:1]:
        raise ValueError(f"expected equal shapes, got {people.shape}, {model.shape} and labels {truth.shape}")
    own, given = entropies(people), -(people * np.log(model)).sum(axis=1)
    middle = (people + model) / 2
    js = np.clip(entropies(middle) - (own + entropies(model)) / 2, 0.0, np.log(2))
    return SoftAgreement(
        accuracy=mean_score(model.argmax(axis=1) == truth),
        cross_entropy=mean_score(given),
        kl=mean_score(np.maximum(given - own, 0.0)),
        js=mean_score(js),
        tv=mean_score(np.abs(people - model).sum(axis=1) / 2),
        rho_entropy=entropy_correlation(own, entropies(model)),
        second_choice=second_choice(people, np.asarray(q, dtype=np.float64)),
        confusion_rho=confusion_correlation(people, model, truth),
        ece=calibration_error(model, truth),
    )


def entropy_correlation(x: Float, y: Float) -> Score:
    """Spearman correlation of two vectors of entropies (average ranks)."""
    if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return undefined("all images have the same entropy on one side")
    return function_of_means(entropy_columns(x, y), correlation_of)


def entropy_columns(x: Float, y: Float) -> Float:
    """Columns (n, 5) whose means give the correlation of ranks.

    Entropies are rounded to 12 decimals, so that what is equal but for rounding shares its rank.
    """
    return correlation_columns(*(average_ranks(v.round(12)) for v in (x, y)))


def second_choice(p: Float, q: Float) -> Score:
    """Agreement of second choices, on images where people have a unique first and second one."""
    if p.shape[1] < 3:
        return undefined("fewer than three classes: every second choice is known from the first")
    order = np.argsort(p, axis=1, kind="stable")
    first, second, third = (np.take_along_axis(p, order[:, [-i]], axis=1)[:, 0] for i in (1, 2, 3))
    kept = (first > second) & (second > third) & (second > 0)
    if not kept.any():
        return undefined("no image has a unique second choice of people", n_dropped=len(p))
    mine = np.argsort(q, axis=1, kind="stable")[:, -2]
    return mean_score((mine == order[:, -2])[kept], n_dropped=int((~kept).sum()))


def confusion_correlation(p: Float, q: Float, labels: npt.NDArray[np.int64]) -> Score:
    """Spearman correlation of the mean answers to wrong classes, per true class."""
    k = p.shape[1]
    if set(np.unique(labels)) != set(range(k)):
        return undefined("some class has no image")
    apart = ~np.eye(k, dtype=bool)
    x, y = (np.stack([v[labels == c].mean(axis=0) for c in range(k)])[apart].round(12) for v in (p, q))
    if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return undefined("all confusions are equal on one side")
    a, b = average_ranks(x), average_ranks(y)
    return Score(value=float(np.corrcoef(a, b)[0, 1]), n_used=len(x))


def calibration_error(q: Float, labels: npt.NDArray[np.int64]) -> float:
    """Mean |accuracy - confidence| over 15 equal bins of confidence, weighted by images."""
    confidence, right = q.max(axis=1), q.argmax(axis=1) == labels
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(q))
