"""What the networks are made of: seeded randomness and layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


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
