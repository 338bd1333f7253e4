"""The training loop of a JEM: divergence is noticed, rolled back, and never returned."""

from __future__ import annotations

import copy
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from bench.errors import BenchError
from bench.models.alignment._jem.chains import Chains, Sampler
from bench.models.alignment._jem.objectives import (
    OBJECTIVES,
    Objective,
    Reference,
    contrastive,
    denoising,
    energies,
    reference_of,
)

MAX_ENERGY = 1e4
MAX_RESTARTS = 3
GAP_FACTOR = 10.0  # an energy gap beyond this multiple of its running median is worth a warning
_WINDOW = 101


class JEMDiverged(BenchError):
    """Training diverged again after the last restart; there is no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainPlan:
    """Everything that decides a training, apart from data and network."""

    lam: float  # 0: classifier only, 1: generative only
    objective: Objective = "marginal"
    iterations: int = 1_000
    batch: int = 64
    rate: float = 2e-3  # top of the one-cycle schedule
    sampler: Sampler = field(default_factory=Sampler)
    jitter: float = 0.03  # standard deviation added to data in the contrastive objectives
    scales: tuple[float, float] = (0.2, 0.4)  # of noise in the denoising objective
    relative: bool = False  # the energy is relative to a Gaussian (see `Reference`)
    every: int = 200  # iterations between checkpoints
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.lam <= 1.0:  # also refuses NaN
            raise ValueError(f"lambda is {self.lam!r}; it must be a number from 0 to 1")
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective {self.objective!r} is unknown; use one of {', '.join(OBJECTIVES)}")
        if self.sampler.buffer < self.batch:
            raise ValueError(
                f"a buffer of {self.sampler.buffer} chains is too small for batches of {self.batch}"
            )


@dataclass(slots=True)
class Diagnosis:
    """What happened on the way."""

    restarts: int = 0
    losses: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)  # mean energy of chains minus that of data
    clamped: list[float] = field(default_factory=list)  # share of chain pixels at the border of the range
    warnings: list[str] = field(default_factory=list)

    def note_chains(self, gap: float, clamped: float) -> None:
        """Record one step; warn when the gap leaves its usual size far behind."""
        recent = [abs(g) for g in self.gaps[-_WINDOW:]]
        if len(recent) == _WINDOW and abs(gap) > GAP_FACTOR * max(statistics.median(recent), 1e-3):
            self.warnings.append(f"iteration {len(self.losses)}: energy gap {gap:.3g}, far beyond its median")
        self.gaps.append(gap)
        self.clamped.append(clamped)

    def summary(self) -> dict[str, float]:
        """Figures of the last fifth of the training."""
        tail = max(1, len(self.losses) // 5)
        found = {"restarts": float(self.restarts), "warnings": float(len(self.warnings))}
        for name, values in (("loss", self.losses), ("energy_gap", self.gaps), ("clamped", self.clamped)):
            if values:
                found[name] = statistics.fmean(values[-tail:])
        return found


def train(
    network: nn.Module,
    x: Tensor,
    y: Tensor,
    plan: TrainPlan,
    *,
    augment: Callable[[Tensor, torch.Generator], Tensor] | None = None,
) -> Diagnosis:
    """Train `network` in place on images `x` float32 (n, C, H, W) in [-1, 1] with classes `y` int64 (n,).

    With equal `plan.seed` the batches are the same for every lambda. Divergence (a loss that is not finite, or a
    mean energy beyond 1e4) goes back to the last checkpoint with half the rate and twice the sampling steps, three
    times at most; then `JEMDiverged` is raised.
    """
    diagnosis = Diagnosis()
    loop = _Loop(network, x, y, plan, diagnosis, augment)
    while not loop.finished:
        if not loop.step():
            diagnosis.restarts += 1
            if diagnosis.restarts > MAX_RESTARTS:
                raise JEMDiverged(
                    f"lambda {plan.lam}, {plan.objective}: diverged at iteration {loop.iteration} after "
                    f"{MAX_RESTARTS} restarts; use a lower rate or more sampling steps"
                )
            loop.back_off()
    return diagnosis


class _Loop:
    def __init__(
        self,
        network: nn.Module,
        x: Tensor,
        y: Tensor,
        plan: TrainPlan,
        diagnosis: Diagnosis,
        augment: Callable[[Tensor, torch.Generator], Tensor] | None,
    ) -> None:
        self.network, self.x, self.y, self.plan, self.diagnosis = network, x, y, plan, diagnosis
        self._augment = augment
        self._batches = torch.Generator().manual_seed(plan.seed)
        self._noise = torch.Generator().manual_seed(plan.seed + 1)
        self._order = torch.empty(0, dtype=torch.int64)
        self._reference: Reference | None = reference_of(x, scales=plan.scales) if plan.relative else None
        self.iteration = 0
        self.steps = plan.sampler.steps
        self._slow = 1.0
        self._optimizer = torch.optim.Adam(network.parameters(), lr=plan.rate)
        self._chains = self._make_chains()
        self._checkpoint = self._snapshot()

    @property
    def finished(self) -> bool:
        return self.iteration >= self.plan.iterations

    def _make_chains(self) -> Chains | None:
        if self.plan.lam == 0 or self.plan.objective == "dsm":
            return None
        classes = int(self.y.max()) + 1 if self.plan.objective == "conditional" else 0
        return Chains(tuple(self.x.shape[1:]), self.plan.sampler, self._noise, classes)

    def step(self) -> bool:
        """One update; False, without one, if training has diverged."""
        if self.iteration % self.plan.every == 0:
            self._checkpoint = self._snapshot()
        rows = self._next_rows()
        x = self.x[rows]
        if self._augment is not None:
            x = self._augment(x, self._batches)
        loss, largest = self._loss(x, self.y[rows])
        if not math.isfinite(loss.item()) or largest > MAX_ENERGY:
            return False
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        for group in self._optimizer.param_groups:
            group["lr"] = self._slow * self.plan.rate * one_cycle(self.iteration / self.plan.iterations)
        self._optimizer.step()
        self.diagnosis.losses.append(loss.item())
        self.iteration += 1
        return True

    def _loss(self, x: Tensor, y: Tensor) -> tuple[Tensor, float]:
        """The loss, and the largest mean energy that it came from."""
        logits = self.network(x)
        total = (1 - self.plan.lam) * nn.functional.cross_entropy(logits, y)
        largest = float(energies(logits.detach(), None).mean().abs())
        if self.plan.lam == 0:
            return total, largest
        if self._chains is None:
            term = denoising(
                self.network, x, scales=self.plan.scales, generator=self._noise, reference=self._reference
            )
        else:
            term, energy = self._contrast(x, y, self._chains)
            largest = max(largest, energy)
        return total + self.plan.lam * term, largest

    def _contrast(self, x: Tensor, y: Tensor, chains: Chains) -> tuple[Tensor, float]:
        samples, labels = chains.draw(self.network, len(x), steps=self.steps, reference=self._reference)
        jittered = x + self.plan.jitter * torch.randn(x.shape, generator=self._noise)
        data = energies(self.network(jittered), None if labels is None else y)
        model = energies(self.network(samples), labels)
        gap = float((model.mean() - data.mean()).detach())
        self.diagnosis.note_chains(gap, chains.clamped)
        return contrastive(data, model), float(model.detach().mean().abs())

    def back_off(self) -> None:
        """Return to the last checkpoint, more carefully."""
        network, optimizer, chains, self.iteration = self._checkpoint
        self.network.load_state_dict(network)
        self._optimizer.load_state_dict(copy.deepcopy(optimizer))
        if self._chains is not None:
            self._chains.restore(chains)
        self._slow /= 2
        self.steps *= 2

    def _snapshot(self) -> tuple[dict[str, Any], dict[str, Any], Any, int]:
        chains = None if self._chains is None else self._chains.state()
        state = copy.deepcopy(self.network.state_dict()), copy.deepcopy(self._optimizer.state_dict())
        return *state, chains, self.iteration

    def _next_rows(self) -> Tensor:
        if len(self._order) < self.plan.batch:
            self._order = torch.randperm(len(self.x), generator=self._batches)
        rows, self._order = self._order[: self.plan.batch], self._order[self.plan.batch :]
        return rows


def one_cycle(done: float) -> float:
    """Factor of the rate at the share `done` of the training: up from 1/25 over 30 %, then down to 0, by cosines."""
    if done < 0.3:
        return 0.04 + 0.96 * (1 - math.cos(math.pi * done / 0.3)) / 2
    return (1 + math.cos(math.pi * (done - 0.3) / 0.7)) / 2
