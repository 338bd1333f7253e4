"""CTGAN: a conditional Wasserstein GAN on mode-specific normalised numbers and one-hot categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.adapters.tabular import Budget
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._conditions import Conditions
from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._modes import ModeTable
from bench.models.tabular._nets import seeded
from bench.models.tabular._table import Table
from bench.models.tabular._training import TrainedGenerator, Trainer, step_count

_TEMPERATURE = 0.2
_PENALTY = 10.0


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    noise: int
    batch: int  # a multiple of the pack size
    epochs: int = 1_000
    pack: int = 2
    rate: float = 2e-3


_PLANS = {
    "tiny": _Plan(steps=20, width=64, noise=32, batch=100),
    "small": _Plan(steps=350, width=64, noise=64, batch=200),
    "full": _Plan(steps=4_000, width=64, noise=64, batch=200),
}


class CTGAN(TrainedGenerator[_Plan]):
    """CTGAN (Xu et al. 2019).

    Mode-specific normalisation, a conditional vector with training by sampling (log frequencies), a
    generator with skip connections and Gumbel softmax, packs of rows for the critic (Lin et al. 2018), and a
    gradient penalty. Deviations: packs of two rows, not ten, so that a small batch holds enough of them; layer
    instead of batch normalisation, so that a sample does not depend on its batch; no momentum, as in the
    paper of the gradient penalty (Gulrajani et al. 2017), and an exponential mean of the weights, without
    which few steps end anywhere on an orbit; a budget of steps instead of epochs. Samples are made under
    conditions drawn by the frequencies of the training table. On 4,000 rows of Adult 350 steps keep 0.32 of
    the structure, 1,500 steps 0.63.
    """

    def __init__(self) -> None:
        super().__init__(_PLANS)

    def _networks(self) -> Sequence[nn.Module]:
        return (self._generator,)

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        numpy_rng = np.random.default_rng(seed)
        mixed = MixedTable(Table(train, schema), numpy_rng)
        self._modes = ModeTable(mixed, numpy_rng)
        self._device, plan = device, self._plan
        places, codes, self._segments = self._modes.tensors(device)
        self._places = places.shape[1]
        self._conditions = Conditions(codes, self._segments, first=self._places)
        width = self._places + self._segments.width
        real = torch.cat([places, self._segments.one_hot(codes)], dim=1)
        with seeded(seed, device) as rng:
            inputs = plan.noise + self._conditions.width
            self._generator = _Generator(inputs, plan.width, width).to(device)
            critic = _critic((width + self._conditions.width) * plan.pack, 2 * plan.width).to(device)
            trainer = Trainer(
                [critic],
                [self._generator],
                rate=plan.rate,
                seconds=budget.seconds,
                betas=(0.0, 0.9),
                average=0.98,
                cosine=False,
            )
            steps = (
                step_count(plan.steps, plan.epochs, len(real), plan.batch, budget.max_steps) if width else 0
            )
            trainer.run(
                steps,
                lambda _: self._critic_loss(critic, real, rng),
                lambda _: self._generator_loss(critic, rng),
            )
        self._diverged = trainer.diverged

    def _critic_loss(self, critic: nn.Module, real: Tensor, rng: torch.Generator) -> Tensor:
        """Wasserstein distance, negative, and gradient penalty."""
        wanted = self._conditions.draw(self._plan.batch, rng)
        with torch.no_grad():
            fake = self._make(wanted.vector, rng)
        true = torch.cat([real[wanted.matching_rows(rng)], wanted.vector], dim=1)
        fake = torch.cat([fake, wanted.vector], dim=1)
        pack = self._plan.pack
        share = torch.rand(len(true) // pack, 1, generator=rng).to(self._device).repeat_interleave(pack, 0)
        between = (share * true + (1.0 - share) * fake).requires_grad_()
        (slope,) = torch.autograd.grad(self._packed(critic, between).sum(), between, create_graph=True)
        norm = slope.reshape(len(slope) // pack, -1).norm(dim=1)
        penalty = _PENALTY * ((norm - 1.0) ** 2).mean()
        loss: Tensor = self._packed(critic, fake).mean() - self._packed(critic, true).mean() + penalty
        return loss

    def _generator_loss(self, critic: nn.Module, rng: torch.Generator) -> Tensor:
        """Critic's score, negative, and cross-entropy of the level that was asked for."""
        wanted = self._conditions.draw(self._plan.batch, rng)
        logits = self._raw(wanted.vector, rng)
        made = torch.cat([self._activated(logits, rng), wanted.vector], dim=1)
        loss: Tensor = -self._packed(critic, made).mean()
        if wanted.column is not None:
            entropy = self._segments.cross_entropy(logits[:, self._places :], wanted.full_codes())
            loss = loss + entropy.gather(1, wanted.column[:, None]).mean()
        return loss

    def _packed(self, critic: nn.Module, rows: Tensor) -> Tensor:
        result: Tensor = critic(rows.reshape(len(rows) // self._plan.pack, -1))
        return result

    def _make(self, vector: Tensor, rng: torch.Generator) -> Tensor:
        return self._activated(self._raw(vector, rng), rng)

    def _raw(self, vector: Tensor, rng: torch.Generator) -> Tensor:
        noise = torch.randn(len(vector), self._plan.noise, generator=rng).to(self._device)
        result: Tensor = self._generator(torch.cat([noise, vector], dim=1))
        return result

    def _activated(self, logits: Tensor, rng: torch.Generator) -> Tensor:
        uniform = torch.rand(len(logits), self._segments.width, generator=rng).to(self._device)
        levels = self._segments.gumbel_softmax(logits[:, self._places :], uniform, _TEMPERATURE)
        return torch.cat([torch.tanh(logits[:, : self._places]), levels], dim=1)

    @torch.no_grad()
    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = torch.Generator().manual_seed(seed % 2**63)
        logits = self._raw(self._conditions.draw(n, rng, by_frequency=True).vector, rng)
        chances = self._segments.log_softmax(logits[:, self._places :]).exp()
        codes = self._segments.draw(chances, rng)
        places = torch.tanh(logits[:, : self._places])
        return self._modes.restore(places, codes, np.random.default_rng(seed))


class _Generator(nn.Module):
    """Two residual layers that keep their inputs, then a linear one."""

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        self._layers = nn.ModuleList(
            nn.Sequential(nn.Linear(inputs + i * width, width), nn.LayerNorm(width)) for i in range(2)
        )
        self._last = nn.Linear(inputs + 2 * width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self._layers:
            x = torch.cat([functional.relu(layer(x)), x], dim=1)
        result: Tensor = self._last(x)
        return result


def _critic(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, width),
        nn.LeakyReLU(0.2),
        nn.Linear(width, width),
        nn.LeakyReLU(0.2),
        nn.Linear(width, 1),
    )
