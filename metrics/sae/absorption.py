"""First-letter absorption: how much of a probe's direction is carried by latents that should not know of it.

D. Chanin, J. Wilken-Smith, T. Dulka, H. Bhatnagar and J. Bloom (2024), A is for Absorption, in the graded form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.metrics.sae.inputs import finite

SHARE, COSINE, MOST = 0.4, 0.1, 3


def absorbed_fraction(*, code: Any, decoder: Any, probe: Any, row: Any, main: Sequence[int]) -> float | None:
    """Fraction in [0, 1] of what points along `probe` (d,) in `row` (d,) that other latents than `main` carry.

    Lower is better. The contribution of latent j is f_j (w_j . p) with unit p and the real w_j; A sums those of `main`,
    T = x . p, B the three largest of other latents with cos(w_j, p) >= 0.1. 0 if A >= T or B / T < 0.4, 1 if A <= 0,
    else min(B, T - A) / (min(B, T - A) + A). None for T <= 0: the word says nothing along the probe.
    """
    f, w = finite("code", code, 1), finite("decoder", decoder)
    p, x = finite("probe", probe, 1), finite("row", row, 1)
    p = p / np.linalg.norm(p)
    along = w @ p
    total = float(x @ p)
    if total <= 0:
        return None
    contribution = f * along
    own = float(contribution[list(main)].sum())
    norms = np.linalg.norm(w, axis=1)
    aligned = np.divide(along, norms, out=np.zeros_like(along), where=norms > 0) >= COSINE
    aligned[list(main)] = False
    others = np.sort(contribution[aligned])[::-1][:MOST]
    borrowed = float(others.sum())
    if own >= total or borrowed / total < SHARE:
        return 0.0
    if own <= 0:
        return 1.0
    taken = min(borrowed, total - own)
    return float(np.clip(taken / (taken + own), 0.0, 1.0))
