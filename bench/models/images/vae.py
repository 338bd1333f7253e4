"""Variational autoencoder with a multilayer perceptron on each side."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._ode import unit_normal
from bench.models.images._training import batches, linear, schedule, set_learning_rate, step_count
from bench.spec import Context


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    epochs: int = 100
    batch: int = 128
    rate: float = 4e-3


_PLANS = {
    "tiny": _Plan(steps=60, width=64),
    "small": _Plan(steps=340, width=256),
    "full": _Plan(steps=20_000, width=512, rate=1e-3),
}


class VariationalAutoencoder(ImageGenerator):
    """Kingma & Welling's VAE with Bernoulli likelihood on gray values and a normal prior of `latent` numbers.

    Two hidden layers a side; Adam with warm-up and cosine decay. A sample is the decoder's mean for a
    latent drawn from the prior, so samples are smoother than data. `labels` and `nfe` are ignored.
    """

    def __init__(self, *, latent: int = 16) -> None:
        self.latent = latent
        self._plan = _PLANS["small"]

    def setup(self, ctx: Context) -> None:
        self._plan = _PLANS[ctx.size]

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        self._device = device
        rng = torch.Generator().manual_seed(seed)
        data = torch.from_numpy(to_unit(images)).to(device)
        encoder, self._decoder = self._build(data, rng)
        plan = self._plan
        steps = step_count(plan.steps, plan.epochs, len(data), plan.batch)
        optimizer = torch.optim.Adam([*encoder.parameters(), *self._decoder.parameters()], fused=True)
        for step, batch in enumerate(batches(data, plan.batch, steps, rng)):
            set_learning_rate(optimizer, schedule(step, steps, peak=plan.rate))
            noise = torch.randn(len(batch), self.latent, generator=rng).to(device)
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward([_negative_elbo(encoder, self._decoder, batch, noise)])
            optimizer.step()

    def _build(self, data: Tensor, rng: torch.Generator) -> tuple[nn.Sequential, nn.Sequential]:
        """Encoder and decoder; the decoder starts at the mean image."""
        d, width = data.shape[1], self._plan.width
        last = linear(width, d, rng)
        last.bias.data.copy_(torch.logit(data.mean(dim=0), eps=5e-3))
        encoder = nn.Sequential(*_hidden(d, width, rng), linear(width, 2 * self.latent, rng))
        decoder = nn.Sequential(*_hidden(self.latent, width, rng), last)
        return encoder.to(data.device), decoder.to(data.device)

    @torch.no_grad()
    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        latent = unit_normal(n, self.latent, seed=seed, device=self._device)
        return to_images(torch.sigmoid(self._decoder(latent)).cpu().numpy(), self._shape)


def _hidden(inputs: int, width: int, rng: torch.Generator) -> tuple[nn.Module, ...]:
    """Two hidden layers."""
    return linear(inputs, width, rng), nn.SiLU(), linear(width, width, rng), nn.SiLU()


def _negative_elbo(encoder: nn.Module, decoder: nn.Module, batch: Tensor, noise: Tensor) -> Tensor:
    """Bound on the negative log likelihood in nats, averaged over the batch."""
    mean, log_variance = encoder(batch).chunk(2, dim=1)
    log_variance = log_variance.clamp(-10.0, 10.0)
    logits = decoder(mean + noise * torch.exp(0.5 * log_variance))
    reconstruction = functional.binary_cross_entropy_with_logits(logits, batch, reduction="sum")
    divergence = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1.0).sum()
    bound: Tensor = (reconstruction + divergence) / len(batch)
    return bound
