"""Wasserstein GAN with gradient penalty (Gulrajani et al. 2017) on principal components."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._ode import unit_normal
from bench.models.images._pca import Components, principal_components
from bench.models.images._training import batches, linear, step_count
from bench.spec import Context

_PENALTY = 10.0
_BETAS = (0.0, 0.9)  # of Adam


@dataclass(frozen=True)
class _Plan:
    steps: int  # of the critic
    width: int
    critic_steps: int  # for each one of the generator
    epochs: int = 80
    batch: int = 64
    critic_rate: float = 2e-3
    generator_rate: float = 1e-3


_PLANS = {
    "tiny": _Plan(steps=60, width=64, critic_steps=2),
    "small": _Plan(steps=640, width=128, critic_steps=2),
    "full": _Plan(steps=100_000, width=512, critic_steps=5, critic_rate=1e-4, generator_rate=1e-4),
}


class WassersteinGan(ImageGenerator):
    """Two perceptrons that play against each other over the `dims` leading principal components.

    Coordinates are divided by one common number, so that distances stay those between images up to a factor;
    the other components stay at their mean, so samples are smoother than data. `labels` and `nfe` are ignored.
    """

    def __init__(self, *, dims: int = 64, latent: int = 32) -> None:
        self.dims = dims
        self.latent = latent
        self._plan = _PLANS["small"]

    def setup(self, ctx: Context) -> None:
        self._plan = _PLANS[ctx.size]

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        self._device = device
        values = to_unit(images)
        self._parts: Components = principal_components(values)
        q = min(self.dims, len(self._parts.mean))
        self._scale = max(float(self._parts.variances[:q].mean()) ** 0.5, 1e-6)
        coordinates = self._parts.project(values, q) / self._scale
        rng = torch.Generator().manual_seed(seed)
        self._generator = _perceptron(self.latent, self._plan.width, q, rng).to(device)
        critic = _perceptron(q, self._plan.width, 1, rng).to(device)
        self._play(critic, torch.from_numpy(coordinates).to(device, torch.float32), rng)

    def _play(self, critic: nn.Module, data: Tensor, rng: torch.Generator) -> None:
        plan = self._plan
        critic_optimizer = _adam(critic, plan.critic_rate)
        generator_optimizer = _adam(self._generator, plan.generator_rate)
        steps = step_count(plan.steps, plan.epochs, len(data), plan.batch)
        for step, real in enumerate(batches(data, plan.batch, steps, rng)):
            with torch.no_grad():
                fake = self._generator(self._noise(len(real), rng))
            critic_optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward([_critic_loss(critic, real, fake, rng)])
            critic_optimizer.step()
            if (step + 1) % plan.critic_steps == 0:
                generator_optimizer.zero_grad(set_to_none=True)
                torch.autograd.backward([-critic(self._generator(self._noise(len(real), rng))).mean()])
                generator_optimizer.step()

    def _noise(self, n: int, rng: torch.Generator) -> Tensor:
        return torch.randn(n, self.latent, generator=rng).to(self._device)

    @torch.no_grad()
    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        latent = unit_normal(n, self.latent, seed=seed, device=self._device)
        coordinates = self._generator(latent).double().cpu().numpy() * self._scale
        return to_images(self._parts.restore(coordinates), self._shape)


def _perceptron(inputs: int, width: int, outputs: int, rng: torch.Generator) -> nn.Sequential:
    """Two hidden layers."""
    slope = 0.2
    return nn.Sequential(
        linear(inputs, width, rng),
        nn.LeakyReLU(slope),
        linear(width, width, rng),
        nn.LeakyReLU(slope),
        linear(width, outputs, rng),
    )


def _adam(network: nn.Module, rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(network.parameters(), lr=rate, betas=_BETAS, fused=True)


def _critic_loss(critic: nn.Module, real: Tensor, fake: Tensor, rng: torch.Generator) -> Tensor:
    """Negative estimate of the Wasserstein distance, plus the penalty on gradients between real and fake."""
    mix = torch.rand(len(real), 1, generator=rng).to(real.device)
    between = torch.lerp(real, fake, mix).requires_grad_(True)
    scores = critic(torch.cat([real, fake, between]))
    of_real, of_fake, of_between = scores.chunk(3)
    (gradient,) = torch.autograd.grad(of_between.sum(), between, create_graph=True)
    penalty = ((gradient.norm(dim=1) - 1.0) ** 2).mean()
    loss: Tensor = of_fake.mean() - of_real.mean() + _PENALTY * penalty
    return loss
