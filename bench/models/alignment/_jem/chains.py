"""Persistent chains of stochastic gradient Langevin dynamics, from which the negative samples come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bench.models.alignment._jem.objectives import Reference, energies

LOW, HIGH = -1.2, 1.2  # the data range [-1, 1], padded by 10 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """x += size * clip(grad, +-clip) + noise * normal, clamped to the padded data range."""

    steps: int = 20
    size: float = 1.0
    clip: float = 0.05
    noise: float = 0.01
    restart: float = 0.05  # share of chains that begin anew from uniform noise
    buffer: int = 2_000


class Chains:
    """The buffer of chains; with `classes` each class keeps its own."""

    def __init__(
        self, shape: tuple[int, ...], sampler: Sampler, generator: torch.Generator, classes: int = 0
    ) -> None:
        self.sampler = sampler
        self._generator = generator
        self._x = self._fresh(sampler.buffer, shape)
        self._labels = torch.arange(sampler.buffer) % classes if classes else None
        self.clamped = 0.0  # share of pixels at the border of the range after the last draw

    def draw(
        self, network: nn.Module, n: int, *, steps: int, reference: Reference | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Move `n` chains by `steps` and return them, detached, with their classes if they have any."""
        rows = torch.randperm(len(self._x), generator=self._generator)[:n]
        x = self._x[rows]
        anew = torch.rand(n, generator=self._generator) < self.sampler.restart
        x[anew] = self._fresh(int(anew.sum()), x.shape[1:])
        labels = None if self._labels is None else self._labels[rows]

        def energy(z: Tensor) -> Tensor:
            own = energies(network(z), labels)
            return own if reference is None else own + reference.energy(z)

        x = langevin(energy, x, self.sampler, steps=steps, generator=self._generator)
        self._x[rows] = x
        self.clamped = float(((x <= LOW) | (x >= HIGH)).float().mean())
        return x, labels

    def state(self) -> Tensor:
        """A copy of the chains, for a checkpoint."""
        return self._x.clone()

    def restore(self, state: Tensor) -> None:
        """Go back to a checkpoint."""
        self._x.copy_(state)

    def _fresh(self, n: int, shape: tuple[int, ...]) -> Tensor:
        return 2 * torch.rand(n, *shape, generator=self._generator) - 1


def langevin(
    energy: Callable[[Tensor], Tensor],
    x: Tensor,
    sampler: Sampler,
    *,
    steps: int,
    generator: torch.Generator,
) -> Tensor:
    """`x` after `steps` of Langevin dynamics downhill in `energy`, detached."""
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(energy(x).sum(), x)
        move = sampler.size * gradient.clamp(-sampler.clip, sampler.clip)
        x = x.detach() - move + sampler.noise * torch.randn(x.shape, generator=generator)
        x = x.clamp(LOW, HIGH)
    return x.detach()
