"""The generative term G of the loss: contrastive with chains (marginal, conditional), or denoising score matching."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

Objective = Literal["marginal", "conditional", "dsm"]
OBJECTIVES: tuple[Objective, ...] = ("marginal", "conditional", "dsm")
PENALTY = 0.05  # weight of the squared energies, which keeps them from drifting away


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A Gaussian that the network's energy is relative to: E(x) = -logsumexp f(x) + precision / 2 * |x - mean|^2.

    It carries what any image shares, so that a small network need not build it; p(y|x) is the same without it.
    """

    mean: Tensor  # (1, C, H, W)
    precision: float

    def energy(self, x: Tensor) -> Tensor:
        """Its part of the energy, (n,)."""
        return self.precision / 2 * (x - self.mean).square().flatten(1).sum(dim=1)


def reference_of(x: Tensor, *, scales: tuple[float, float]) -> Reference:
    """The isotropic Gaussian of images `x` (n, C, H, W) with noise of about the middle of `scales`."""
    mean = x.mean(dim=0, keepdim=True)
    return Reference(mean, 1 / (float((x - mean).square().mean()) + scales[0] * scales[1]))


def energies(logits: Tensor, labels: Tensor | None) -> Tensor:
    """(n,): -f_y with `labels` (conditional), else -logsumexp f (marginal)."""
    if labels is None:
        return -torch.logsumexp(logits, dim=1)
    return -logits.gather(1, labels[:, None])[:, 0]


def contrastive(data: Tensor, chains: Tensor) -> Tensor:
    """Mean energy of data minus that of samples of the model, with the penalty on both."""
    return data.mean() - chains.mean() + PENALTY * (data.square().mean() + chains.square().mean())


def denoising(
    network: nn.Module,
    x: Tensor,
    *,
    scales: tuple[float, float],
    generator: torch.Generator,
    reference: Reference | None = None,
) -> Tensor:
    """Mean of (s d/dx log p(x + s e) + e)^2 over images and pixels; e normal, s log-uniform in `scales`.

    Source: P. Vincent (2011), A connection between score matching and denoising autoencoders.
    """
    low, high = map(math.log, scales)
    s = torch.exp(low + (high - low) * torch.rand(len(x), 1, 1, 1, generator=generator))
    e = torch.randn(x.shape, generator=generator)
    noisy = (x + s * e).requires_grad_(True)
    log_density = torch.logsumexp(network(noisy), dim=1)
    if reference is not None:
        log_density = log_density - reference.energy(noisy)
    (score,) = torch.autograd.grad(log_density.sum(), noisy, create_graph=torch.is_grad_enabled())
    return (s * score + e).square().mean()
