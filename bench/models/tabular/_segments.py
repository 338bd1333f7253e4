"""Categories side by side: operations on one-hot blocks of all columns at once.

Sums over blocks are products with a matrix of zeros and ones, which is many times faster than scattering.
"""

from __future__ import annotations

import torch
from torch import Tensor

_LARGEST_LOGIT = 30.0  # logits are bounded smoothly: a probability is never exactly 0


class Segments:
    """Blocks of widths `levels` side by side in (b, sum of levels); `count` blocks."""

    def __init__(self, levels: list[int], device: str) -> None:
        self.levels = levels
        self.width = sum(levels)
        self.count = len(levels)
        sizes = torch.tensor(levels, dtype=torch.int64)
        block = torch.repeat_interleave(torch.arange(self.count), sizes)
        self._member = torch.zeros(self.width, self.count)
        self._member[torch.arange(self.width), block] = 1.0
        self._member = self._member.to(device)
        self._start = (torch.cumsum(sizes, 0) - sizes).to(device)
        self._last = (sizes - 1).to(device)
        self.uniform = (1.0 / sizes.to(torch.float32))[block].to(device)

    def one_hot(self, codes: Tensor) -> Tensor:
        """float32 (b, width) of codes (b, c)."""
        result = torch.zeros(len(codes), self.width, device=codes.device)
        return result.scatter_(1, codes + self._start, 1.0)

    def total(self, values: Tensor) -> Tensor:
        """Sums (b, c) over the blocks of (b, width)."""
        return values @ self._member.to(values.dtype)

    def spread(self, values: Tensor) -> Tensor:
        """(b, c) repeated over the blocks, (b, width)."""
        return values @ self._member.to(values.dtype).T

    def log_softmax(self, logits: Tensor) -> Tensor:
        """Logarithms of softmax within each block."""
        bounded = _LARGEST_LOGIT * torch.tanh(logits / _LARGEST_LOGIT)
        return bounded - self.spread(self.total(bounded.exp()).log())

    def cross_entropy(self, logits: Tensor, codes: Tensor) -> Tensor:
        """Negative log probability (b, c) of `codes`."""
        return -self.log_softmax(logits).gather(1, codes + self._start)

    def draw(self, weights: Tensor, rng: torch.Generator) -> Tensor:
        """Codes (b, c): from each block one level, with probability proportional to `weights` (b, width)."""
        exact = weights.double()
        totals = self.total(exact)
        uniform = torch.rand(len(weights), self.count, generator=rng, dtype=torch.float64)
        target = uniform.to(weights.device) * totals
        before = torch.cumsum(totals, 1) - totals
        passed = torch.cumsum(exact, 1) <= self.spread(target + before)
        return torch.minimum(self.total(passed.double()).long(), self._last)

    def gumbel_softmax(self, logits: Tensor, uniform: Tensor, temperature: float) -> Tensor:
        """Soft one-hot blocks (b, width) that follow the logits, differentiable."""
        noise = -torch.log(-torch.log(uniform.clamp(1e-9, 1.0 - 1e-6)))
        hot = ((self.log_softmax(logits) + noise) / temperature).clamp(min=-60.0)
        weights = (hot - hot.detach().amax(dim=1, keepdim=True)).double().exp().clamp(min=1e-200)
        return (weights / self.spread(self.total(weights))).to(logits.dtype)
