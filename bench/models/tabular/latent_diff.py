"""Latent diffusion: an autoencoder of column tokens, diffusion on its latents, a decoder used to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from bench.adapters.tabular import Budget
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._nets import TimeNet, perceptron, seeded
from bench.models.tabular._segments import Segments
from bench.models.tabular._table import Table
from bench.models.tabular._training import TrainedGenerator, Trainer, draw_batch, step_count

_TOKEN = 4  # numbers a column becomes
_LATENT_PER_COLUMN = 2
_DIVERGENCE = 3e-3  # weight of the prior in the autoencoder
# Noise levels of Karras et al. (2022) for latents of variance 1.
_LOG_MEAN, _LOG_DEVIATION, _LOWEST, _HIGHEST, _RHO = -1.2, 1.2, 0.02, 10.0, 7.0
_ROWS = 4_096


@dataclass(frozen=True)
class _Plan:
    encoder_steps: int
    diffusion_steps: int
    decoder_steps: int
    width: int
    levels: int  # of noise, when sampling
    epochs: int = 200  # of each of the three
    batch: int = 256
    rate: float = 2e-3


_PLANS = {
    "tiny": _Plan(40, 40, 10, width=64, levels=5),
    "small": _Plan(700, 800, 150, width=128, levels=15),
    "full": _Plan(8_000, 15_000, 2_000, width=384, levels=40, batch=512, rate=1e-3, epochs=1_000),
}


class LatentDiffusion(TrainedGenerator[_Plan]):
    """The pattern of TabSyn (Zhang et al. 2024) and TabFORGE (Jiang et al. 2026).

    Every column becomes a token; a variational autoencoder with a weak prior turns the tokens into latents;
    an EDM denoiser (Karras et al. 2022) learns their distribution; then the decoder is trained further on
    denoised latents, which are what it gets when sampling. Deviations: perceptrons instead of
    transformers on the tokens, trained on this table alone.
    """

    def __init__(self) -> None:
        super().__init__(_PLANS)

    def _networks(self) -> Sequence[nn.Module]:
        return (self._encoder, self._decoder, self._denoiser)

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._mixed = mixed = MixedTable(Table(train, schema), np.random.default_rng(seed))
        self._device, plan = device, self._plan
        self._segments = Segments(mixed.levels, device)
        self._numbers = torch.from_numpy(mixed.numbers).to(device, torch.float32)
        self._codes = torch.from_numpy(mixed.codes).to(device)
        self._p = self._numbers.shape[1]
        columns = self._p + self._segments.count
        self._latent = max(1, _LATENT_PER_COLUMN * columns)
        with seeded(seed, device) as rng:
            self._encoder = _Encoder(self._p, self._segments.width, columns, plan.width, self._latent).to(
                device
            )
            self._decoder = perceptron(self._latent, plan.width, self._p + self._segments.width).to(device)
            self._denoiser = TimeNet(self._latent, self._latent, plan.width, 2).to(device)
            self._shift = torch.zeros(self._latent, device=device)
            self._scale = torch.ones(self._latent, device=device)
            if columns:
                self._train(rng, budget)

    def _train(self, rng: torch.Generator, budget: Budget) -> None:
        plan, share = self._plan, budget.seconds / 3

        def steps(limit: int) -> int:
            return step_count(limit, plan.epochs, len(self._codes), plan.batch, budget.max_steps)

        coder = Trainer([self._encoder, self._decoder], rate=plan.rate, seconds=share)
        coder.run(steps(plan.encoder_steps), lambda _: self._coding_loss(self._batch(rng), rng))
        latents = self._encode_all()
        self._shift, self._scale = latents.mean(dim=0), latents.std(dim=0, correction=0).clamp(min=1e-3)
        latents = (latents - self._shift) / self._scale
        denoiser = Trainer([self._denoiser], rate=plan.rate, seconds=share, average=0.995)
        denoiser.run(
            steps(plan.diffusion_steps), lambda _: self._denoising_loss(latents[self._batch(rng)], rng)
        )
        decoder = Trainer([self._decoder], rate=plan.rate / 4, seconds=share)
        decoder.run(steps(plan.decoder_steps), lambda _: self._repair_loss(latents, rng))
        self._diverged = coder.diverged or denoiser.diverged or decoder.diverged

    def _batch(self, rng: torch.Generator) -> Tensor:
        return draw_batch(len(self._codes), self._plan.batch, rng).to(self._device)

    @torch.no_grad()
    def _encode_all(self) -> Tensor:
        parts = torch.split(torch.arange(len(self._codes), device=self._device), _ROWS)
        return torch.cat([self._encode(rows)[0] for rows in parts])

    def _encode(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log variance of the latents of training rows."""
        output = self._encoder(self._numbers[rows], self._segments.one_hot(self._codes[rows]))
        mean, log_variance = output.chunk(2, dim=1)
        return mean, log_variance.clamp(-10.0, 4.0)

    def _error(self, latents: Tensor, rows: Tensor) -> Tensor:
        """Reconstruction error a column of training rows from latents."""
        output = self._decoder(latents)
        squared = ((output[:, : self._p] - self._numbers[rows]) ** 2).sum()
        entropy = self._segments.cross_entropy(output[:, self._p :], self._codes[rows]).sum()
        loss: Tensor = (squared + entropy) / (len(rows) * (self._p + self._segments.count))
        return loss

    def _coding_loss(self, rows: Tensor, rng: torch.Generator) -> Tensor:
        mean, log_variance = self._encode(rows)
        noise = torch.randn(mean.shape, generator=rng).to(self._device)
        divergence = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1.0).mean()
        return self._error(mean + noise * torch.exp(0.5 * log_variance), rows) + _DIVERGENCE * divergence

    def _denoise(self, noisy: Tensor, sigma: Tensor) -> Tensor:
        """Expected clean latents (b, d) at noise levels `sigma` (b,), preconditioned as in EDM."""
        square = sigma[:, None] ** 2
        total = (1.0 + square).sqrt()
        output = self._denoiser(noisy / total, 0.25 * sigma.log())
        result: Tensor = noisy / (1.0 + square) + sigma[:, None] / total * output
        return result

    def _denoising_loss(self, latents: Tensor, rng: torch.Generator) -> Tensor:
        normal = torch.randn(len(latents), generator=rng).to(self._device)
        sigma = torch.exp(_LOG_MEAN + _LOG_DEVIATION * normal)
        noise = torch.randn(latents.shape, generator=rng).to(self._device)
        weight = (1.0 + sigma**2) / sigma**2
        error = (self._denoise(latents + sigma[:, None] * noise, sigma) - latents) ** 2
        loss: Tensor = (weight[:, None] * error).mean()
        return loss

    def _repair_loss(self, latents: Tensor, rng: torch.Generator) -> Tensor:
        """Reconstruction from latents that were noised a little and denoised."""
        rows = self._batch(rng)
        clean = latents[rows]
        with torch.no_grad():
            sigma = torch.full((len(rows),), 0.2, device=self._device)
            noise = torch.randn(clean.shape, generator=rng).to(self._device)
            denoised = self._denoise(clean + sigma[:, None] * noise, sigma)
        return self._error(denoised * self._scale + self._shift, rows)

    @torch.no_grad()
    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = torch.Generator().manual_seed(seed % 2**63)
        numbers, codes = np.empty((n, self._p)), np.empty((n, self._segments.count), dtype=np.int64)
        for start in range(0, n, _ROWS):
            end = min(n, start + _ROWS)
            output = self._decoder(self._draw(end - start, rng) * self._scale + self._shift)
            numbers[start:end] = output[:, : self._p].cpu().numpy()
            chances = self._segments.log_softmax(output[:, self._p :]).exp()
            codes[start:end] = self._segments.draw(chances, rng).cpu().numpy()
        return self._mixed.restore(numbers, codes, np.random.default_rng(seed))

    def _draw(self, m: int, rng: torch.Generator) -> Tensor:
        """Latents of variance about 1: Heun steps down the noise levels of Karras et al."""
        ramp = torch.linspace(0, 1, self._plan.levels, device=self._device)
        high, low = _HIGHEST ** (1 / _RHO), _LOWEST ** (1 / _RHO)
        sigmas = torch.cat([(high + ramp * (low - high)) ** _RHO, torch.zeros(1, device=self._device)])
        x = torch.randn(m, self._latent, generator=rng).to(self._device) * sigmas[0]
        for now, after in pairwise(sigmas):
            slope = (x - self._denoise(x, now.expand(m))) / now
            moved = x + (after - now) * slope
            if after > 0:
                again = (moved - self._denoise(moved, after.expand(m))) / after
                moved = x + (after - now) * 0.5 * (slope + again)
            x = moved
        return x


class _Encoder(nn.Module):
    """Tokens of the columns, mixed by a perceptron into means and log variances of latents."""

    def __init__(self, numbers: int, levels: int, columns: int, width: int, latent: int) -> None:
        super().__init__()
        self._scale = nn.Parameter(torch.randn(numbers, _TOKEN))
        self._shift = nn.Parameter(torch.randn(numbers, _TOKEN))
        self._levels = nn.Linear(levels, _TOKEN * max(0, columns - numbers)) if levels else None
        self._net = perceptron(max(1, _TOKEN * columns), width, 2 * latent)

    def forward(self, numbers: Tensor, hot: Tensor) -> Tensor:
        tokens = (numbers[:, :, None] * self._scale + self._shift).flatten(1)
        if self._levels is not None:
            tokens = torch.cat([tokens, self._levels(hot)], dim=1)
        result: Tensor = self._net(tokens)
        return result
