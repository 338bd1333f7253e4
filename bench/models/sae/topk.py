"""TopK sparse autoencoder with auxiliary loss for dead latents.

L. Gao, T. Dupré la Tour, H. Tillman, G. Goh, R. Troll, A. Radford, I. Sutskever, J. Leike and J. Wu (2024), Scaling and
evaluating sparse autoencoders.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae import _sparse
from bench.models.sae._linear import TopKCoder, steps_of
from bench.models.sae._training import (
    Gradients,
    Schedule,
    Weights,
    initial,
    preactivations,
    train,
    unit_atoms,
)

AUX_WEIGHT = 1 / 32
_MOST_SILENT, _SILENT_SHARE = 10_000_000, 0.05  # rows without firing after which a latent counts as dead


class Silence:
    """Counts for each latent the rows since it was last active."""

    def __init__(self, n_latents: int, budget: TrainBudget, device: torch.device) -> None:
        self._since = torch.zeros(n_latents, dtype=torch.int64, device=device)
        self._limit = min(_MOST_SILENT, int(_SILENT_SHARE * budget.train_rows))

    def see(self, active: Tensor, rows: int) -> None:
        """Note the latents (indices) that were active in a batch of `rows`."""
        self._since += rows
        self._since[active] = 0

    def dead(self) -> Tensor:
        """Indices of the latents that are dead."""
        return (self._since > self._limit).nonzero().view(-1)


def add_auxiliary(
    gradients: Gradients, dead: Tensor, centred: Tensor, pre: Tensor, residual: Tensor, weights: Weights
) -> None:
    """Add the gradients of rebuilding the error, held fixed, from the d / 2 largest dead latents, without bias."""
    wanted = centred.shape[1] // 2
    scale = AUX_WEIGHT * min(1.0, len(dead) / wanted)
    sub = {"dec": weights["dec"][dead], "b_dec": torch.zeros_like(weights["b_dec"])}
    values, places = _sparse.top(pre[:, dead], min(wanted, len(dead)))
    codes = values.new_zeros(len(pre), len(dead)).scatter_(1, places, values)
    error = -residual  # x - x_hat
    push = (2 * scale / len(pre)) * (codes @ sub["dec"] - error)
    d_codes = (push @ sub["dec"].T) * (codes > 0)
    gradients["enc"].index_add_(0, dead, d_codes.T @ centred)
    gradients["b_enc"].index_add_(0, dead, d_codes.sum(dim=0))
    gradients["dec"].index_add_(0, dead, codes.T @ push)


class TopK(TopKCoder):
    """`k` latents per row, unit atoms; `aux` switches the auxiliary loss, `rate` is the learning rate."""

    def __init__(self, *, aux: bool = True, rate: float = 5e-3, batch: int = 256) -> None:
        super().__init__()
        self._aux, self._rate, self._batch = aux, rate, batch

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        self._k = k = steps_of(target_l0, n_latents)
        self._weights = self._initial(data, n_latents, torch.Generator().manual_seed(seed))
        silence = Silence(n_latents, budget, data.rows.device)

        def objective(rows: Tensor, weights: Weights, _: float) -> tuple[Tensor, Gradients]:
            centred, pre = preactivations(rows, weights)
            values, indices = _sparse.top(pre, k)
            residual = _sparse.decode(values, indices, weights) - rows
            loss = residual.square().sum() / len(rows)
            gradients = _sparse.gradients(values, indices, centred, residual * (2 / len(rows)), weights)
            if self._aux:
                silence.see(indices[values > 0], len(rows))
                dead = silence.dead()
                if len(dead):
                    add_auxiliary(gradients, dead, centred, pre, residual, weights)
            return loss, gradients

        self._outcome = train(
            objective, self._weights, data, budget=budget, schedule=self._schedule(), seed=seed + 1
        )

    def _initial(self, data: Activations, n_latents: int, rng: torch.Generator) -> Weights:
        return initial(data, n_latents, rng)

    def _schedule(self) -> Schedule:
        return Schedule(batch=self._batch, rate=self._rate, keep=unit_atoms)
