"""Denoising diffusion (Ho et al. 2020) with a small network on principal components."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._network import ResidualPerceptron
from bench.models.images._pca import Components, principal_components
from bench.models.images._training import step_count, train
from bench.spec import Context

_TIMES = 1_000  # of the forward process
_FIRST_NOISE, _LAST_NOISE = 1e-4, 0.02  # variance added at the first and the last time
_VARIANCE_FLOOR = 1e-6  # of a component, in images on the scale [-1, 1]


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    blocks: int = 1
    epochs: int = 150
    batch: int = 256
    rate: float = 4e-3
    average: float = 0.99  # of the running mean of the weights


_PLANS = {
    "tiny": _Plan(steps=60, width=64, batch=64),
    "small": _Plan(steps=360, width=384),
    "full": _Plan(steps=20_000, width=1024, blocks=3, rate=1e-3, average=0.999),
}


class DenoisingDiffusion(ImageGenerator):
    """Linear noise schedule of 1,000 times, noise prediction with the unweighted ("simple") loss.

    Works on the `dims` leading principal components of images on the scale [-1, 1]; the others stay at their
    mean, so samples are smoother than data. The predicted noise is that of the Gaussian with the data's mean
    and variances, in closed form, plus a network. Sampling is ancestral with `nfe` of the 1,000 times, evenly
    spaced (Nichol & Dhariwal 2021); `sample(nfe=...)` overrides the constructor's. `labels` is ignored.
    """

    def __init__(self, *, dims: int = 64, nfe: int = 100) -> None:
        self.dims = dims
        self.nfe = nfe
        self._plan = _PLANS["small"]

    def setup(self, ctx: Context) -> None:
        self._plan = _PLANS[ctx.size]

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        self._device = device
        values = to_unit(images)
        self._parts: Components = principal_components(values)
        q = min(self.dims, len(self._parts.mean))
        coordinates = torch.from_numpy(2.0 * self._parts.project(values, q)).to(device, torch.float32)
        variances = torch.from_numpy(4.0 * self._parts.variances[:q]).to(device, torch.float32)
        self._deviations = variances.clamp(min=_VARIANCE_FLOOR).sqrt()
        self._signal = torch.cumprod(1.0 - torch.linspace(_FIRST_NOISE, _LAST_NOISE, _TIMES), 0).to(device)
        rng = torch.Generator().manual_seed(seed)
        plan = self._plan
        self._network = ResidualPerceptron(q, plan.width, plan.blocks, rng).to(device)
        train(
            self._network,
            coordinates,
            lambda batch: self._loss(batch, rng),
            rng,
            steps=step_count(plan.steps, plan.epochs, len(coordinates), plan.batch),
            batch=plan.batch,
            rate=plan.rate,
            average=plan.average,
        )

    def _loss(self, clean: Tensor, rng: torch.Generator) -> Tensor:
        """Mean squared error of the predicted noise at one random time for each row of `clean` (b, q)."""
        times = torch.randint(_TIMES, (len(clean), 1), generator=rng).to(clean.device)
        noise = torch.randn(clean.shape, generator=rng).to(clean.device)
        signal = self._signal[times]
        x = signal.sqrt() * clean + (1.0 - signal).sqrt() * noise
        return ((self._clean(x, times) - clean) ** 2 * signal / (1.0 - signal)).mean()

    def _clean(self, x: Tensor, times: Tensor) -> Tensor:
        """Expected clean coordinates (b, q) behind `x` (b, q) at `times` (b, 1).

        Its error times sqrt(signal / (1 - signal)) is that of the predicted noise.
        """
        signal, variances = self._signal[times], self._deviations**2
        total = signal * variances + 1.0 - signal  # of x, if the data were Gaussian
        gaussian = signal.sqrt() * variances / total * x
        unit = ((1.0 - signal) / total).sqrt() * self._deviations
        correction: Tensor = self._network(x / total.sqrt(), times / _TIMES)
        return gaussian + unit * correction

    @torch.no_grad()
    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        steps = self.nfe if nfe is None else nfe
        if steps < 1:
            raise ValueError(f"nfe must be at least 1, got {steps}")
        rng = torch.Generator().manual_seed(seed)
        x = torch.randn(n, len(self._deviations), generator=rng).to(self._device)
        times = torch.linspace(_TIMES - 1, 0, min(steps, _TIMES)).round().long().tolist()
        for time, earlier in zip(times, [*times[1:], None], strict=True):
            clean = self._clean(x, torch.full((n, 1), time, device=x.device))
            x = clean if earlier is None else self._step(x, clean, time, earlier, rng)
        return to_images(self._parts.restore(x.double().cpu().numpy() / 2.0), self._shape)

    def _step(self, x: Tensor, clean: Tensor, time: int, earlier: int, rng: torch.Generator) -> Tensor:
        """A draw of x at the time `earlier`, given `x` (b, q) at `time` and the estimate `clean`."""
        signal, before = self._signal[time], self._signal[earlier]
        kept = signal / before
        mean = before.sqrt() * (1.0 - kept) * clean + kept.sqrt() * (1.0 - before) * x
        variance = (1.0 - kept) * (1.0 - before) / (1.0 - signal)
        noise = torch.randn(x.shape, generator=rng).to(x.device)
        return mean / (1.0 - signal) + variance.sqrt() * noise
