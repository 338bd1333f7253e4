"""The smallest coder: unit atoms that are also the encoder, no bias, the k largest inner products kept.

In the world of two concepts its optimum is known in closed form.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae import _sparse
from bench.models.sae._linear import TopKCoder, steps_of
from bench.models.sae._training import Gradients, Outcome, Schedule, Weights, train, unit_atoms

_SMALL, _ROUNDS, _STEPS = 100_000, 30, 300


class Tied(TopKCoder):
    """`restarts` short trainings from random atoms; the one with the least loss on all rows goes on."""

    def __init__(self, *, restarts: int = 1, rate: float = 5e-3, batch: int = 256) -> None:
        super().__init__()
        self._restarts, self._rate, self._batch = restarts, rate, batch

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        self._k = k = steps_of(target_l0, n_latents)
        is_small = data.n_rows * n_latents <= _SMALL  # elsewhere starts hardly differ and cost the training
        restarts = self._restarts if is_small else 1
        schedule = Schedule(batch=self._batch, rate=self._rate, keep=unit_atoms)
        share = TrainBudget(
            train_rows=max(self._batch, budget.train_rows // restarts),
            seconds=budget.seconds / restarts,
        )
        found: list[tuple[float, Weights, Outcome]] = []
        for restart in range(restarts):
            rng = torch.Generator().manual_seed(seed + 7919 * restart)
            atoms = torch.randn(n_latents, data.d_in, generator=rng).to(data.rows.device)
            weights = {"dec": atoms}
            unit_atoms(weights)
            outcome = train(
                lambda rows, w, _: _objective(rows, w, k), weights, data, budget=share, schedule=schedule,
                seed=seed + restart,
            )  # fmt: skip
            if k == 1 and is_small:
                _polish(data.rows, weights["dec"])
            found.append((float(_objective(data.rows, weights, k)[0]), weights, outcome))
        _, best, self._outcome = min(found, key=lambda item: item[0])
        if k > 1 and is_small:
            self._outcome = train(
                lambda rows, w, _: _objective(rows, w, k),
                best,
                data,
                budget=budget,
                schedule=schedule,
                seed=seed,
            )
            _descend(data.rows, best, k)
        zeros = torch.zeros(n_latents, device=data.rows.device)
        self._weights = {
            "enc": best["dec"], "dec": best["dec"], "b_enc": zeros, "b_dec": torch.zeros_like(data.mean)
        }  # fmt: skip


def _polish(rows: Tensor, atoms: Tensor) -> None:
    """Set each atom to the best line through the rows that it codes, again and again: the exact end of the descent."""
    for _ in range(_ROUNDS):
        values, nearest = (rows @ atoms.T).max(dim=1)
        for j in range(len(atoms)):
            mine = rows[(nearest == j) & (values > 0)].double()
            if not len(mine):  # it codes nothing: let it begin at the row that is coded worst
                worst = rows[(rows.square().sum(dim=1) - values.clamp(min=0.0).square()).argmax()]
                atoms[j] = worst / worst.norm().clamp(min=1e-12)
            else:
                line = torch.linalg.eigh(mine.T @ mine)[1][:, -1].float()
                atoms[j] = line * torch.sign(line @ atoms[j])


def _descend(rows: Tensor, weights: Weights, k: int) -> None:
    """Plain gradient steps on all rows: near the optimum they converge where batches only wander around it."""
    for _ in range(_STEPS):
        gradient = _objective(rows, weights, k)[1]["dec"]
        weights["dec"] -= gradient
        unit_atoms(weights)


def _objective(rows: Tensor, weights: Weights, k: int) -> tuple[Tensor, Gradients]:
    """The k largest inner products; those below 0 are cut."""
    atoms = weights["dec"]
    values, indices = _sparse.top(rows @ atoms.T, k)
    codes = torch.zeros(len(rows), len(atoms), device=rows.device).scatter_(1, indices, values)
    residual = codes @ atoms - rows
    scaled = residual * (2 / len(rows))
    d_codes = (scaled @ atoms.T) * (codes > 0)
    return residual.square().sum() / len(rows), {"dec": codes.T @ scaled + d_codes.T @ rows}
