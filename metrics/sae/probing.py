"""k-sparse probing: how well a label follows from the k most different latents, or from all dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.metrics.sae.inputs import Float, finite

FEWEST = 20  # rows of a class
_STEPS = 25  # of Newton's method
_PENALTY = 1.0


def probe_auc(
    *, train: Any, train_labels: Any, test: Any, test_labels: Any, k: int | None, scale: Any = None
) -> float | None:
    """Area under the ROC curve on `test` (n, m) of an L2 logistic regression on `k` columns; all if None.

    Columns are chosen by the largest |difference of class means| on the *training* rows, after division by `scale`
    (m,), the mean active value of each latent. Higher is better; 0.5 is guessing. None if a class has fewer than 20
    rows on a side.
    """
    x, y = finite("train", train), np.asarray(train_labels, dtype=bool)
    z, truth = finite("test", test), np.asarray(test_labels, dtype=bool)
    if min(y.sum(), (~y).sum(), truth.sum(), (~truth).sum()) < FEWEST:
        return None
    unit = np.ones(x.shape[1]) if scale is None else np.where(np.asarray(scale) > 0, scale, 1.0)
    x, z = x / unit, z / unit
    if k is not None:
        gaps = np.abs(x[y].mean(axis=0) - x[~y].mean(axis=0))
        chosen = np.argsort(-gaps, kind="stable")[:k]
        x, z = x[:, chosen], z[:, chosen]
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 1e-9 * max(1.0, float(np.abs(x).max())), spread, np.inf)
    weights = _logistic((x - centre) / spread, y)
    return area_under_curve(scores=((z - centre) / spread) @ weights[:-1], labels=truth)


def area_under_curve(*, scores: Any, labels: Any) -> float:
    """Probability that a positive row scores above a negative one, ties counted half.

    >>> area_under_curve(scores=[1.0, 2.0, 2.0], labels=[False, False, True])
    0.75
    """
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[index]
    positive, negative = int(truth.sum()), int((~truth).sum())
    if positive == 0 or negative == 0:
        raise ValueError("the area under a ROC curve needs both classes")
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _logistic(x: Float, labels: np.ndarray) -> Float:
    """Weights (d + 1,), the intercept last and unpenalised, by Newton's method with step halving.

    With more columns than rows the rows' span is enough: the penalty keeps weights in it.
    """
    if x.shape[1] > len(x):
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        inner = _logistic(u * s, labels)
        return np.append(inner[:-1] @ vt, inner[-1])
    design = np.column_stack([x, np.ones(len(x))])
    penalty = np.append(np.full(x.shape[1], _PENALTY), 0.0)
    y = labels.astype(np.float64)
    weights = np.zeros(design.shape[1])
    value = _loss(design, y, penalty, weights)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -500, 500)))
        gradient = design.T @ (p - y) + penalty * weights
        hessian = (design.T * (p * (1 - p))) @ design + np.diag(penalty + 1e-9)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while (trial := _loss(design, y, penalty, weights - size * step)) > value and size > 1e-4:
            size /= 2
        weights = weights - size * step
        if value - trial < 1e-9 * max(1.0, abs(value)):
            break
        value = trial
    return weights


def _loss(design: Float, y: Float, penalty: Float, weights: Float) -> float:
    logits = design @ weights
    return float((np.logaddexp(0, logits) - y * logits).sum() + 0.5 * (penalty * weights**2).sum())
