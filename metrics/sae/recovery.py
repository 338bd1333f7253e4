"""Whether known factors were found: matching of atoms and of firing patterns, splitting, absorption.

Reported beside polysemanticity, not instead of it: a dictionary may reconstruct well and match badly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bench.metrics.sae.inputs import Float, codes_matrix, finite, unit_rows

_DIGITS = 7
FOUND = 0.9  # purity and F1 from which a factor counts as covered
SPLIT = 0.5  # purity from which a latent counts as a part of a factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Agreement with N known factors; all in [0, 1], higher is better."""

    mcc_factors: float  # matched |cosines| over all factors
    mcc_min: float  # over the smaller of the two numbers
    uniqueness: float  # share of latents whose nearest factor no other latent shares first
    f1_matched: float  # one to one; factors without a partner count 0
    f1_best: float  # mean over latents of the F1 with their nearest factor
    precision_best: float
    recall_best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """`coverage`: share of factors with a latent of purity and F1 >= 0.9; `splits`: latents per such factor."""

    coverage: float
    splits: float | None
    covered: np.ndarray


def recovery(*, dictionary: Any, decoder: Any, codes: Any, factors: Any) -> Recovery:
    """Match atoms `decoder` (m, d) and codes (n, m) with `dictionary` (N, d) and factor values (n, N).

    `mcc_min` and the `_best` values are those of SAELens; latents or factors never active have F1 0.
    """
    truth, atoms = unit_rows(finite("dictionary", dictionary)), unit_rows(finite("decoder", decoder))
    cosines = np.round(np.abs(atoms @ truth.T), _DIGITS)  # equal atoms stay equal, whatever their rounding
    latents, partners = linear_sum_assignment(-cosines)
    matched = float(cosines[latents, partners].sum())
    precision, recall, f1 = agreement(codes=codes, factors=factors)
    best = cosines.argmax(axis=1)
    each = np.arange(len(atoms))
    return Recovery(
        mcc_factors=matched / len(truth),
        mcc_min=matched / min(len(truth), len(atoms)),
        uniqueness=len(np.unique(best)) / len(atoms),
        f1_matched=float(f1[latents, partners].sum() / len(truth)),
        f1_best=float(f1[each, best].mean()),
        precision_best=float(precision[each, best].mean()),
        recall_best=float(recall[each, best].mean()),
    )


def agreement(*, codes: Any, factors: Any) -> tuple[Float, Float, Float]:
    """Precision, recall and F1 of (f_j != 0) as a detector of (z_i > 0), each (m, N); undefined is 0."""
    f, z = codes_matrix(codes), codes_matrix(factors)
    f.data, z.data = np.ones_like(f.data), (z.data > 0).astype(np.float64)
    both = np.asarray((f.T @ z).todense())
    fires, present = np.asarray(f.sum(axis=0)).ravel()[:, None], np.asarray(z.sum(axis=0)).ravel()[None, :]
    return _ratio(both, fires + 0 * both), _ratio(both, present + 0 * both), _ratio(2 * both, fires + present)


def coverage(*, effect: Any, purity: Any, f1: Any) -> Coverage:
    """Which factors have a clean latent. `effect` (N, m), `purity` (m,) with NaN where dead, `f1` (m, N)."""
    shares = np.nan_to_num(np.asarray(purity, dtype=np.float64))
    strongest = np.asarray(effect).argmax(axis=0)
    scores = np.asarray(f1)
    each = np.arange(len(shares))
    clean = (shares >= FOUND) & (scores[each, strongest] >= FOUND)
    covered = np.zeros(scores.shape[1], dtype=bool)
    covered[strongest[clean]] = True
    parts = np.bincount(strongest[shares >= SPLIT], minlength=scores.shape[1])
    return Coverage(
        coverage=float(covered.mean()),
        splits=float(parts[covered].mean()) if covered.any() else None,
        covered=covered,
    )


def absorption(*, codes: Any, factors: Any, parents: Any, f1: Any) -> float | None:
    """Mean over parents of 1 - recall(parent's latent | a child is on) / recall(the same | no child is on).

    `parents` (N,) holds the parent of each factor or -1. The latent of a parent is the one with the highest `f1`
    (m, N). None if no parent can be judged. 0 is best; negative values (a latent that prefers children) count 0.
    """
    f, z = codes_matrix(codes), np.asarray(codes_matrix(factors).todense()) > 0
    parent_of, best = np.asarray(parents), np.asarray(f1).argmax(axis=0)
    losses = []
    for parent in np.unique(parent_of[parent_of >= 0]):
        child = z[:, parent_of == parent].any(axis=1)
        fires = np.asarray(f[:, [int(best[parent])]].todense()).ravel() != 0
        with_child, alone = z[:, parent] & child, z[:, parent] & ~child
        if not with_child.any() or not alone.any() or not fires[alone].any():
            continue
        losses.append(max(0.0, 1 - fires[with_child].mean() / fires[alone].mean()))
    return float(np.mean(losses)) if losses else None


def _ratio(above: Float, below: Float) -> Float:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
