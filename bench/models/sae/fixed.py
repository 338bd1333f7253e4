"""Coders that learn nothing or next to nothing: random atoms, rows as atoms, principal components, the identity."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from bench.adapters.sae import Activations, Codes, TrainBudget
from bench.models.sae import _sparse
from bench.models.sae._linear import LinearCoder, TopKCoder, steps_of
from bench.models.sae._training import initial, preactivations

_SCALED_ON = 4_096  # rows on which the common scale of codes is fitted


class RandomDictionary(TopKCoder):
    """Random unit atoms; the k largest inner products."""

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        self._k = steps_of(target_l0, n_latents)
        self._weights = initial(data, n_latents, torch.Generator().manual_seed(seed))


class DataDictionary(TopKCoder):
    """Training rows as atoms; the k largest inner products, all times one fitted number."""

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        self._k = steps_of(target_l0, n_latents)
        rng = torch.Generator().manual_seed(seed)
        centred = data.rows - data.mean
        places = torch.randperm(len(centred), generator=rng)[: 2 * n_latents].to(centred.device)
        norms = centred[places].norm(dim=1)
        chosen = places[torch.argsort(norms <= 1e-6 * norms.max(), stable=True)][:n_latents]
        atoms = centred[chosen]
        if len(atoms) < n_latents:
            raise ValueError(f"{n_latents} atoms are wanted of {len(centred)} rows")
        atoms = atoms / atoms.norm(dim=1, keepdim=True).clamp(min=1e-12)
        zeros = torch.zeros(n_latents, device=atoms.device)
        self._weights = {"enc": atoms, "dec": atoms, "b_enc": zeros, "b_dec": data.mean.clone()}
        values, indices = _sparse.top(preactivations(data.rows[:_SCALED_ON], self._weights)[1], self._k)
        sums = _sparse.decode(values, indices, self._weights) - data.mean
        best = (sums * centred[:_SCALED_ON]).sum() / sums.square().sum().clamp(min=1e-12)
        self._weights["enc"] = atoms * best  # rows overlap, so that their plain sum would overshoot


class Identity(LinearCoder):
    """Coordinates as latents: no distortion at the highest rate."""

    signed: ClassVar[bool] = True

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        atoms = torch.eye(data.d_in, device=data.rows.device)
        zeros = torch.zeros(data.d_in, device=atoms.device)
        self._weights = {"enc": atoms, "dec": atoms, "b_enc": zeros, "b_dec": zeros.clone()}

    def _encode(self, rows: Tensor) -> Tensor:
        return rows


class Components(LinearCoder):
    """Principal components: the first k, or with `largest` the k of the largest absolute value in each row."""

    signed: ClassVar[bool] = True

    def __init__(self, *, largest: bool = False) -> None:
        super().__init__()
        self._largest, self._k = largest, 1

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        centred = (data.rows - data.mean).double()
        _, directions = torch.linalg.eigh(centred.T @ centred)
        atoms = directions.flip(1).T.float()
        strongest = atoms.gather(1, atoms.abs().argmax(dim=1, keepdim=True))
        atoms = (atoms * strongest.sign()).contiguous()[:n_latents]
        self._k = min(steps_of(target_l0, n_latents), len(atoms))
        zeros = torch.zeros(len(atoms), device=atoms.device)
        self._weights = {"enc": atoms, "dec": atoms, "b_enc": zeros, "b_dec": data.mean.clone()}

    def _encode(self, rows: Tensor) -> Codes:
        return keep_strongest(preactivations(rows, self._weights)[1], self._k, ordered=not self._largest)


def keep_strongest(pre: Tensor, k: int, *, ordered: bool = False) -> Codes:
    """Signed codes with the k largest absolute values of each row, or with the first k."""
    if ordered:
        indices = torch.arange(k, device=pre.device).expand(len(pre), k).contiguous()
    else:
        indices = _sparse.largest(pre.abs(), k)[1]
    return Codes(indices=indices, values=pre.gather(1, indices), n_latents=pre.shape[1])
