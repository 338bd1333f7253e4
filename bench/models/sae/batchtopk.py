"""BatchTopK: the sparsity is shared out over the rows of a batch in training, by a threshold afterwards.

B. Bussmann, P. Leask and N. Nanda (2024), BatchTopK Sparse Autoencoders.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae._linear import ThresholdCoder, steps_of
from bench.models.sae._training import (
    Gradients,
    Objective,
    Schedule,
    Weights,
    dense_gradients,
    initial,
    preactivations,
    train,
    unit_atoms,
)
from bench.models.sae.topk import Silence, add_auxiliary

_MEMORY = 0.01  # weight of a batch in the running mean of the threshold


def shared_top(pre: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k * b largest positive pre-activations of a batch, the rest 0; and the smallest one kept."""
    wanted = min(k * len(pre), pre.numel())
    cut = torch.topk(pre.reshape(-1), wanted, sorted=False).values.min().clamp(min=0.0)
    return torch.where((pre >= cut) & (pre > 0), pre, 0.0), cut


class BatchTopK(ThresholdCoder):
    """`k` latents per row on average, unit atoms; encodes with one threshold, whatever the other rows are."""

    def __init__(self, *, rate: float = 5e-3, batch: int = 256) -> None:
        super().__init__()
        self._rate, self._batch = rate, batch

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        k = steps_of(target_l0, n_latents)
        rng = torch.Generator().manual_seed(seed)
        self._weights = self._initial(data, n_latents, rng)
        schedule = self._schedule(self._weights)
        silence = Silence(n_latents, budget, data.rows.device)
        cuts = Cut()
        objective = self._objective(k, silence, cuts)
        self._outcome = train(objective, self._weights, data, budget=budget, schedule=schedule, seed=seed + 1)
        self._weights["threshold"] = cuts.value

    def _initial(self, data: Activations, n_latents: int, rng: torch.Generator) -> Weights:
        return initial(data, n_latents, rng)

    def _schedule(self, weights: Weights) -> Schedule:
        """How to learn; controls that fix some of the start values hold them here."""
        return Schedule(batch=self._batch, rate=self._rate, keep=unit_atoms)

    def _objective(self, k: int, silence: Silence, cuts: Cut) -> Objective:
        def objective(rows: Tensor, weights: Weights, _: float) -> tuple[Tensor, Gradients]:
            centred, pre = preactivations(rows, weights)
            codes, cut = shared_top(pre, k)
            cuts.see(cut)
            residual = codes @ weights["dec"] + weights["b_dec"] - rows
            scaled = residual * (2 / len(rows))
            d_codes = (scaled @ weights["dec"].T) * (codes > 0)
            gradients = dense_gradients(codes, d_codes, centred, scaled, weights)
            silence.see((codes > 0).any(dim=0).nonzero().view(-1), len(rows))
            dead = silence.dead()
            if len(dead):
                add_auxiliary(gradients, dead, centred, pre, residual, weights)
            return residual.square().sum() / len(rows), gradients

        return objective


class Cut:
    """Running mean of the smallest value kept."""

    def __init__(self) -> None:
        self.value = torch.zeros(())
        self._seen = False

    def see(self, cut: Tensor) -> None:
        """Take in the threshold of a batch."""
        self.value = torch.lerp(self.value, cut, _MEMORY) if self._seen else cut.clone()
        self._seen = True
