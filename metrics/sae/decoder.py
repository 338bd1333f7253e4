"""What a decoder alone says: how much atoms overlap, and how many true factors each atom mixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from bench.metrics.sae.inputs import Float, finite, unit_rows

RESIDUAL, MOST_ATOMS = 0.2, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderOverlap:
    """Per latent (m,); NaN for atoms of norm 0, which count as dead and overlap with nothing."""

    max_cosine: Float  # largest |cos| with another atom
    interference: Float  # sum of cos^2 with the others
    capacity: Float  # 1 / sum of cos^2 with all, itself included; in (0, 1]


def decoder_overlap(*, decoder: Any) -> DecoderOverlap:
    """Overlap of the atoms (m, d); A. Scherlis et al. (2022), Polysemanticity and Capacity in Neural Networks.

    >>> decoder_overlap(decoder=[[1, 0], [1, 1]]).capacity.round(3)
    array([0.667, 0.667])
    """
    atoms = unit_rows(finite("decoder", decoder))
    there = (atoms**2).sum(axis=1) > 0
    squares = (atoms @ atoms.T) ** 2
    np.fill_diagonal(squares, 0.0)
    others = squares.sum(axis=1)
    largest = np.sqrt(squares.max(axis=1, initial=0.0))
    return DecoderOverlap(
        max_cosine=np.where(there, largest, np.nan),
        interference=np.where(there, others, np.nan),
        capacity=np.where(there, 1 / (1 + others), np.nan),
    )


def encoder_cosines(*, encoder: Any, decoder: Any) -> Float:
    """cos(encoder direction, atom) of each latent, (m,), from `encoder` (d, m); NaN where one of them is 0."""
    e, w = unit_rows(finite("encoder", encoder).T), unit_rows(finite("decoder", decoder))
    there = ((e**2).sum(axis=1) > 0) & ((w**2).sum(axis=1) > 0)
    return np.where(there, (e * w).sum(axis=1), np.nan)


def mixed_factors(*, decoder: Any, dictionary: Any) -> Float:
    """How many factors each atom mixes, (m,), >= 1; NaN for atoms of norm 0.

    Orthogonal matching pursuit of the unit atom on the unit `dictionary` (N, d) with non-negative coefficients, until
    a residual norm of 0.2 or 8 factors; then the participation ratio of the squared coefficients.
    """
    truth, atoms = unit_rows(finite("dictionary", dictionary)), unit_rows(finite("decoder", decoder))
    return np.array([_pursue(atom, truth) if (atom**2).sum() > 0 else np.nan for atom in atoms])


def _pursue(atom: Float, truth: Float) -> float:
    chosen: list[int] = []
    residual, weights = atom, np.zeros(0)
    while len(chosen) < min(MOST_ATOMS, len(truth)) and np.linalg.norm(residual) > RESIDUAL:
        products = truth @ residual
        products[chosen] = -np.inf
        if products.max() <= 0:
            break
        chosen.append(int(products.argmax()))
        weights, _ = nnls(truth[chosen].T, atom)
        residual = atom - weights @ truth[chosen]
    power = weights**2
    total = power.sum()
    return float(total**2 / (power**2).sum()) if total > 0 else np.nan
