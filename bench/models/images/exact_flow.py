"""Flow matching to the finite training set, with the velocity in closed form instead of a network.

With x_t = (1 - t) x_0 + t x_i, x_0 standard normal and i uniform over the training images, the best
possible velocity is (sum_i w_i x_i - x) / (1 - t) with w = softmax_i(-|x - t x_i|^2 / (2 (1 - t)^2)).
It is what a flow model without capacity limit would learn, so its samples are training images.
"""

from __future__ import annotations

import numpy as np
import torch

from bench.adapters.images import ImageGenerator
from bench.models.images._arrays import Images, Labels, to_images
from bench.models.images._ode import unit_normal
from bench.spec import Context

_MAX_IMAGES = {"tiny": 200, "small": 3_000, "full": None}
_BLOCK_NUMBERS = 2**23  # softmax weights held at once: 32 MiB


class ExactFlow(ImageGenerator):
    """Integrates the closed-form velocity with `nfe` equal Euler steps. No training.

    At size `small` the training set is a seeded subset of at most 3,000 images. One step ends at the
    mean image whatever the seed; many steps end at training images. `sample(nfe=...)` overrides the
    constructor's; `labels` is ignored.
    """

    def __init__(self, *, nfe: int = 64) -> None:
        self.nfe = nfe
        self._max_images = _MAX_IMAGES["small"]

    def setup(self, ctx: Context) -> None:
        self._max_images = _MAX_IMAGES[ctx.size]

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        self._shape = images.shape[1:]
        kept = np.sort(np.random.default_rng(seed).permutation(len(images))[: self._max_images])
        flat = torch.from_numpy(images[kept].reshape(len(kept), -1)).to(device, torch.float32)
        self._images = flat / 127.5 - 1.0
        self._mean = self._images.mean(dim=0, dtype=torch.float64).to(torch.float32)
        self._half_norms = 0.5 * (self._images * self._images).sum(dim=1)

    def velocity(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        """Velocity at `x`, float32 (b, C, H, W) in [-1, 1], and times `t` (b,) in [0, 1)."""
        flat, time = x.reshape(len(x), -1), t.reshape(-1, 1)
        rows = max(1, _BLOCK_NUMBERS // len(self._images))
        blocks = zip(torch.split(flat, rows), torch.split(time, rows), strict=True)
        ends = [self._end_points(x_block, t_block)[0] for x_block, t_block in blocks]
        return ((torch.cat(ends) - flat) / (1.0 - time)).reshape(x.shape)

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        steps = self.nfe if nfe is None else nfe
        if steps < 1:
            raise ValueError(f"nfe must be at least 1, got {steps}")
        noise = unit_normal(n, len(self._mean), seed=seed, device=str(self._images.device))
        rows = max(1, _BLOCK_NUMBERS // len(self._images))
        ends = torch.cat([self._integrate(block, steps) for block in torch.split(noise, rows)])
        return to_images((ends.cpu().numpy() + 1.0) / 2.0, self._shape)

    def _integrate(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        """Carry `x` (b, d) from t = 0 to t = 1.

        Once a single image has all the weight, the rest of the path is the straight line to it: along
        that line its lead over every other image only grows. Such rows are finished at once.
        """
        result = self._mean.repeat(len(x), 1)  # at t = 0 all paths aim at the mean image
        moving = torch.arange(len(x), device=x.device)
        x = x + (self._mean - x) / steps
        for step in range(1, steps):
            time = x.new_full((len(x), 1), step / steps)
            ends, settled = self._end_points(x, time)
            if step == steps - 1:
                settled[:] = True
            result[moving[settled]] = ends[settled]
            x, ends, moving = x[~settled], ends[~settled], moving[~settled]
            if not len(x):
                break
            x = x + (ends - x) / (steps - step)
        return result

    def _end_points(self, x: torch.Tensor, t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The expected image (b, d) at the end of each path, and whether one image has all the weight."""
        logits = (t * (x @ self._images.T) - t * t * self._half_norms) / (1.0 - t) ** 2
        weights = torch.softmax(logits, dim=1)
        return weights @ self._images, weights.amax(dim=1) == 1.0
