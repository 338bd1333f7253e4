"""Matryoshka BatchTopK: every prefix of the latents must reconstruct, so that general concepts come first.

B. Bussmann, N. Nabeshima, A. Karvonen and N. Nanda (2025), Learning Multi-Level Features with Matryoshka Sparse
Autoencoders.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.models.sae._training import Gradients, Objective, Weights, preactivations
from bench.models.sae.batchtopk import BatchTopK, Cut, shared_top
from bench.models.sae.topk import Silence, add_auxiliary

_SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4)  # of the latents, the rest in a last group


def group_ends(n_latents: int) -> list[int]:
    """Where each group of latents ends; groups without a latent are left out."""
    ends, total = [], 0.0
    for share in _SHARES:
        total += share
        ends.append(round(total * n_latents))
    return sorted({end for end in ends if end > 0} | {n_latents})


class Matryoshka(BatchTopK):
    """BatchTopK whose loss is the sum over prefixes; one threshold for all of them."""

    def _objective(self, k: int, silence: Silence, cuts: Cut) -> Objective:
        def objective(rows: Tensor, weights: Weights, _: float) -> tuple[Tensor, Gradients]:
            centred, pre = preactivations(rows, weights)
            codes, cut = shared_top(pre, k)
            cuts.see(cut)
            residuals, groups = _prefix_residuals(codes, rows, weights)
            loss = torch.stack([r.square().sum() for r in residuals]).sum() / len(rows)
            gradients = _prefix_gradients(codes, residuals, groups, centred, weights)
            silence.see((codes > 0).any(dim=0).nonzero().view(-1), len(rows))
            dead = silence.dead()
            if len(dead):
                add_auxiliary(gradients, dead, centred, pre, residuals[-1], weights)
            return loss, gradients

        return objective


def _prefix_residuals(codes: Tensor, rows: Tensor, weights: Weights) -> tuple[list[Tensor], list[slice]]:
    """x_hat - x of each prefix, and the latents of each group."""
    ends = group_ends(codes.shape[1])
    groups = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    residual = weights["b_dec"] - rows
    residuals = []
    for group in groups:
        residual = residual + codes[:, group] @ weights["dec"][group]
        residuals.append(residual)
    return residuals, groups


def _prefix_gradients(
    codes: Tensor, residuals: list[Tensor], groups: list[slice], centred: Tensor, weights: Weights
) -> Gradients:
    """A group sees the errors of its own prefix and of all longer ones."""
    d_dec, d_codes = torch.empty_like(weights["dec"]), torch.empty_like(codes)
    behind = torch.zeros_like(residuals[0])
    for group, residual in zip(reversed(groups), reversed(residuals), strict=True):
        behind = behind + residual * (2 / len(codes))
        d_dec[group] = codes[:, group].T @ behind
        d_codes[:, group] = behind @ weights["dec"][group].T
    d_codes *= codes > 0
    d_bias = d_codes.sum(dim=0)
    return {
        "enc": d_codes.T @ centred,
        "b_enc": d_bias,
        "dec": d_dec,
        "b_dec": behind.sum(dim=0) - d_bias @ weights["enc"],
    }
