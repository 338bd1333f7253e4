"""JumpReLU sparse autoencoder: a threshold per latent, learned through a rectangle estimator.

S. Rajamanoharan, T. Lieberum, N. Sonnerat, A. Conmy, V. Varma, J. Kramár and N. Nanda (2024), Jumping Ahead: Improving
Reconstruction Fidelity with JumpReLU Sparse Autoencoders; the loss that aims at a number of latents is that of its
section on target sparsity.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae._linear import ThresholdCoder
from bench.models.sae._training import (
    Gradients,
    Schedule,
    Weights,
    chain,
    dense_gradients,
    initial,
    preactivations,
    train,
    unit_atoms,
)

_START = 0.01


class JumpReLU(ThresholdCoder):
    """Loss: squared error + weight * (2 / L*) (L0 - L*)^2. The threshold itself is learned, not its logarithm."""

    def __init__(
        self, *, weight: float = 0.1, width: float = 0.05, rate: float = 5e-3, batch: int = 256
    ) -> None:
        super().__init__()
        self._weight, self._width = weight, width
        self._rate, self._batch = rate, batch

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        rng = torch.Generator().manual_seed(seed)
        self._weights = initial(data, n_latents, rng)
        self._weights["threshold"] = torch.full_like(self._weights["b_enc"], _START)
        weight = self._weight * data.d_in * 2 / target_l0

        def objective(rows: Tensor, weights: Weights, done: float) -> tuple[Tensor, Gradients]:
            return self._objective(rows, weights, weight * min(1.0, done / 0.05), target_l0)

        schedule = Schedule(batch=self._batch, rate=self._rate, keep=chain([unit_atoms, _not_negative]))
        self._outcome = train(objective, self._weights, data, budget=budget, schedule=schedule, seed=seed + 1)

    def _objective(
        self, rows: Tensor, weights: Weights, weight: float, target: float
    ) -> tuple[Tensor, Gradients]:
        b, threshold = len(rows), weights["threshold"]
        centred, pre = preactivations(rows, weights)
        active = pre > threshold
        codes = torch.where(active, pre, 0.0)
        residual = codes @ weights["dec"] + weights["b_dec"] - rows
        scaled = residual * (2 / b)
        push = scaled @ weights["dec"].T
        gap = float(active.sum()) / b - target
        near = ((pre - threshold).abs() < self._width / 2) / self._width  # the rectangle over its width
        gradients = dense_gradients(codes, push * active, centred, scaled, weights)
        gradients["threshold"] = -(near * (push * threshold + 2 * weight * gap / b)).sum(dim=0)
        return residual.square().sum() / b + weight * gap**2, gradients


def _not_negative(weights: Weights) -> None:
    weights["threshold"].clamp_(min=0.0)
