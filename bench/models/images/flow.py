"""Flow matching (Lipman et al. 2023) with a small network on principal components."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images, to_unit
from bench.models.images._network import ResidualPerceptron
from bench.models.images._ode import Solver, gaussian_velocity, integrate, path_variance, unit_normal
from bench.models.images._pca import principal_components
from bench.models.images._training import step_count, train
from bench.spec import Context

_ROWS = 4_096  # samples carried along at once
_VARIANCE_FLOOR = 1e-6  # of a component the network sees, in images on the scale [-1, 1]


@dataclass(frozen=True)
class _Plan:
    steps: int
    width: int
    blocks: int
    epochs: int = 150
    batch: int = 256
    rate: float = 3e-3
    average: float = 0.99  # of the running mean of the weights


_PLANS = {
    "tiny": _Plan(steps=60, width=64, blocks=1, batch=64),
    "small": _Plan(steps=360, width=384, blocks=1, rate=4e-3),
    "full": _Plan(steps=20_000, width=1024, blocks=3, rate=1e-3, average=0.999),
}


class FlowMatching(ImageGenerator):
    """Straight paths from N(0, I) to the images on the scale [-1, 1], independent coupling.

    The velocity is that of the Gaussian with the data's mean and variances along its principal components,
    and with the coupling's covariances, in closed form, plus a network that corrects it on the `dims` leading
    components; the variance of the others counts as zero. So with independent coupling one Euler step ends
    near the mean image, and the network learns only what is not Gaussian. Sampling takes `nfe` evaluations
    with `solver` "euler" or "midpoint"; `sample(nfe=...)` overrides the constructor's. `labels` is ignored.
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
        self._covariances = torch.zeros_like(self._mean)
        self._train(coordinates + self._mean[:q], torch.Generator().manual_seed(seed))

    def _train(self, data: Tensor, rng: torch.Generator) -> None:
        """Fit the network to `data` (N, q), then keep the running mean of its weights."""
        plan, q = self._plan, data.shape[1]
        self._network = ResidualPerceptron(q, plan.width, plan.blocks, rng).to(data.device)
        self._covariances[:q] = self._coupling(data, rng)
        train(
            self._network,
            data,
            lambda ends: self._loss(ends, rng),
            rng,
            steps=step_count(plan.steps, plan.epochs, len(data), plan.batch),
            batch=plan.batch,
            rate=plan.rate,
            average=plan.average,
        )

    def _starts(self, ends: Tensor, rng: torch.Generator) -> Tensor:
        """The noise (b, q) at which the paths to `ends` (b, q) begin: here drawn independently of them."""
        return torch.randn(ends.shape, generator=rng).to(ends.device)

    def _coupling(self, data: Tensor, rng: torch.Generator) -> Tensor:
        """Covariances (q,) of noise and image, component by component: here none."""
        return torch.zeros_like(data[0])

    def _loss(self, ends: Tensor, rng: torch.Generator) -> Tensor:
        """Squared error of the velocity at one time for each path from noise to `ends` (b, q)."""
        starts = self._starts(ends, rng)
        error, _ = self._errors(starts, ends, sampled_times(len(ends), rng).to(ends.device))
        return (self._weights() * error**2).mean()

    def _errors(self, starts: Tensor, ends: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """(v(x_t, t) - (ends - starts)) / unit and the unit, both (b, q): with it the errors are of order one."""
        mean, variance, covariance = self._moments()
        x = torch.lerp(starts, ends, t)
        spread = path_variance(t, variance, covariance).sqrt()
        unit = variance.sqrt() / spread
        missing = ends - starts - gaussian_velocity(x, t, mean, variance, covariance)
        return self._network((x - t * mean) / spread, t) - missing / unit, unit

    def _weights(self) -> Tensor:
        """Weights (q,) of components in the loss: their standard deviations.

        That is between equal weights, which spend the network on the smallest components, and equal pixels,
        which forget them.
        """
        _, variance, _ = self._moments()
        return (variance / variance.mean()).sqrt()

    def _moments(self) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, variance, covariance with the noise, each (q,), of the components that the network sees."""
        q = self._network.dims
        return self._mean[:q], self._variances[:q], self._covariances[:q]

    def _velocity(self, x: Tensor, t: Tensor) -> Tensor:
        """Velocity at coordinates `x` (b, d) along all principal directions, at times `t` (b, 1)."""
        mean, variance, covariance = self._moments()
        velocity = gaussian_velocity(x, t, self._mean, self._variances, self._covariances)
        spread = path_variance(t, variance, covariance).sqrt()
        correction = self._network((x[:, : len(mean)] - t * mean) / spread, t)
        velocity[:, : len(mean)] += correction * variance.sqrt() / spread
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


def sampled_times(n: int, rng: torch.Generator) -> Tensor:
    """Stratified logit-normal times (n, 1), most of them where noise and image are equally strong."""
    uniform = (torch.arange(n)[:, None] + torch.rand(n, 1, generator=rng)) / n
    return torch.sigmoid(0.8 * torch.special.ndtri(uniform.clamp(1e-4, 1.0 - 1e-4)) - 0.6)
