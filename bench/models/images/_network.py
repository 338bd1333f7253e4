"""The network of the models that work on principal components and see a time."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.models.images._training import linear, zero_linear


class ResidualPerceptron(nn.Module):
    """Residual perceptron whose every layer sees the time; it starts as the zero function."""

    def __init__(self, dims: int, width: int, blocks: int, rng: torch.Generator, waves: int = 8) -> None:
        super().__init__()
        self.dims = dims
        self.frequencies: Tensor
        self.register_buffer("frequencies", torch.arange(1, waves + 1) * (math.pi / 2))
        self.entry = linear(dims, width, rng)
        self.entry_time = linear(2 * waves, width, rng)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(blocks))
        self.times = nn.ModuleList(linear(2 * waves, width, rng) for _ in range(blocks))
        self.layers = nn.ModuleList(linear(width, width, rng) for _ in range(blocks))
        self.exit = zero_linear(width, dims)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        """`x` (b, dims), `t` (b, 1) -> (b, dims)."""
        phase = t * self.frequencies
        waves = torch.cat([phase.cos(), phase.sin()], dim=1)
        hidden = self.entry(x) + self.entry_time(waves)
        for norm, time, layer in zip(self.norms, self.times, self.layers, strict=True):
            hidden = hidden + layer(functional.silu(norm(hidden) + time(waves)))
        result: Tensor = self.exit(functional.silu(hidden))
        return result
