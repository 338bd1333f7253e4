"""TabDDPM: one denoiser for numbers in Gaussian noise and categories in multinomial noise."""

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
from bench.models.tabular._nets import TimeNet, seeded
from bench.models.tabular._segments import Segments
from bench.models.tabular._table import Table
from bench.models.tabular._training import TrainedGenerator, Trainer, draw_batch, step_count


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    times: int  # of the diffusion
    epochs: int = 200
    blocks: int = 2
    batch: int = 256
    rate: float = 2e-3


_PLANS = {
    "tiny": _Plan(steps=60, width=64, times=10),
    "small": _Plan(steps=800, width=96, times=25),
    "full": _Plan(steps=20_000, width=512, times=200, blocks=3, batch=1_024, rate=1e-3, epochs=1_000),
}
_ROWS = 4_096  # denoised at once


class TabDDPM(TrainedGenerator[_Plan]):
    """TabDDPM (Kotelnikov et al. 2023), unconditional.

    Numbers are normal scores under Gaussian diffusion, the network predicts the noise; categories are under
    multinomial diffusion (Hoogeboom et al. 2021), the network predicts the clean level. Deviations: the
    categorical loss is the cross-entropy of the clean level, not the bound, and a step back draws that level
    first, which makes few steps exact where averaging over it is not; fewer, cosine-spaced times;
    a residual network; an exponential mean of the weights.
    """

    def __init__(self) -> None:
        super().__init__(_PLANS)

    def _networks(self) -> Sequence[nn.Module]:
        return (self._net,)

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._mixed = mixed = MixedTable(Table(train, schema), np.random.default_rng(seed))
        self._device = device
        self._segments = Segments(mixed.levels, device)
        self._kept = _kept_signal(self._plan.times).to(device)
        numbers = torch.from_numpy(mixed.numbers).to(device, torch.float32)
        codes = torch.from_numpy(mixed.codes).to(device)
        width = numbers.shape[1] + self._segments.width
        with seeded(seed, device) as rng:
            self._net = TimeNet(width, width, self._plan.width, self._plan.blocks).to(device)
            trainer = Trainer([self._net], rate=self._plan.rate, seconds=budget.seconds, average=0.995)

            def loss(step: int) -> Tensor:
                rows = draw_batch(len(numbers), self._plan.batch, rng).to(device)
                return self._loss(numbers[rows], codes[rows], rng)

            if width:
                trainer.run(_steps(self._plan, len(numbers), budget), loss)
        self._diverged = trainer.diverged

    def _loss(self, numbers: Tensor, codes: Tensor, rng: torch.Generator) -> Tensor:
        """Mean over columns of squared error of the noise and cross-entropy of the clean level."""
        b, p = numbers.shape
        t = torch.randint(1, self._plan.times + 1, (b,), generator=rng).to(self._device)
        kept = self._kept[t][:, None]
        noise = torch.randn(b, p, generator=rng).to(self._device)
        noisy = kept.sqrt() * numbers + (1.0 - kept).sqrt() * noise
        clean = self._segments.one_hot(codes)
        levels = self._segments.draw(kept * clean + (1.0 - kept) * self._segments.uniform, rng)
        output = self._net(torch.cat([noisy, self._segments.one_hot(levels)], dim=1), t / self._plan.times)
        squared = ((output[:, :p] - noise) ** 2).sum(dim=1)
        entropy = self._segments.cross_entropy(output[:, p:], codes).sum(dim=1)
        loss: Tensor = (squared + entropy).mean() / max(1, p + codes.shape[1])
        return loss

    @torch.no_grad()
    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = torch.Generator().manual_seed(seed % 2**63)
        parts = [self._denoise(min(_ROWS, n - start), rng) for start in range(0, n, _ROWS)]
        numbers = np.concatenate([part[0] for part in parts] or [np.empty((0, self._mixed.numbers.shape[1]))])
        codes = np.concatenate(
            [part[1] for part in parts] or [np.empty((0, len(self._mixed.levels)), np.int64)]
        )
        return self._mixed.restore(numbers, codes, np.random.default_rng(seed))

    def _denoise(self, m: int, rng: torch.Generator) -> tuple[np.ndarray, np.ndarray]:
        """`m` rows, from pure noise back to time 0."""
        p, device, segments = self._mixed.numbers.shape[1], self._device, self._segments
        x = torch.randn(m, p, generator=rng).to(device)
        levels = segments.draw(segments.uniform.expand(m, -1), rng)
        for t in range(self._plan.times, 0, -1):
            now, before = self._kept[t], self._kept[t - 1]
            hot = segments.one_hot(levels)
            time = torch.full((m,), t / self._plan.times, device=device)
            output = self._net(torch.cat([x, hot], dim=1), time)
            x = self._previous_numbers(x, output[:, :p], now, before, rng)
            clean = segments.one_hot(segments.draw(segments.log_softmax(output[:, p:]).exp(), rng))
            step = now / before  # signal kept in this step
            likelihood = step * hot + (1.0 - step) * segments.uniform
            prior = before * clean + (1.0 - before) * segments.uniform
            levels = segments.draw(likelihood * prior, rng)
        return x.cpu().numpy().astype(np.float64), levels.cpu().numpy()

    def _previous_numbers(
        self, x: Tensor, noise: Tensor, now: Tensor, before: Tensor, rng: torch.Generator
    ) -> Tensor:
        """One step of the reverse Gaussian chain."""
        clean = ((x - (1.0 - now).sqrt() * noise) / now.sqrt()).clamp(-5.0, 5.0)
        step = now / before
        mean = (before.sqrt() * (1.0 - step) * clean + step.sqrt() * (1.0 - before) * x) / (1.0 - now)
        deviation = ((1.0 - before) / (1.0 - now) * (1.0 - step)).sqrt()
        return mean + deviation * torch.randn(x.shape, generator=rng).to(x.device)


def _steps(plan: _Plan, rows: int, budget: Budget) -> int:
    return step_count(plan.steps, plan.epochs, rows, plan.batch, budget.max_steps)


def _kept_signal(times: int) -> Tensor:
    """Share of signal variance kept at times 0..`times`: the cosine schedule of Nichol and Dhariwal (2021)."""
    t = torch.linspace(0.0, 1.0, times + 1, dtype=torch.float64)
    kept = torch.cos((t + 0.008) / 1.008 * torch.pi / 2) ** 2
    return (kept / kept[0]).clamp(1e-4, 1.0).to(torch.float32)
