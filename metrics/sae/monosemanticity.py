"""The monosemanticity score MS: how alike are the inputs that activate a latent, in time linear in their number.

M. Pach, S. Karthik, Q. Bouniot, S. Belongie and Z. Akata (2025), Sparse Autoencoders Learn Monosemantic Features in
Vision-Language Models. It is a proxy, and one whose order among trained SAEs can be wrong: see `sae.proxy_audit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.metrics.sae.inputs import Float, codes_matrix, finite, unit_rows


def monosemanticity_scores(*, codes: Any, embeddings: Any) -> Float:
    """MS of each latent, (m,) in [-1, 1], higher is cleaner; NaN where fewer than two rows carry weight.

    a = (|f_j| - min) / (max - min) over all rows; MS = sum_{n<n'} a_n a_n' cos(e_n, e_n') / sum_{n<n'} a_n a_n' with
    `embeddings` e (n, d). Both sums follow from first and second moments, without a loop over pairs. Rows whose
    embedding is 0 have cosine 0 with every other.
    """
    f, e = codes_matrix(codes), unit_rows(finite("embeddings", embeddings))
    if f.shape[0] != len(e):
        raise ValueError(f"codes have {f.shape[0]} rows, embeddings {len(e)}")
    f.data = np.abs(f.data)
    columns = f.tocsc()
    n = f.shape[0]
    counts = np.diff(columns.indptr)
    top = np.asarray(columns.max(axis=0).todense()).ravel() if f.nnz else np.zeros(f.shape[1])
    bottom = np.where(counts == n, _smallest(columns, counts), 0.0) if n else top * 0
    span = top - bottom
    latent = np.repeat(np.arange(f.shape[1]), counts)
    safe = np.where(span > 0, span, 1.0)[latent]
    columns.data = np.where(span[latent] > 0, (columns.data - bottom[latent]) / safe, 0.0)
    shown = (np.einsum("nd,nd->n", e, e) > 0).astype(np.float64)
    total = np.asarray(columns.sum(axis=0)).ravel()
    columns_squared = columns.multiply(columns)
    squares = np.asarray(columns_squared.sum(axis=0)).ravel()
    squares_shown = np.asarray(columns_squared.T @ shown).ravel()
    pulled = np.asarray(columns.T @ e)
    above = np.einsum("md,md->m", pulled, pulled) - squares_shown
    below = total**2 - squares
    usable = below > 1e-12 * np.maximum(total**2, 1e-300)
    return np.asarray(np.divide(above, below, out=np.full(len(above), np.nan), where=usable))


def _smallest(columns: Any, counts: np.ndarray) -> Float:
    """Smallest stored value of each column; 0 for empty ones."""
    found = np.zeros(len(counts))
    for j in np.flatnonzero(counts):
        found[j] = columns.data[columns.indptr[j] : columns.indptr[j + 1]].min()
    return found
