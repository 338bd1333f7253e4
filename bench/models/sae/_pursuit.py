"""Orthogonal matching pursuit of many rows at once."""

from __future__ import annotations

import torch
from torch import Tensor

_RIDGE = 1e-6


def pursue(rows: Tensor, atoms: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Values and indices (n, k) of the best atoms, chosen one by one, coefficients refitted after each.

    `atoms` (m, d) have length 1. Values are signed; an atom that is chosen when nothing is left has the value 0.
    """
    n = len(rows)
    residual = rows
    indices = torch.zeros(n, 0, dtype=torch.int64, device=rows.device)
    values = torch.zeros(n, 0, device=rows.device)
    for step in range(k):
        products = (residual @ atoms.T).abs()
        if step:
            products.scatter_(1, indices, -1.0)
        indices = torch.cat([indices, products.argmax(dim=1, keepdim=True)], dim=1)
        chosen = atoms[indices]  # (n, step + 1, d)
        gram = chosen @ chosen.transpose(1, 2) + _RIDGE * torch.eye(step + 1, device=rows.device)
        values = torch.linalg.solve(gram, (chosen @ rows[:, :, None]))[:, :, 0]
        residual = rows - (values[:, None, :] @ chosen)[:, 0]
    return values, indices
