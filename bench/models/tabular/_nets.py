"""What the trained networks share: seeded randomness, layers, a training loop that survives divergence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

_SNAPSHOT_EVERY = 50
_FEWEST_STEPS = 200
_SHARE_OF_TIME = 0.8  # of the budget that training may use; the rest is for sampling


@contextmanager
def seeded(seed: int, device: str) -> Iterator[torch.Generator]:
    """Inside, global randomness of torch follows `seed`; outside it is as it was. Yields a CPU generator."""
    devices = [torch.device(device)] if device.startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed % 2**63)
        yield torch.Generator().manual_seed(seed % 2**63)


def perceptron(inputs: int, width: int, outputs: int, *, hidden: int = 2) -> nn.Sequential:
    """`hidden` layers of `width` units with SiLU, then a linear one."""
    layers: list[nn.Module] = []
    for _ in range(hidden):
        layers += [nn.Linear(inputs, width), nn.SiLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


class TimeNet(nn.Module):
    """A residual perceptron of `x` (b, inputs) and a time or noise level `t` (b,) of order 1."""

    def __init__(self, inputs: int, outputs: int, width: int, blocks: int) -> None:
        super().__init__()
        self._frequencies = width // 4
        self.time = nn.Sequential(nn.Linear(2 * self._frequencies, width), nn.SiLU(), nn.Linear(width, width))
        self.first = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
            for _ in range(blocks)
        )
        self.last = nn.Sequential(nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, outputs))

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        steps = torch.arange(self._frequencies, device=x.device) / self._frequencies
        angles = t[:, None] * torch.exp(math.log(1_000.0) * steps)
        time_ = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        state = self.first(x) + time_
        for block in self.blocks:
            state = state + block(state + time_)
        result: Tensor = self.last(state)
        return result


class Adam:
    """Adam (Kingma and Ba 2015) with gradients clipped to norm 1.

    That of torch imports its compiler with the first step, which takes longer than training a small net.
    """

    def __init__(self, weights: Sequence[Tensor], betas: tuple[float, float] = (0.9, 0.999)) -> None:
        self._weights = [weight.detach() for weight in weights]
        self._first = [torch.zeros_like(weight) for weight in self._weights]
        self._second = [torch.zeros_like(weight) for weight in self._weights]
        self._betas = betas
        self._steps = 0

    def step(self, gradients: Sequence[Tensor], rate: float) -> None:
        """Move the weights against `gradients`."""
        self._steps += 1
        first, second = self._betas
        given = list(gradients)
        norm = torch.stack(torch._foreach_norm(given)).norm()
        given = list(torch._foreach_mul(given, float((1.0 / norm).clamp(max=1.0))))
        torch._foreach_lerp_(self._first, given, 1.0 - first)
        torch._foreach_mul_(self._second, second)
        torch._foreach_addcmul_(self._second, given, given, 1.0 - second)
        scale = torch._foreach_sqrt(self._second)
        torch._foreach_div_(scale, math.sqrt(1.0 - second**self._steps))
        torch._foreach_add_(scale, 1e-8)
        torch._foreach_addcdiv_(self._weights, self._first, scale, -rate / (1.0 - first**self._steps))


class Trainer:
    """`Adam` with warm-up and cosine decay; goes back to the last good weights when a loss is not finite."""

    def __init__(
        self, modules: Sequence[nn.Module], *, rate: float, seconds: float, average: float = 0.0
    ) -> None:
        self._weights = [weight for module in modules for weight in module.parameters()]
        self._adam = Adam(self._weights)
        self._rate = rate
        self._deadline = time.monotonic() + _SHARE_OF_TIME * seconds
        self._decay = average
        self.diverged = False

    def run(self, steps: int, loss: Callable[[int], Tensor]) -> None:
        """Up to `steps` steps down `loss(step)`; fewer if time runs out or a loss is not finite.

        With `average` the weights end as an exponential mean over the last steps.
        """
        good, mean = self._copy(), self._copy()
        for step in range(steps):
            value = loss(step)
            if not math.isfinite(value.item()):
                self.diverged = True
                self._load(good)
                return
            gradients = torch.autograd.grad(value, self._weights)
            self._adam.step(gradients, _schedule(step, steps, self._rate))
            if self._decay:
                decay = min(self._decay, (step + 1) / (step + 10))
                torch._foreach_lerp_(mean, [weight.detach() for weight in self._weights], 1.0 - decay)
            if step % _SNAPSHOT_EVERY == 0:
                if self._is_finite():
                    good = self._copy()
                if time.monotonic() > self._deadline:
                    break
        if self._decay:
            self._load(mean)
        if not self._is_finite():
            self.diverged = True
            self._load(good)

    def _copy(self) -> list[Tensor]:
        return [weight.detach().clone() for weight in self._weights]

    def _load(self, weights: Sequence[Tensor]) -> None:
        with torch.no_grad():
            for weight, value in zip(self._weights, weights, strict=True):
                weight.copy_(value)

    def _is_finite(self) -> bool:
        return all(bool(torch.isfinite(weight).all()) for weight in self._weights)


def _schedule(step: int, steps: int, peak: float, warmup: int = 30) -> float:
    return peak * min(1.0, (step + 1) / warmup) * 0.5 * (1.0 + math.cos(math.pi * step / steps))


def count_weights(modules: Sequence[nn.Module]) -> int:
    """Number of weights."""
    return sum(weight.numel() for module in modules for weight in module.parameters())


def draw_batch(rows: int, size: int, rng: torch.Generator) -> Tensor:
    """`size` row numbers below `rows`, with replacement."""
    return torch.randint(rows, (size,), generator=rng)


class AdversarialTrainer:
    """One step of the critic, one of the generator, in turn; back to the last good generator if one diverges."""

    def __init__(self, generator: nn.Module, critic: nn.Module, *, rate: float, seconds: float) -> None:
        self._sides = [list(critic.parameters()), list(generator.parameters())]
        self._adams = [Adam(weights, (0.5, 0.9)) for weights in self._sides]
        self._rate = rate
        self._deadline = time.monotonic() + _SHARE_OF_TIME * seconds
        self.diverged = False

    def run(
        self, steps: int, critic_loss: Callable[[], Tensor], generator_loss: Callable[[], Tensor]
    ) -> None:
        """Up to `steps` steps of both sides; fewer if time runs out or a loss is not finite."""
        good = [weight.detach().clone() for weight in self._sides[1]]
        for step in range(steps):
            for weights, adam, loss in zip(
                self._sides, self._adams, (critic_loss, generator_loss), strict=True
            ):
                value = loss()
                if not math.isfinite(value.item()):
                    self._go_back(good)
                    return
                adam.step(torch.autograd.grad(value, weights), self._rate)
            if step % _SNAPSHOT_EVERY == 0:
                if self._is_finite():
                    good = [weight.detach().clone() for weight in self._sides[1]]
                if time.monotonic() > self._deadline:
                    break
        if not self._is_finite():
            self._go_back(good)

    def _is_finite(self) -> bool:
        return all(bool(torch.isfinite(weight).all()) for weight in self._sides[1])

    def _go_back(self, good: Sequence[Tensor]) -> None:
        self.diverged = True
        with torch.no_grad():
            for weight, value in zip(self._sides[1], good, strict=True):
                weight.copy_(value)


def step_count(limit: int, epochs: int, rows: int, batch: int, most: int | None) -> int:
    """Training steps: at most `limit` and `most`, and about `epochs` passes over the rows, but at least 200."""
    passes = max(_FEWEST_STEPS, epochs * -(-rows // batch))
    return min(limit, passes, limit if most is None else most)
