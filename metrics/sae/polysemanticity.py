"""Polysemanticity by intervention: how many factors move a latent, counted by the variance they contribute.

The operational definition is ours; it makes the notion of F. Mencattini, F. Montagna and F. Locatello (2026), The
Rate-Distortion-Polysemanticity Tradeoff in SAEs, measurable where factors are known. Factors are switched, not
correlated, so that factors which occur together do not make a clean latent look polysemantic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bench.metrics.sae.inputs import Float, codes_matrix, finite

ALIVE = 1e-8  # of the largest total effect
PURE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Polysemanticity:
    """Per latent (m,), NaN where not alive; and the summaries, None if no latent is alive.

    `neff` in [1, N], 1 = monosemantic. `poly` (lower is better) weights latents by how often they are active.
    """

    neff: Float
    purity: Float
    dci: Float
    alive: np.ndarray
    poly: float | None
    poly_mean: float | None
    purity_mean: float | None
    poly_frac: float | None  # share of alive latents with purity < 0.9
    dead_frac: float


def effects(*, on: Any, off: Any, n_factors: int) -> Float:
    """Mean change of each latent when a factor is switched on, (N, m).

    `on`, `off` are codes (N B, m): B base states for each factor in turn, with the factor at its mean and at 0.
    """
    first, second = codes_matrix(on), codes_matrix(off)
    if first.shape != second.shape or n_factors < 1 or first.shape[0] % n_factors:
        raise ValueError(
            f"on {first.shape} and off {second.shape} must hold equally many rows for {n_factors} factors"
        )
    bases = first.shape[0] // n_factors
    mean = sparse.kron(sparse.identity(n_factors), np.full((1, bases), 1 / bases), format="csr")
    return np.asarray((mean @ (first - second)).todense())


def polysemanticity(*, effect: Any, prevalence: Any, density: Any, signed: bool = False) -> Polysemanticity:
    """Summarise `effect` (N, m) of factors with probability `prevalence` (N,) on latents active with `density` (m,).

    w_ij = p_i (1 - p_i) max(e_ij, 0)^2, or e_ij^2 where codes are `signed`: the first-order share of the variance.
    """
    e, p, rho = finite("effect", effect), finite("prevalence", prevalence, 1), finite("density", density, 1)
    if e.shape != (len(p), len(rho)):
        raise ValueError(f"effect {e.shape} does not fit {len(p)} factors and {len(rho)} latents")
    w = (p * (1 - p))[:, None] * (e if signed else np.maximum(e, 0.0)) ** 2
    total = w.sum(axis=0)
    alive = (total > ALIVE * max(total.max(initial=0.0), 1e-300)) & (rho > 0)
    shares = np.divide(w, total, out=np.zeros_like(w), where=alive)
    neff = _where(alive, np.divide(1.0, (shares**2).sum(axis=0), out=np.ones_like(total), where=alive))
    purity = _where(alive, shares.max(axis=0, initial=0.0))
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=0)
    dci = _where(alive, 1 - entropy / math.log(len(p)) if len(p) > 1 else np.ones_like(total))
    some = bool(alive.any())
    return Polysemanticity(
        neff=neff,
        purity=purity,
        dci=dci,
        alive=alive,
        poly=float(np.average(neff[alive], weights=rho[alive])) if some else None,
        poly_mean=float(neff[alive].mean()) if some else None,
        purity_mean=float(purity[alive].mean()) if some else None,
        poly_frac=float((purity[alive] < PURE).mean()) if some else None,
        dead_frac=float(1 - alive.mean()) if len(alive) else 0.0,
    )


def _where(alive: np.ndarray, values: Float) -> Float:
    return np.where(alive, values, np.nan)
