"""How much a code says: active latents, and bits of a factorised message."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.metrics.sae.inputs import Codes, Float, codes_matrix, density, finite, scaled_by_norm

STEP = 0.25  # of the quantiser, in units of the root mean square of a coordinate


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Rates per row; lower is better. `bits` = support + magnitude."""

    l0: float
    support_bits: float
    magnitude_bits: float  # Miller-Madow
    magnitude_bits_plugin: float
    bits: float
    index_bits: float  # fixed length: l0 (7 + log2 m)
    dead: int  # latents that are never active
    step: float


def rate(*, codes: Any, decoder: Any, rows: Any) -> Rate:
    """Rate of `codes` (n, m) with atoms `decoder` (m, d) for the inputs `rows` (n, d).

    Support: sum of the binary entropies of the latents' densities. Magnitude: entropy of f_j ||w_j|| in steps of
    a quarter of the inputs' root mean square per coordinate, over *active* values only, corrected by Miller and Madow
    with (K - 1) / (2 n ln 2) for K occupied bins. Raises `ValueError` for shapes that do not fit.

    >>> one = np.zeros((10, 1)); one[0] = 2.0
    >>> found = rate(codes=one, decoder=np.ones((1, 1)), rows=one)
    >>> round(found.support_bits, 4), found.magnitude_bits
    (0.469, 0.0)
    """
    f, atoms, x = codes_matrix(codes), finite("decoder", decoder), finite("rows", rows)
    if f.shape != (len(x), len(atoms)) or atoms.shape[1] != x.shape[1]:
        raise ValueError(f"codes {f.shape}, decoder {atoms.shape} and rows {x.shape} do not fit together")
    step = quantiser_step(x)
    shares = density(f)
    corrected, plugin = _magnitude(scaled_by_norm(f, atoms), shares, step)
    support = float(binary_entropy(shares).sum())
    l0 = f.nnz / len(x)
    return Rate(
        l0=l0,
        support_bits=support,
        magnitude_bits=corrected,
        magnitude_bits_plugin=plugin,
        bits=support + corrected,
        index_bits=index_bits(l0=l0, n_latents=f.shape[1]),
        dead=int((shares == 0).sum()),
        step=step,
    )


def index_bits(*, l0: float, n_latents: int) -> float:
    """The bound of MDL-SAE: 7 bits for each active value and log2 m for its place."""
    return l0 * (7 + math.log2(n_latents))


def quantiser_step(rows: Float) -> float:
    """Delta = 0.25 sqrt(E ||x||^2 / d)."""
    return STEP * math.sqrt(float((rows**2).sum()) / rows.size)


def quantised(*, codes: Any, decoder: Any, step: float) -> Codes:
    """The code after its magnitudes f_j ||w_j|| are rounded to whole steps, in the units of `codes`."""
    f, atoms = codes_matrix(codes), finite("decoder", decoder)
    if step <= 0:
        return f
    norms = np.linalg.norm(atoms, axis=1)[f.indices]
    scale = np.divide(step, norms, out=np.zeros_like(norms), where=norms > 0)
    f.data = np.rint(np.divide(f.data, scale, out=np.zeros_like(scale), where=scale > 0)) * scale
    return f


def binary_entropy(p: Float) -> Float:
    """H2(p) in bits, 0 at 0 and 1."""
    inside = np.clip(p, 1e-300, 1 - 1e-16)
    bits = -(inside * np.log2(inside) + (1 - inside) * np.log1p(-inside) / math.log(2))
    return np.where((p <= 0) | (p >= 1), 0.0, bits)


def _magnitude(codes: Codes, shares: Float, step: float) -> tuple[float, float]:
    """sum_j rho_j H_j, Miller-Madow and plug-in."""
    if step <= 0 or codes.nnz == 0:
        return 0.0, 0.0
    columns = codes.tocsc()
    latent = np.repeat(np.arange(codes.shape[1]), np.diff(columns.indptr))
    bins = np.rint(columns.data / step).astype(np.int64)
    pairs, counts = np.unique(np.stack([latent, bins]), axis=1, return_counts=True)
    n = np.bincount(latent, minlength=codes.shape[1]).astype(np.float64)
    used = np.bincount(pairs[0], minlength=codes.shape[1])
    terms = counts / n[pairs[0]]
    entropy = np.bincount(pairs[0], weights=-terms * np.log2(terms), minlength=codes.shape[1])
    correction = np.divide(used - 1, 2 * n * math.log(2), out=np.zeros_like(n), where=n > 0)
    return float(shares @ (entropy + correction)), float(shares @ entropy)
