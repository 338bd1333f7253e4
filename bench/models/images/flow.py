"""Flow matching (Lipman et al. 2023) with a small network on principal components."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._ode import Solver, gaussian_velocity, integrate, path_variance, unit_normal
from bench.models.images._pca import principal_components
from bench.models.images._training import (
    batches,
    linear,
    schedule,
    set_learning_rate,
    step_count,
    zero_linear,
)
from bench.spec import Context

_ROWS = 4_096  # samples carried along at once
_VARIANCE_FLOOR = 1e-6  # of a component the network sees, in images on the scale [-1, 1]


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    blocks: int
    epochs: int = 300
    batch: int = 256
    rate: float = 3e-3
    average: float = 0.99  # of the running mean of the weights


_PLANS = {
    "tiny": _Plan(steps=60, width=64, blocks=1, batch=64),
    "small": _Plan(steps=1_000, width=512, blocks=1),
    "full": _Plan(steps=20_000, width=1024, blocks=3, rate=1e-3, average=0.999),
}


class FlowMatching(ImageGenerator):
    """Straight paths from N(0, I) to the images on the scale [-1, 1], independent coupling.

    The velocity is that of the Gaussian with the data's mean and variances along its principal
    components, in closed form, plus a network that corrects it on the `dims` leading components; the
    variance of the others counts as zero. So one Euler step ends near the mean image, and the network
    learns only what is not Gaussian. Sampling takes `nfe` evaluations with `solver` "euler" or
    "midpoint"; `sample(nfe=...)` overrides the constructor's. `labels` is ignored.
    """

    def __init__(self, *, dims: int = 64, nfe: int = 50, solver: Solver = "euler") -> None:
        self.dims = dims
        self.nfe = nfe
        self.solver: Solver = solver
        self._plan = _PLANS["small"]

    def setup(self, ctx: Context) -> None:
        self._plan = _PLANS[ctx.size]

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        self._device = device
        values = to_unit(images)
        parts = principal_components(values)
        q = min(self.dims, len(parts.mean))
        self.rotation = torch.from_numpy(parts.directions).to(device, torch.float32)
        self._mean = torch.from_numpy((2.0 * parts.mean - 1.0) @ parts.directions).to(device, torch.float32)
        self._variances = torch.zeros_like(self._mean)
        leading = torch.from_numpy(4.0 * parts.variances[:q]).to(device, torch.float32)
        self._variances[:q] = leading.clamp(min=_VARIANCE_FLOOR)
        coordinates = torch.from_numpy(2.0 * parts.project(values, q)).to(device, torch.float32)
        self._train(coordinates + self._mean[:q], torch.Generator().manual_seed(seed))

    def _train(self, data: Tensor, rng: torch.Generator) -> None:
        """Fit the network to `data` (N, q), then keep the running mean of its weights."""
        plan, q = self._plan, data.shape[1]
        self._network = _Network(q, plan.width, plan.blocks, rng).to(data.device)
        weights = list(self._network.parameters())
        averages = [weight.detach().clone() for weight in weights]
        optimizer = torch.optim.Adam(weights, betas=(0.9, 0.99), fused=True)
        steps = step_count(plan.steps, plan.epochs, len(data), plan.batch)
        for step, end in enumerate(batches(data, plan.batch, steps, rng)):
            set_learning_rate(optimizer, schedule(step, steps, peak=plan.rate))
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward([self._loss(end, rng)])
            optimizer.step()
            decay = min(plan.average, (1 + step) / (10 + step))
            torch._foreach_lerp_(averages, [weight.detach() for weight in weights], 1.0 - decay)
        for weight, average in zip(weights, averages, strict=True):
            weight.data.copy_(average)

    def _loss(self, end: Tensor, rng: torch.Generator) -> Tensor:
        """Squared error of the network's correction, in the units in which it is of order one.

        Components count by their standard deviation: between equal weights, which spend the network on
        the smallest components, and equal pixels, which forget them.
        """
        mean, variance = self._mean[: end.shape[1]], self._variances[: end.shape[1]]
        start = torch.randn(end.shape, generator=rng).to(end.device)
        t = _times(len(end), rng).to(end.device)
        x = torch.lerp(start, end, t)
        missing = end - start - gaussian_velocity(x, t, mean, variance)
        spread = path_variance(t, variance).sqrt()
        target = missing * spread / variance.sqrt()
        weight = (variance / variance.mean()).sqrt()
        error: Tensor = self._network((x - t * mean) / spread, t) - target
        return (weight * error**2).mean()

    def _velocity(self, x: Tensor, t: Tensor) -> Tensor:
        """Velocity at coordinates `x` (b, d) along all principal directions, at times `t` (b, 1)."""
        q = self._network.dims
        mean, variance = self._mean[:q], self._variances[:q]
        velocity = gaussian_velocity(x, t, self._mean, self._variances)
        spread = path_variance(t, variance).sqrt()
        correction = self._network((x[:, :q] - t * mean) / spread, t)
        velocity[:, :q] += correction * variance.sqrt() / spread
        return velocity

    @torch.no_grad()
    def velocity(self, x: Tensor, t: Tensor) -> Tensor:
        """Velocity at images `x`, float32 (b, C, H, W) on the scale [-1, 1], and times `t` (b,) in [0, 1)."""
        turned = x.reshape(len(x), -1) @ self.rotation
        return (self._velocity(turned, t.reshape(-1, 1)) @ self.rotation.T).reshape(x.shape)

    @torch.no_grad()
    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        steps = self.nfe if nfe is None else nfe
        start = unit_normal(n, len(self._mean), seed=seed, device=self._device)
        ends = [
            integrate(self._velocity, x, nfe=steps, solver=self.solver) for x in torch.split(start, _ROWS)
        ]
        pixels = torch.cat(ends) @ self.rotation.T
        return to_images((pixels.cpu().numpy() + 1.0) / 2.0, self._shape)


class _Network(nn.Module):
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


def _times(n: int, rng: torch.Generator) -> Tensor:
    """Stratified logit-normal times (n, 1), most of them where noise and image are equally strong."""
    uniform = (torch.arange(n)[:, None] + torch.rand(n, 1, generator=rng)) / n
    return torch.sigmoid(0.8 * torch.special.ndtri(uniform.clamp(1e-4, 1.0 - 1e-4)) - 0.6)
