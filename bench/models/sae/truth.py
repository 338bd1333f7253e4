"""References that know the concepts of a synthetic world: upper bounds, and the monosemantic side of the tax."""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.sae import Activations, Codes, TrainBudget, TruthCoder
from bench.models.sae._linear import TopKCoder, steps_of
from bench.models.sae._training import Schedule, Weights
from bench.models.sae.topk import TopK


class Oracle(TruthCoder, TopKCoder):
    """The true concepts as atoms and encoder; the k largest inner products."""

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        atoms = self._dictionary / self._dictionary.norm(dim=1, keepdim=True)
        atoms = atoms[:n_latents]  # a narrower coder knows the first concepts only
        self._k = steps_of(target_l0, len(atoms))
        zeros = torch.zeros(len(atoms), device=atoms.device)
        self._weights = {"enc": atoms, "dec": atoms, "b_enc": zeros, "b_dec": torch.zeros_like(data.mean)}


class OracleCodes(Oracle):
    """The true factor values as codes: what no encoder can do better."""

    wants_factors = True

    def encode_known(self, x: Tensor, factors: Tensor) -> Tensor:
        """The factor values, in the scale of the rows."""
        known = len(self._weights["dec"])
        return torch.mul(factors[:, :known], self._dictionary.norm(dim=1)[:known])

    def encode(self, x: Tensor) -> Codes | Tensor:
        """Not possible without the factors."""
        # By design: with `wants_factors` the bench calls encode_known instead.
        raise NotImplementedError("codes come from the true factors: encode_known")


class FrozenTruth(TruthCoder, TopK):
    """The true concepts as atoms, an encoder that learns: what a monosemantic coder reaches."""

    def _initial(self, data: Activations, n_latents: int, rng: torch.Generator) -> Weights:
        weights = super()._initial(data, n_latents, rng)
        known = self._dictionary[:n_latents] / self._dictionary[:n_latents].norm(dim=1, keepdim=True)
        weights["dec"][: len(known)] = known
        weights["enc"] = weights["dec"].clone()
        return weights

    def _schedule(self) -> Schedule:
        return Schedule(batch=self._batch, rate=self._rate, frozen=frozenset({"dec"}))
