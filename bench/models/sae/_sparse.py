"""The hot loop of TopK coders: sparse decoding and sparse gradients, so that a step costs one dense product.

Codes of a batch are the indices and values (b, k) of the active latents. The gradients of both weight matrices are
products of one sparse matrix (m, b) with a dense one; those of the values are inner products gathered per latent.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from bench.models.sae._training import Gradients, Weights

_SHORT = 512


def top(pre: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Values and indices (b, k) of the k largest pre-activations, values cut at 0."""
    values, indices = largest(pre, k)
    return values.clamp_(min=0.0), indices


def largest(pre: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row in any order, values and indices (b, k). numpy partitions short rows faster."""
    if pre.device.type == "cpu" and 2 < k < pre.shape[1] <= _SHORT:
        places = np.argpartition(pre.numpy(), pre.shape[1] - k, axis=1)[:, pre.shape[1] - k :]
        indices = torch.from_numpy(np.ascontiguousarray(places))
        return pre.gather(1, indices), indices
    return torch.topk(pre, k, dim=1, sorted=False)


def decode(values: Tensor, indices: Tensor, weights: Weights) -> Tensor:
    """Reconstruction (b, d)."""
    bags = torch.nn.functional.embedding_bag(indices, weights["dec"], mode="sum", per_sample_weights=values)
    return bags + weights["b_dec"]


def gradients(
    values: Tensor, indices: Tensor, centred: Tensor, residual: Tensor, weights: Weights
) -> Gradients:
    """As `dense_gradients`, for a code in sparse form; a value of 0 passes no gradient on."""
    d_values = gathered_products(residual, weights["dec"], indices) * (values > 0)
    m = len(weights["b_enc"])
    order, starts, rows = by_latent(indices, m)
    return {
        "enc": _product(starts, rows, d_values.reshape(-1)[order], centred),
        "b_enc": values.new_zeros(m).index_add_(0, indices.reshape(-1), d_values.reshape(-1)),
        "dec": _product(starts, rows, values.reshape(-1)[order], residual),
        "b_dec": residual.sum(dim=0)
        - torch.nn.functional.embedding_bag(
            indices, weights["enc"], mode="sum", per_sample_weights=d_values
        ).sum(dim=0),
    }


def gathered_products(dense: Tensor, atoms: Tensor, indices: Tensor) -> Tensor:
    """dense[i] . atoms[indices[i, j]] for all i, j, without a (b, k, d) tensor."""
    b, k = indices.shape
    if dense.device.type != "cpu":
        return torch.einsum("bd,bkd->bk", dense, atoms[indices])
    offsets = torch.arange(0, b * k, k)
    bags = torch.arange(b).repeat_interleave(k)
    products = torch.ops.aten._embedding_bag_per_sample_weights_backward(
        dense, atoms, indices.reshape(-1), offsets, bags, 0
    )
    return torch.as_tensor(products).view(b, k)


def by_latent(indices: Tensor, n_latents: int) -> tuple[Tensor, Tensor, Tensor]:
    """The entries of (b, k) `indices` grouped by latent: order of the flat entries, starts (m + 1,), rows."""
    flat = indices.reshape(-1)
    order = torch.argsort(flat, stable=True)
    starts = torch.zeros(n_latents + 1, dtype=torch.int64, device=flat.device)
    starts[1:] = torch.bincount(flat, minlength=n_latents).cumsum(0)
    return order, starts, order // indices.shape[1]


def _product(starts: Tensor, rows: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    """Sparse (m, b) in CSR form times dense (b, d)."""
    matrix = torch.sparse_csr_tensor(
        starts, rows, values, (len(starts) - 1, len(dense)), check_invariants=False
    )
    return torch.as_tensor(matrix @ dense)
