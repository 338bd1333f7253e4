"""What a coder must return, checked on every answer: a fault names the tensor, the count and the first row."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from bench.adapters.sae import Codes, SparseCoder, as_dense
from bench.errors import InvalidOutput

PROBES = 64  # rows encoded one by one as well
_TOLERANCE = 1e-5  # of the largest code, between a row alone and in a batch
_TIES = 3
_DECODED = 1e-4
_CHUNK = 4096


def to_matrix(codes: Any, *, rows: int, most_latents: int, signed: bool) -> sparse.csr_matrix:
    """What `encode` returned as float32 CSR (rows, m), without zeros."""
    if isinstance(codes, Codes):
        matrix = _from_sparse(codes)
    elif isinstance(codes, Tensor):
        _require_finite("codes", codes)
        matrix = sparse.csr_matrix(codes.detach().float().cpu().numpy())
    else:
        raise InvalidOutput(f"encode returned {type(codes).__name__}; return a torch tensor (n, m) or Codes")
    if matrix.shape[0] != rows:
        raise InvalidOutput(f"encode returned {matrix.shape[0]} rows for {rows}")
    if not 0 < matrix.shape[1] <= most_latents:
        raise InvalidOutput(f"encode returned {matrix.shape[1]} latents; {most_latents} were asked for")
    if not signed and len(matrix.data) and matrix.data.min() < 0:
        row = int(np.searchsorted(matrix.indptr, np.flatnonzero(matrix.data < 0)[0], side="right")) - 1
        raise InvalidOutput(
            f"codes have {int((matrix.data < 0).sum())} negative values, the first in row {row}; a coder with "
            "negative codes declares signed = True"
        )
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _from_sparse(codes: Codes) -> sparse.csr_matrix:
    indices, values = codes.indices.detach().cpu(), codes.values.detach().float().cpu()
    if indices.shape != values.shape or indices.ndim != 2:
        raise InvalidOutput(
            f"Codes: indices {tuple(indices.shape)} and values {tuple(values.shape)} must be (n, k)"
        )
    _require_finite("Codes.values", values)
    wrong = (indices < -1) | (indices >= codes.n_latents)
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0, 0])
        raise InvalidOutput(
            f"Codes.indices: {int(wrong.sum())} outside [-1, {codes.n_latents}), the first in row {row}"
        )
    used = (indices >= 0) & (values != 0)
    starts = np.concatenate([[0], used.sum(dim=1).cumsum(0).numpy()])
    parts = (values[used].numpy(), indices[used].numpy(), starts)
    matrix = sparse.csr_matrix(parts, shape=(len(values), codes.n_latents))
    stored = matrix.nnz
    matrix.sum_duplicates()
    if matrix.nnz != stored:
        raise InvalidOutput("Codes.indices: a row names a latent twice")
    return matrix


def _require_finite(name: str, tensor: Tensor) -> None:
    bad = ~torch.isfinite(tensor)
    if bool(bad.any()):
        row = int(bad.nonzero()[0, 0])
        raise InvalidOutput(f"{name} has {int(bad.sum())} values that are not finite, the first in row {row}")


def check_rowwise(coder: SparseCoder, rows: Tensor, encoded: sparse.csr_matrix) -> None:
    """`encoded` (of `rows`, in one batch) must be what each of the first 64 rows gives alone.

    Three rows may differ: where two latents tie, or one is at its threshold, rounding decides.
    """
    largest = float(np.abs(encoded[:PROBES]).max()) if encoded[:PROBES].nnz else 1.0
    differing = []
    for i, row in enumerate(rows[:PROBES]):
        alone = as_dense(coder.encode(row[None]))[0].detach().float().cpu().numpy()
        together = encoded[i].toarray()[0]
        if alone.shape != together.shape or np.abs(alone - together).max() > _TOLERANCE * largest:
            differing.append(i)
    if len(differing) > min(_TIES, len(rows) // 2):
        raise InvalidOutput(
            f"encode depends on the other rows of the batch: {len(differing)} of {min(PROBES, len(rows))} rows differ "
            f"when encoded alone, the first is row {differing[0]}"
        )


def check_decoder(coder: SparseCoder, rows: Tensor) -> tuple[np.ndarray, np.ndarray] | None:
    """The linear decoder, if there is one, after a look whether `decode` is what it says; else None."""
    given = coder.decoder()
    if given is None:
        return None
    atoms, bias = (np.asarray(part.detach().float().cpu()) for part in given)
    if atoms.ndim != 2 or atoms.shape[1] != rows.shape[1] or bias.shape != (rows.shape[1],):
        raise InvalidOutput(
            f"decoder() returned {atoms.shape} and {bias.shape}; (m, {rows.shape[1]}) is expected"
        )
    if not (np.isfinite(atoms).all() and np.isfinite(bias).all()):
        raise InvalidOutput("decoder() has values that are not finite")
    codes = coder.encode(rows[:PROBES])
    said = coder.decode(codes).detach().float().cpu().numpy()
    expected = as_dense(codes).detach().float().cpu().numpy() @ atoms + bias
    scale = max(1.0, float(np.abs(expected).max()))
    if said.shape != expected.shape or np.abs(said - expected).max() > _DECODED * scale:
        raise InvalidOutput("decode(encode(x)) is not f W + b with the W and b of decoder()")
    return atoms, bias


def encode_rows(
    coder: SparseCoder, rows: Tensor, *, most_latents: int, encode: Any = None
) -> sparse.csr_matrix:
    """Codes of `rows` (n, d) in chunks of 4,096; `encode` stands in for the coder's own."""
    call = encode or (lambda part, _: coder.encode(part))
    parts = [
        to_matrix(
            call(rows[at : at + _CHUNK], slice(at, at + _CHUNK)),
            rows=len(rows[at : at + _CHUNK]),
            most_latents=most_latents,
            signed=bool(coder.signed),
        )
        for at in range(0, len(rows), _CHUNK)
    ]
    return sparse.csr_matrix(sparse.vstack(parts)) if len(parts) > 1 else parts[0]
