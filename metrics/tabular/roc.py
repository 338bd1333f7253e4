"""Receiver operating characteristic of scores of two groups, ties handled as a coin would."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]


def auc(positives: Scores, negatives: Scores) -> float:
    """P(positive scores higher) + 0.5 P(equal), in [0, 1].

    >>> auc(np.array([2.0, 3.0]), np.array([1.0, 3.0]))
    0.625
    """
    ordered = np.sort(negatives)
    below = np.searchsorted(ordered, positives, side="left")
    upto = np.searchsorted(ordered, positives, side="right")
    return float((below.sum() + upto.sum()) / (2 * len(positives) * len(negatives)))


def roc_curve(positives: Scores, negatives: Scores) -> tuple[Scores, Scores]:
    """False and true positive rates from (0, 0) to (1, 1), one point for each threshold."""
    scores = np.concatenate([positives, negatives])
    is_positive = np.arange(len(scores)) < len(positives)
    order = np.argsort(-scores, kind="stable")
    last_of_ties = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true = np.cumsum(is_positive[order])[last_of_ties]
    false = np.cumsum(~is_positive[order])[last_of_ties]
    return np.append(0.0, false / len(negatives)), np.append(0.0, true / len(positives))


def tpr_at(positives: Scores, negatives: Scores, false_positive_rate: float) -> float:
    """True positive rate at a false positive rate; between thresholds the test is randomised, in [0, 1]."""
    false, true = roc_curve(positives, negatives)
    return float(np.interp(false_positive_rate, *_upper(false, true)))


def _upper(false: Scores, true: Scores) -> tuple[Scores, Scores]:
    """The highest point at each false positive rate."""
    last = np.append(np.flatnonzero(np.diff(false)), len(false) - 1)
    return false[last], true[last]
