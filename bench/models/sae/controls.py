"""Controls on top of BatchTopK: half of the weights stay as they were drawn.

A. Korznikov et al. (2026), Sanity Checks for Sparse Autoencoders: metrics that such coders pass say little.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench.models.sae._training import Schedule, Weights, chain, unit_atoms
from bench.models.sae.batchtopk import BatchTopK

_COSINE = 0.8


class FrozenDecoder(BatchTopK):
    """Random atoms that never change; encoder and biases learn."""

    def _schedule(self, weights: Weights) -> Schedule:
        return Schedule(batch=self._batch, rate=self._rate, frozen=frozenset({"dec"}))


class FrozenEncoder(BatchTopK):
    """Random encoder directions that never change; atoms and biases learn."""

    def _schedule(self, weights: Weights) -> Schedule:
        return Schedule(batch=self._batch, rate=self._rate, keep=unit_atoms, frozen=frozenset({"enc"}))


class SoftFrozen(BatchTopK):
    """Atoms may turn from where they were drawn as far as a cosine of 0.8."""

    def _schedule(self, weights: Weights) -> Schedule:
        start = weights["dec"].clone()
        keep = chain([unit_atoms, lambda w: _stay_near(w["dec"], start)])
        return Schedule(batch=self._batch, rate=self._rate, keep=keep)


def _stay_near(atoms: Tensor, start: Tensor) -> None:
    """Turn unit `atoms` back onto the cone around `start` where they have left it."""
    cosine = (atoms * start).sum(dim=1, keepdim=True)
    away = atoms - cosine * start
    away /= away.norm(dim=1, keepdim=True).clamp(min=1e-12)
    border = _COSINE * start + (1 - _COSINE**2) ** 0.5 * away
    atoms.copy_(torch.where(cosine < _COSINE, border, atoms))
