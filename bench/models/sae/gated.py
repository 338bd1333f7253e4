"""Gated sparse autoencoder: whether a latent is active and how strongly are decided apart.

S. Rajamanoharan, A. Conmy, L. Smith, T. Lieberum, V. Varma, J. Kramár, R. Shah and N. Nanda (2024), Improving
Dictionary Learning with Gated Sparse Autoencoders.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae._linear import LinearCoder
from bench.models.sae._penalty import Penalty
from bench.models.sae._training import Gradients, Schedule, Weights, initial, train, unit_atoms


class Gated(LinearCoder):
    """f = 1[gate > 0] relu(exp(r) (W x) + b); the gate learns from a penalty and a reconstruction of its own."""

    def __init__(self, *, rate: float = 5e-3, batch: int = 256) -> None:
        super().__init__()
        self._rate, self._batch = rate, batch

    def _encode(self, rows: Tensor) -> Tensor:
        gate, magnitude = _paths(rows - self._weights["b_dec"], self._weights)[1:]
        return torch.where(gate > 0, magnitude.clamp(min=0.0), 0.0)

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        rng = torch.Generator().manual_seed(seed)
        self._weights = initial(data, n_latents, rng)
        for name in ("r_mag", "b_mag"):
            self._weights[name] = torch.zeros_like(self._weights["b_enc"])
        penalty = Penalty(target_l0, start=0.05 * data.d_in**0.5)

        def objective(rows: Tensor, weights: Weights, done: float) -> tuple[Tensor, Gradients]:
            loss, gradients, l0 = _gated(rows, weights, penalty.at(done))
            penalty.see(l0, done)
            return loss, gradients

        schedule = Schedule(batch=self._batch, rate=self._rate, keep=unit_atoms)
        self._outcome = train(objective, self._weights, data, budget=budget, schedule=schedule, seed=seed + 1)


def _paths(centred: Tensor, weights: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """The common products, the gate, the magnitude before it is cut at 0."""
    products = centred @ weights["enc"].T
    magnitude = products * weights["r_mag"].exp() + weights["b_mag"]
    return products, products + weights["b_enc"], magnitude


def _gated(rows: Tensor, weights: Weights, weight: float) -> tuple[Tensor, Gradients, float]:
    """Loss, gradients and the number of active latents; the auxiliary decoder is held fixed."""
    b = len(rows)
    centred = rows - weights["b_dec"]
    products, gate, magnitude = _paths(centred, weights)
    is_open = gate > 0
    codes = torch.where(is_open, magnitude.clamp(min=0.0), 0.0)
    opened = gate.clamp(min=0.0)
    residual = codes @ weights["dec"] + weights["b_dec"] - rows
    second = opened @ weights["dec"] + weights["b_dec"] - rows
    scaled = residual * (2 / b)
    d_magnitude = (scaled @ weights["dec"].T) * (codes > 0)
    d_gate = ((second * (2 / b)) @ weights["dec"].T + weight / b) * is_open
    grown = d_magnitude * weights["r_mag"].exp()
    d_products = d_gate + grown
    gradients = {
        "enc": d_products.T @ centred,
        "b_enc": d_gate.sum(dim=0),
        "dec": codes.T @ scaled,
        "b_dec": scaled.sum(dim=0) - d_products.sum(dim=0) @ weights["enc"],
        "r_mag": (grown * products).sum(dim=0),
        "b_mag": d_magnitude.sum(dim=0),
    }
    loss = (residual.square().sum() + second.square().sum() + weight * opened.sum()) / b
    return loss, gradients, float((codes > 0).sum()) / b
