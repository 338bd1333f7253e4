"""A learned dictionary with orthogonal matching pursuit as encoder: rebuilds well, recovers concepts badly.

Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad (1993), Orthogonal Matching Pursuit.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from bench.adapters.sae import Activations, Codes, TrainBudget
from bench.models.sae._linear import LinearCoder, steps_of
from bench.models.sae._pursuit import pursue
from bench.models.sae._training import Gradients, Schedule, Weights, initial, train, unit_atoms


class OmpDictionary(LinearCoder):
    """k pursuit steps per row; atoms follow the gradient of the squared error at fixed codes."""

    signed: ClassVar[bool] = True

    def __init__(self, *, rate: float = 5e-3, batch: int = 512) -> None:
        super().__init__()
        self._rate, self._batch, self._k = rate, batch, 1

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        self._k = k = steps_of(target_l0, n_latents)
        start = initial(data, n_latents, torch.Generator().manual_seed(seed))
        weights = {"dec": start["dec"], "b_dec": start["b_dec"]}

        def objective(rows: Tensor, now: Weights, _: float) -> tuple[Tensor, Gradients]:
            values, indices = pursue(rows - now["b_dec"], now["dec"], k)
            codes = torch.zeros(len(rows), n_latents, device=rows.device).scatter_(1, indices, values)
            residual = codes @ now["dec"] + now["b_dec"] - rows
            scaled = residual * (2 / len(rows))
            gradients = {"dec": codes.T @ scaled, "b_dec": scaled.sum(dim=0)}
            return residual.square().sum() / len(rows), gradients

        schedule = Schedule(batch=self._batch, rate=self._rate, keep=unit_atoms)
        self._outcome = train(objective, weights, data, budget=budget, schedule=schedule, seed=seed + 1)
        self._weights = {**weights, "enc": weights["dec"], "b_enc": start["b_enc"]}

    def _encode(self, rows: Tensor) -> Codes:
        values, indices = pursue(rows - self._weights["b_dec"], self._weights["dec"], self._k)
        return Codes(indices=indices, values=values, n_latents=len(self._weights["b_enc"]))
