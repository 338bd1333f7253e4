"""ReLU sparse autoencoder with an L1 penalty on the activations times the lengths of their atoms.

T. Bricken et al. (2023), Towards Monosemanticity: Decomposing Language Models With Dictionary Learning, with the free
decoder norm of the update of April 2024.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae._linear import ThresholdCoder
from bench.models.sae._penalty import Penalty
from bench.models.sae._training import (
    Gradients,
    Schedule,
    Weights,
    dense_gradients,
    initial,
    preactivations,
    train,
)

_NORM = 0.1  # of the atoms at the start
_TINY = 1e-12


class ReluL1(ThresholdCoder):
    """Loss: squared error + weight * sum_j f_j ||w_j||; the weight is steered to the wanted L0.

    `together` adds, per unit of that weight, the sum over latents of the largest f_j ||w_j|| of a batch, under which
    whole atoms vanish: the published layers of `padl_sae`.
    """

    def __init__(self, *, together: float = 0.0, rate: float = 5e-3, batch: int = 256) -> None:
        super().__init__()
        self._together, self._rate, self._batch = together, rate, batch

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        rng = torch.Generator().manual_seed(seed)
        self._weights = initial(data, n_latents, rng, norm=_NORM)
        penalty = Penalty(target_l0, start=0.05 * data.d_in**0.5)

        def objective(rows: Tensor, weights: Weights, done: float) -> tuple[Tensor, Gradients]:
            centred, pre = preactivations(rows, weights)
            codes = pre.clamp(min=0.0)
            weight = penalty.at(done)
            penalty.see(float((codes > 0).sum()) / len(rows), done)
            return self._objective(rows, centred, codes, weights, weight)

        schedule = Schedule(batch=self._batch, rate=self._rate)
        self._outcome = train(objective, self._weights, data, budget=budget, schedule=schedule, seed=seed + 1)

    def _objective(
        self, rows: Tensor, centred: Tensor, codes: Tensor, weights: Weights, weight: float
    ) -> tuple[Tensor, Gradients]:
        b = len(rows)
        norms = weights["dec"].norm(dim=1).clamp(min=_TINY)
        residual = codes @ weights["dec"] + weights["b_dec"] - rows
        scaled = residual * (2 / b)
        push = scaled @ weights["dec"].T + weight / b * norms
        use = weight / b * codes.sum(dim=0)  # what the penalty costs per length of each atom
        if self._together:
            most, where = codes.max(dim=0)
            push.scatter_add_(0, where[None], self._together * weight * norms[None])
            use = use + self._together * weight * most
        gradients = dense_gradients(codes, push * (codes > 0), centred, scaled, weights)
        gradients["dec"] += (use / norms)[:, None] * weights["dec"]
        return residual.square().sum() / b + (use * norms).sum(), gradients
