"""The trainer that all learned coders share: schedule, clipping, Adam, divergence. Gradients are written by hand.

A coder is a dictionary of tensors (`enc` (m, d), `b_enc` (m,), `dec` (m, d), `b_dec` (d,), ...). An objective fills the
gradients of a batch and returns its loss; without autograd a step costs half as much, and sparse codes stay sparse.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget

# The first optimizer of a process makes torch load its compiler, a second of CPU time. Done here, the bench pays for
# it once, when it imports a model before it starts a process for each job, and not in every job.
torch.optim.Adam([torch.zeros(1, requires_grad=True)])

Weights = dict[str, Tensor]
Gradients = dict[str, Tensor]
_WARMUP, _DECAY, _CLIP = 100, 0.2, 1.0
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How long and how fast to learn. `keep` is called after every step, to put weights back where they belong."""

    batch: int = 512
    rate: float = 2e-3
    keep: Callable[[Weights], None] | None = None
    frozen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How training ended."""

    steps: int
    loss: float  # of the last batch with a finite one
    diverged: bool
    out_of_time: bool


Objective = Callable[[Tensor, Weights, float], tuple[Tensor, Gradients]]
"""(rows (b, d), weights, share of the training done) -> loss, gradients of the mean over rows."""


def initial(data: Activations, n_latents: int, rng: torch.Generator, *, norm: float = 1.0) -> Weights:
    """Random atoms of length `norm`, an encoder that is their transpose, the bias at the mean."""
    atoms = torch.randn(n_latents, data.d_in, generator=rng)
    atoms = norm * atoms / atoms.norm(dim=1, keepdim=True)
    device = data.rows.device
    return {
        "enc": atoms.clone().to(device),
        "b_enc": torch.zeros(n_latents, device=device),
        "dec": atoms.to(device),
        "b_dec": data.mean.clone(),
    }


def train(
    objective: Objective,
    weights: Weights,
    data: Activations,
    *,
    budget: TrainBudget,
    schedule: Schedule,
    seed: int,
) -> Outcome:
    """Minimise `objective` in place. Warm-up over 100 steps, linear decay over the last fifth, gradients clipped at 1.

    Stops with the weights of the last good step when the loss is no longer finite, or time is over.
    """
    steps = max(1, budget.train_rows // schedule.batch)
    started = time.monotonic()
    learned = {name: w for name, w in weights.items() if name not in schedule.frozen}
    optimizer = torch.optim.Adam(learned.values(), betas=(0.9, 0.999), fused=True)
    last, done = math.nan, 0
    for step, rows in zip(range(steps), data.batches(schedule.batch, seed), strict=False):
        loss, gradients = objective(rows, weights, step / steps)
        value = float(loss)
        if not math.isfinite(value):
            return Outcome(steps=step, loss=last, diverged=True, out_of_time=False)
        _apply(optimizer, learned, gradients, schedule.rate * _rate(step, steps))
        if schedule.keep is not None:
            schedule.keep(weights)
        last, done = value, step + 1
        if time.monotonic() - started > budget.seconds:
            return Outcome(steps=done, loss=last, diverged=False, out_of_time=True)
    return Outcome(steps=done, loss=last, diverged=False, out_of_time=False)


def _rate(step: int, steps: int) -> float:
    warm = min(1.0, (step + 1) / min(_WARMUP, max(1, steps // 5)))
    return warm * min(1.0, (steps - step) / max(1.0, _DECAY * steps))


def _apply(optimizer: torch.optim.Optimizer, learned: Weights, gradients: Gradients, rate: float) -> None:
    used = [gradients[name] for name in learned]
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(used)))
    torch._foreach_mul_(used, torch.clamp(_CLIP / (norm + 1e-6), max=1.0))
    for weight, gradient in zip(learned.values(), used, strict=True):
        weight.grad = gradient
    optimizer.param_groups[0]["lr"] = rate
    optimizer.step()


def unit_atoms(weights: Weights) -> None:
    """Scale the atoms to length 1."""
    weights["dec"].div_(weights["dec"].norm(dim=1, keepdim=True).clamp_(min=_TINY))


def chain(keepers: Iterable[Callable[[Weights], None]]) -> Callable[[Weights], None]:
    """Apply several keepers in turn."""
    parts = tuple(keepers)

    def keep(weights: Weights) -> None:
        for part in parts:
            part(weights)

    return keep


def preactivations(rows: Tensor, weights: Weights) -> tuple[Tensor, Tensor]:
    """(x - b_dec, its inner products with the encoder plus bias)."""
    centred = rows - weights["b_dec"]
    return centred, torch.addmm(weights["b_enc"], centred, weights["enc"].T)


def dense_gradients(
    codes: Tensor, d_codes: Tensor, centred: Tensor, residual: Tensor, weights: Weights
) -> Gradients:
    """Gradients from those of the reconstruction, `residual` (b, d), and of the pre-activations, `d_codes` (b, m)."""
    d_bias = d_codes.sum(dim=0)
    return {
        "enc": d_codes.T @ centred,
        "b_enc": d_bias,
        "dec": codes.T @ residual,
        "b_dec": residual.sum(dim=0) - d_bias @ weights["enc"],
    }
