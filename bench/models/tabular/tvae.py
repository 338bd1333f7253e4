"""TVAE: a variational autoencoder on mode-specific normalised numbers and one-hot categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from bench.adapters.tabular import Budget
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._modes import ModeTable
from bench.models.tabular._nets import perceptron, seeded
from bench.models.tabular._segments import Segments
from bench.models.tabular._table import Table
from bench.models.tabular._training import TrainedGenerator, Trainer, draw_batch, step_count


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    latent: int
    epochs: int = 200
    batch: int = 256
    rate: float = 2e-3


_PLANS = {
    "tiny": _Plan(steps=60, width=64, latent=16),
    "small": _Plan(steps=1_000, width=128, latent=32),
    "full": _Plan(steps=15_000, width=256, latent=64, batch=500, rate=1e-3, epochs=1_000),
}


class TVAE(TrainedGenerator[_Plan]):
    """TVAE (Xu et al. 2019).

    A number is a mode of its column and a place in it, normal around the decoder's mean with one standard
    deviation a column; modes and categories are drawn from the decoder's probabilities. The
    reconstruction counts `reconstruction` times, as in the paper's code (2). Deviations: SiLU, a cosine
    schedule of the learning rate, and a budget of steps instead of epochs.
    """

    def __init__(self, *, reconstruction: float = 2.0) -> None:
        super().__init__(_PLANS)
        self.reconstruction = reconstruction

    def _networks(self) -> Sequence[nn.Module]:
        return self._encoder, self._decoder

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        numpy_rng = np.random.default_rng(seed)
        self._modes = ModeTable(MixedTable(Table(train, schema), numpy_rng), numpy_rng)
        self._device, plan = device, self._plan
        places, codes, segments = self._modes.tensors(device)
        self._places, self._segments = places.shape[1], segments
        width = self._places + segments.width
        with seeded(seed, device) as rng:
            self._encoder = perceptron(width, plan.width, 2 * plan.latent).to(device)
            self._decoder = _Decoder(plan.latent, plan.width, self._places, segments).to(device)
            trainer = Trainer([self._encoder, self._decoder], rate=plan.rate, seconds=budget.seconds)

            def loss(step: int) -> Tensor:
                rows = draw_batch(len(places), plan.batch, rng).to(device)
                return self._loss(places[rows], codes[rows], rng)

            if width:
                steps = step_count(plan.steps, plan.epochs, len(places), plan.batch, budget.max_steps)
                trainer.run(steps, loss)
        self._diverged = trainer.diverged

    def _loss(self, places: Tensor, codes: Tensor, rng: torch.Generator) -> Tensor:
        """Negative evidence bound with a weight on the reconstruction."""
        inputs = torch.cat([places, self._segments.one_hot(codes)], dim=1)
        mean, log_variance = self._encoder(inputs).chunk(2, dim=1)
        log_variance = log_variance.clamp(-12.0, 8.0)
        noise = torch.randn(mean.shape, generator=rng).to(mean.device)
        where, logits, log_deviation = self._decoder(mean + noise * torch.exp(0.5 * log_variance))
        error = 0.5 * ((places - where) * torch.exp(-log_deviation)) ** 2 + log_deviation
        reconstruction = error.sum() + self._segments.cross_entropy(logits, codes).sum()
        divergence = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1.0).sum()
        loss: Tensor = (self.reconstruction * reconstruction + divergence) / len(places)
        return loss

    @torch.no_grad()
    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = torch.Generator().manual_seed(seed % 2**63)
        latent = torch.randn(n, self._plan.latent, generator=rng).to(self._device)
        where, logits, log_deviation = self._decoder(latent)
        noise = torch.randn(where.shape, generator=rng).to(self._device)
        places = where + noise * log_deviation.exp()
        codes = self._segments.draw(self._segments.log_softmax(logits).exp(), rng)
        return self._modes.restore(places, codes, np.random.default_rng(seed))


class _Decoder(nn.Module):
    """Means of places in (-1, 1), logits of levels, and a log standard deviation for each place."""

    def __init__(self, latent: int, width: int, places: int, segments: Segments) -> None:
        super().__init__()
        self._places = places
        self._net = perceptron(latent, width, places + segments.width)
        self._log_deviation = nn.Parameter(torch.full((places,), -1.0))

    def forward(self, latent: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        output = self._net(latent)
        deviation = self._log_deviation.clamp(-4.6, 0.0)
        return torch.tanh(output[:, : self._places]), output[:, self._places :], deviation
