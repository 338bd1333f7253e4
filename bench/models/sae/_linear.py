"""What coders with one encoder layer and a linear decoder have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor

from bench.adapters.sae import Activations, Codes, SparseCoder, TrainBudget, as_dense
from bench.models.sae import _sparse
from bench.models.sae._training import Outcome, Weights, preactivations

_ROWS = 4096  # encoded at once


def steps_of(target_l0: float, n_latents: int) -> int:
    """The k of coders that keep k latents; `ValueError` if there are not as many."""
    k = max(1, round(target_l0))
    if k > n_latents:
        raise ValueError(f"target L0 {target_l0:g} asks for k={k} of {n_latents} latents")
    return k


class LinearCoder(SparseCoder):
    """Keeps its weights in a dictionary of tensors; subclasses learn them and say how rows become codes."""

    def __init__(self) -> None:
        self._weights: Weights = {}
        self._outcome: Outcome | None = None

    def fit(
        self,
        data: Activations,
        *,
        n_latents: int,
        target_l0: float,
        budget: TrainBudget,
        seed: int,
        device: str,
    ) -> None:
        """Learn the weights."""
        with torch.no_grad():
            self._learn(data, n_latents, target_l0, budget, seed)
        if self._outcome is not None and self._outcome.diverged and self._outcome.steps == 0:
            raise FloatingPointError("the first loss is not finite")

    @abstractmethod
    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        """Fill `self._weights` (`enc`, `b_enc`, `dec`, `b_dec`)."""

    @torch.no_grad()
    def encode(self, x: Tensor) -> Codes | Tensor:
        """Codes of rows in chunks, so that memory stays small."""
        parts = [self._encode(rows) for rows in torch.split(x, _ROWS)]
        if all(isinstance(part, Codes) for part in parts):
            sparse = [part for part in parts if isinstance(part, Codes)]
            return Codes(
                indices=torch.cat([part.indices for part in sparse]),
                values=torch.cat([part.values for part in sparse]),
                n_latents=sparse[0].n_latents,
            )
        return torch.cat([as_dense(part) for part in parts])

    @abstractmethod
    def _encode(self, rows: Tensor) -> Codes | Tensor:
        """Codes of one chunk."""

    @torch.no_grad()
    def decode(self, codes: Codes | Tensor) -> Tensor:
        """f W + b."""
        if isinstance(codes, Codes):
            places = codes.indices.clamp(min=0)
            return _sparse.decode(codes.values, places, self._weights)
        return codes @ self._weights["dec"] + self._weights["b_dec"]

    def decoder(self) -> tuple[Tensor, Tensor] | None:
        """The atoms and the bias."""
        return self._weights["dec"], self._weights["b_dec"]

    def encoder(self) -> Tensor | None:
        """The encoder's directions."""
        return self._weights["enc"].T

    def metadata(self) -> dict[str, Any]:
        """How training ended."""
        if self._outcome is None:
            return {}
        return {"steps": self._outcome.steps, "loss": self._outcome.loss, "diverged": self._outcome.diverged}


class TopKCoder(LinearCoder):
    """Keeps the k largest pre-activations that are positive."""

    def __init__(self) -> None:
        super().__init__()
        self._k = 1

    def _encode(self, rows: Tensor) -> Codes | Tensor:
        values, indices = _sparse.top(preactivations(rows, self._weights)[1], self._k)
        return Codes(indices=indices, values=values, n_latents=len(self._weights["b_enc"]))


class ThresholdCoder(LinearCoder):
    """Keeps pre-activations above the threshold of their latent (0: an ordinary rectified linear code)."""

    def _encode(self, rows: Tensor) -> Codes | Tensor:
        pre = preactivations(rows, self._weights)[1]
        return torch.where(pre > self._weights.get("threshold", torch.zeros(())), pre.clamp(min=0.0), 0.0)
