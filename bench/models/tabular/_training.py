"""What the trained networks share: plans by size, one training loop that survives divergence."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from bench.adapters.tabular import TabularGenerator
from bench.spec import Context

_SNAPSHOT_EVERY = 50
_FEWEST_STEPS = 200
_SHARE_OF_TIME = 0.8  # of the budget that training may use; the rest is for sampling
Plan = TypeVar("Plan")
Loss = Callable[[int], Tensor]


class TrainedGenerator(TabularGenerator, Generic[Plan]):
    """A generator of networks: how much it trains depends on the size; it tells its weights and whether it diverged."""

    def __init__(self, plans: Mapping[str, Plan]) -> None:
        self._plans = plans
        self._plan = plans["small"]
        self._diverged = False

    def setup(self, ctx: Context) -> None:
        self._plan = self._plans[ctx.size]

    @property
    def diverged(self) -> bool:
        return self._diverged

    def n_parameters(self) -> int | None:
        return sum(weight.numel() for module in self._networks() for weight in module.parameters())

    @abstractmethod
    def _networks(self) -> Sequence[nn.Module]:
        """The networks that samples are made with."""


class Player:
    """Weights that one loss trains: all in one vector, of which the modules hold views.

    Moved by Adam (Kingma and Ba 2015) with gradients clipped to norm 1. That of torch imports its compiler with the
    first step, which takes longer than training a small net, and loops over the weights.
    """

    def __init__(self, modules: Sequence[nn.Module], betas: tuple[float, float]) -> None:
        self._parts = [weight for module in modules for weight in module.parameters()]
        self.vector = torch.cat([weight.detach().reshape(-1) for weight in self._parts])
        sizes = [weight.numel() for weight in self._parts]
        for weight, view in zip(self._parts, torch.split(self.vector, sizes), strict=True):
            weight.data = view.view_as(weight)
        self._first, self._second = torch.zeros_like(self.vector), torch.zeros_like(self.vector)
        self._betas, self._steps = betas, 0

    def step(self, loss: Tensor, rate: float) -> None:
        """Move the weights down `loss`."""
        gradient = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, self._parts)])
        gradient *= (1.0 / gradient.norm()).clamp(max=1.0)
        self._steps += 1
        first, second = self._betas
        self._first.lerp_(gradient, 1.0 - first)
        self._second.mul_(second).addcmul_(gradient, gradient, value=1.0 - second)
        scale = self._second.sqrt().div_(math.sqrt(1.0 - second**self._steps)).add_(1e-8)
        self.vector.addcdiv_(self._first, scale, value=-rate / (1.0 - first**self._steps))

    def is_finite(self) -> bool:
        """Whether all weights are."""
        return bool(torch.isfinite(self.vector).all())


class Trainer:
    """Steps down one loss, or in turn down the losses of several players; none diverges unseen.

    players: the modules of each, one player for ordinary training, critic and generator for adversarial training.
    seconds: of the whole job. average: with it the weights end as an exponential mean over the last steps. cosine:
    whether the rate warms up and decays to 0, or stays what it is.
    """

    def __init__(
        self,
        *players: Sequence[nn.Module],
        rate: float,
        seconds: float,
        betas: tuple[float, float] = (0.9, 0.999),
        average: float = 0.0,
        cosine: bool = True,
    ) -> None:
        self._players = [Player(modules, betas) for modules in players]
        self._rate, self._cosine = rate, cosine
        self._deadline = time.monotonic() + _SHARE_OF_TIME * seconds
        self._average = average
        self.diverged = False

    def run(self, steps: int, *losses: Loss) -> None:
        """Up to `steps` steps down `loss(step)` of each player; fewer if time runs out.

        When a loss is not finite the weights go back to the last good ones, and it ends.
        """
        good, mean = self._copy(), self._copy()
        for step in range(steps):
            if not self._step(step, steps, losses):
                self._go_back(good)
                return
            if self._average:
                decay = min(self._average, (step + 1) / (step + 10))
                for player, vector in zip(self._players, mean, strict=True):
                    vector.lerp_(player.vector, 1.0 - decay)
            if step % _SNAPSHOT_EVERY == 0:
                if self._is_finite():
                    good = self._copy()
                if time.monotonic() > self._deadline:
                    break
        if self._average:
            self._load(mean)
        if not self._is_finite():
            self._go_back(good)

    def _step(self, step: int, steps: int, losses: Sequence[Loss]) -> bool:
        """One step of every player; False if a loss is not finite."""
        rate = _cosine(step, steps, self._rate) if self._cosine else self._rate
        for player, loss in zip(self._players, losses, strict=True):
            value = loss(step)
            if not math.isfinite(value.item()):
                return False
            player.step(value, rate)
        return True

    def _go_back(self, good: Sequence[Tensor]) -> None:
        self.diverged = True
        self._load(good)

    def _copy(self) -> list[Tensor]:
        return [player.vector.clone() for player in self._players]

    def _load(self, vectors: Sequence[Tensor]) -> None:
        for player, vector in zip(self._players, vectors, strict=True):
            player.vector.copy_(vector)

    def _is_finite(self) -> bool:
        return all(player.is_finite() for player in self._players)


def _cosine(step: int, steps: int, peak: float, warmup: int = 30) -> float:
    """A linear warm-up, then half a cosine down to 0."""
    return peak * min(1.0, (step + 1) / warmup) * 0.5 * (1.0 + math.cos(math.pi * step / steps))


def draw_batch(rows: int, size: int, rng: torch.Generator) -> Tensor:
    """`size` row numbers below `rows`, with replacement."""
    return torch.randint(rows, (size,), generator=rng)


def step_count(limit: int, epochs: int, rows: int, batch: int, most: int | None) -> int:
    """Training steps: at most `limit` and `most`, and about `epochs` passes over the rows, but at least 200."""
    passes = max(_FEWEST_STEPS, epochs * -(-rows // batch))
    return min(limit, passes, limit if most is None else most)
