"""Dictionary learning under which whole atoms vanish: an L1 norm on codes and the L-infinity norm of each atom's codes.

After the abstract of J. Zhao et al. (2025) on dictionary learning with atoms that are pruned; alternating proximal
gradient steps. The step sizes and the schedule are ours.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae._linear import LinearCoder
from bench.models.sae._training import initial

MOST_ROWS = 2_048
_ROUNDS, _INFERENCE, _GAIN = 120, 50, 0.05


class PenalisedDictionary(LinearCoder):
    """min ||X - R D||^2 / 2 + l1 |R|_1 + l2 sum_j max_i |r_ij|, ||d_j|| <= 1; l1 is steered to the wanted L0."""

    signed: ClassVar[bool] = True

    def __init__(self, *, together: float = 2.0) -> None:
        super().__init__()
        self._together, self._l1 = together, 0.1

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        rng = torch.Generator().manual_seed(seed)
        rows = data.rows[torch.randperm(data.n_rows, generator=rng)[:MOST_ROWS]] - data.mean
        start = initial(data, n_latents, rng)
        atoms, self._l1 = start["dec"], 0.1 * float(rows.norm(dim=1).mean())
        codes = torch.zeros(len(rows), n_latents, device=rows.device)
        for round_ in range(_ROUNDS):
            codes = _code_step(codes, rows, atoms, self._l1)
            if round_ % 2:  # the second norm acts on whole columns
                codes = shrink_columns(codes, self._together * self._l1 / _lipschitz(atoms))
            atoms = _atom_step(codes, rows, atoms)
            gap = (float((codes != 0).sum()) / len(rows) - target_l0) / target_l0
            self._l1 *= 1 + _GAIN * max(-1.0, min(1.0, gap))
        self._weights = {"enc": atoms, "dec": atoms, "b_enc": start["b_enc"], "b_dec": data.mean.clone()}

    def _encode(self, rows: Tensor) -> Tensor:
        """The codes of new rows under the L1 norm: the other one couples rows and acts on the atoms in training."""
        centred, atoms = rows - self._weights["b_dec"], self._weights["dec"]
        codes = torch.zeros(len(rows), len(atoms), device=rows.device)
        for _ in range(_INFERENCE):
            codes = _code_step(codes, centred, atoms, self._l1)
        return codes


def _lipschitz(atoms: Tensor) -> float:
    return float(torch.linalg.matrix_norm(atoms, 2)) ** 2 + 1e-6


def _code_step(codes: Tensor, rows: Tensor, atoms: Tensor, l1: float) -> Tensor:
    """A proximal gradient step on the codes under the L1 norm."""
    step = 1 / _lipschitz(atoms)
    moved = codes - step * (codes @ atoms - rows) @ atoms.T
    return moved.sign() * (moved.abs() - step * l1).clamp(min=0.0)


def _atom_step(codes: Tensor, rows: Tensor, atoms: Tensor) -> Tensor:
    """A gradient step on the atoms, projected on ||d|| <= 1."""
    step = 1 / (float(torch.linalg.matrix_norm(codes, 2)) ** 2 + 1e-6)
    moved = atoms - step * codes.T @ (codes @ atoms - rows)
    return torch.div(moved, moved.norm(dim=1, keepdim=True).clamp(min=1.0))


def shrink_columns(codes: Tensor, amount: float) -> Tensor:
    """The proximal map of amount * sum_j max_i |r_ij|: each column less its
    projection on the L1 ball of that radius.
    """
    magnitudes = codes.abs()
    ordered = magnitudes.sort(dim=0, descending=True).values
    totals = ordered.cumsum(dim=0) - amount
    counts = torch.arange(1, len(codes) + 1, device=codes.device)[:, None]
    active = (ordered * counts > totals).sum(dim=0, keepdim=True).clamp(min=1)
    level = totals.gather(0, active - 1) / active  # columns within the ball vanish
    level = torch.where(magnitudes.sum(dim=0, keepdim=True) <= amount, 0.0, level.clamp(min=0.0))
    return codes.sign() * torch.minimum(magnitudes, level)
