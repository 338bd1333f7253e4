"""Models that learn nothing: pixels, contrast, Gabor filters, a random network."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from bench.adapters.alignment import VisionModel
from bench.models.alignment._network import EnergyCnn
from bench.spec import Context


class Pixels(VisionModel):
    """The gray values themselves."""

    channels, input_hw = 1, (32, 32)

    def features(self, x: Tensor) -> Tensor:
        """(n, 1024)."""
        return x.flatten(1)


class RmsContrast(VisionModel):
    """One number, the standard deviation of the gray values."""

    channels, input_hw = 1, (64, 64)

    def features(self, x: Tensor) -> Tensor:
        """(n, 1)."""
        return (x.flatten(1).var(dim=1, unbiased=False) + 1e-12).sqrt()[:, None]


class GaborV1(VisionModel):
    """Energy of Gabor filters of 4 frequencies and 8 orientations, averaged over 4 x 4 places.

    A model of complex cells of the primary visual cortex. Source: E. H. Adelson and J. R. Bergen (1985), Spatiotemporal
    energy models for the perception of motion.
    """

    channels, input_hw = 1, (32, 32)
    _frequencies, _orientations, _size = (0.07, 0.12, 0.2, 0.33), 8, 15

    def setup(self, ctx: Context) -> None:
        """Make the filters: even and odd ones, (64, 1, 15, 15)."""
        self._filters = torch.stack(
            [f for k in self._frequencies for i in range(self._orientations) for f in self._pair(k, i)]
        )[:, None].to(ctx.device)

    def _pair(self, frequency: float, number: int) -> tuple[Tensor, Tensor]:
        angle, half = math.pi * number / self._orientations, self._size // 2
        at = torch.arange(-half, half + 1, dtype=torch.float32)
        y, x = torch.meshgrid(at, at, indexing="ij")
        along = 2 * math.pi * frequency * (x * math.cos(angle) + y * math.sin(angle))
        window = torch.exp(-(x**2 + y**2) / (2 * (0.4 / frequency) ** 2))
        even, odd = window * torch.cos(along), window * torch.sin(along)
        even = even - window * even.sum() / window.sum()  # blind to brightness
        return even / even.norm(), odd / odd.norm()

    def features(self, x: Tensor) -> Tensor:
        """(n, 512)."""
        padded = functional.pad(x, (7, 7, 7, 7), mode="reflect")
        even, odd = functional.conv2d(padded, self._filters).reshape(len(x), -1, 2, *x.shape[2:]).unbind(2)
        energy = (even**2 + odd**2 + 1e-12).sqrt()
        return functional.adaptive_avg_pool2d(energy, 4).flatten(1)


class RandomCnn(VisionModel):
    """The small network with the weights it begins with."""

    channels, input_hw = 1, (32, 32)

    def setup(self, ctx: Context) -> None:
        """Draw the weights; always the same."""
        with torch.random.fork_rng():
            torch.manual_seed(20260101)
            self._network = EnergyCnn().eval().requires_grad_(False).to(ctx.device)

    def features(self, x: Tensor) -> Tensor:
        """(n, 128)."""
        found: Tensor = self._network.features(2 * x - 1)
        return found
