"""The generative term G of the loss: contrastive with chains (marginal, conditional), or denoising score matching."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

Objective = Literal["marginal", "conditional", "dsm"]
OBJECTIVES: tuple[Objective, ...] = ("marginal", "conditional", "dsm")
PENALTY = 0.05  # weight of the squared energies, which keeps them from drifting away


def energies(logits: Tensor, labels: Tensor | None) -> Tensor:
    """(n,): -f_y with `labels` (conditional), else -logsumexp f (marginal)."""
    if labels is None:
        return -torch.logsumexp(logits, dim=1)
    return -logits.gather(1, labels[:, None])[:, 0]


def contrastive(data: Tensor, chains: Tensor) -> Tensor:
    """Mean energy of data minus that of samples of the model, with the penalty on both."""
    return data.mean() - chains.mean() + PENALTY * (data.square().mean() + chains.square().mean())


def denoising(
    network: nn.Module, x: Tensor, *, scales: tuple[float, float], generator: torch.Generator
) -> Tensor:
    """Mean of (s d/dx logsumexp f(x + s e) + e)^2 over images and pixels; e normal, s log-uniform in `scales`."""
    low, high = map(math.log, scales)
    s = torch.exp(low + (high - low) * torch.rand(len(x), 1, 1, 1, generator=generator))
    e = torch.randn(x.shape, generator=generator)
    noisy = (x + s * e).requires_grad_(True)
    (score,) = torch.autograd.grad(
        torch.logsumexp(network(noisy), dim=1).sum(), noisy, create_graph=torch.is_grad_enabled()
    )
    return (s * score + e).square().mean()
