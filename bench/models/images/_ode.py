"""Flows on straight paths x_t = (1 - t) x_0 + t x_1 from a standard normal x_0: the parts without a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

Solver = Literal["euler", "midpoint"]
Velocity = Callable[[Tensor, Tensor], Tensor]


def gaussian_velocity(
    x: Tensor, t: Tensor, mean: Tensor, variance: Tensor, covariance: Tensor | float = 0.0
) -> Tensor:
    """Exact velocity E[x_1 - x_0 | x_t = x] for x_1 ~ N(mean, diag(variance)) and x_0 ~ N(0, I), jointly normal.

    `x` (b, d), `t` (b, 1) in [0, 1), `mean` and `variance` (d,); `covariance` (d,) of x_0 and x_1 in each
    dimension, 0 if they are independent.
    """
    shared = t * variance - (1.0 - t) + (1.0 - 2.0 * t) * covariance
    return mean + shared / path_variance(t, variance, covariance) * (x - t * mean)


def path_variance(t: Tensor, variance: Tensor, covariance: Tensor | float = 0.0) -> Tensor:
    """Variance (b, d) of x_t at times `t` (b, 1) when x_1 has `variance` and, with x_0, `covariance` (d,)."""
    return (1.0 - t) ** 2 + t**2 * variance + 2.0 * t * (1.0 - t) * covariance


def integrate(velocity: Velocity, x: Tensor, *, nfe: int, solver: Solver = "euler") -> Tensor:
    """Carry `x` (b, d) from t = 0 to t = 1 with exactly `nfe` evaluations of `velocity(x, t)`, t (b, 1).

    Steps are equally long. The midpoint rule spends two evaluations a step; of an odd number the first
    step is an Euler step.
    """
    if nfe < 1:
        raise ValueError(f"nfe must be at least 1, got {nfe}")
    steps = nfe if solver == "euler" else (nfe + 1) // 2
    euler_steps = steps if solver == "euler" else nfe % 2
    for step in range(steps):
        t = x.new_full((len(x), 1), step / steps)
        slope = velocity(x, t)
        if step >= euler_steps:
            slope = velocity(x + slope * (0.5 / steps), t + 0.5 / steps)
        x = x + slope / steps
    return x


def unit_normal(n: int, d: int, *, seed: int, device: str) -> Tensor:
    """Standard normal float32 (n, d), the same on every device."""
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed)).to(device)
