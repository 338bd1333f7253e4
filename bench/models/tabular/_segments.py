"""Categories side by side: operations on one-hot blocks of all columns at once."""

from __future__ import annotations

import torch
from torch import Tensor


class Segments:
    """Blocks of widths `levels` side by side in (b, sum of levels); `c` blocks."""

    def __init__(self, levels: list[int], device: str) -> None:
        self.levels = levels
        self.width = sum(levels)
        self.count = len(levels)
        sizes = torch.tensor(levels, dtype=torch.int64)
        self._block = torch.repeat_interleave(torch.arange(self.count), sizes).to(device)
        self._start = (torch.cumsum(sizes, 0) - sizes).to(device)
        self.sizes = sizes.to(device, torch.float32)
        self.uniform = (1.0 / self.sizes)[self._block] if levels else torch.zeros(0, device=device)

    def one_hot(self, codes: Tensor) -> Tensor:
        """float32 (b, width) of codes (b, c)."""
        result = torch.zeros(len(codes), self.width, device=codes.device)
        return result.scatter_(1, codes + self._start, 1.0)

    def spread(self, values: Tensor) -> Tensor:
        """(b, c) repeated over the blocks, (b, width)."""
        return values[:, self._block]

    def total(self, values: Tensor) -> Tensor:
        """Sums (b, c) over the blocks of (b, width)."""
        return torch.zeros(len(values), self.count, device=values.device).index_add_(1, self._block, values)

    def log_softmax(self, logits: Tensor) -> Tensor:
        """Logarithms of softmax within each block."""
        if not self.count:
            return logits
        shifted = logits - self.spread(self._largest(logits.detach()))
        return shifted - self.spread(self.total(shifted.exp()).log())

    def cross_entropy(self, logits: Tensor, codes: Tensor) -> Tensor:
        """Negative log probability (b, c) of `codes`."""
        return -self.log_softmax(logits).gather(1, codes + self._start)

    def draw(self, log_probabilities: Tensor, rng: torch.Generator) -> Tensor:
        """Codes (b, c), one level drawn from each block; the logarithms need not be normalised."""
        if not self.count:
            return torch.zeros(len(log_probabilities), 0, dtype=torch.int64, device=log_probabilities.device)
        uniform = torch.rand(log_probabilities.shape, generator=rng).to(log_probabilities.device)
        noisy = log_probabilities - torch.log(-torch.log(uniform.clamp(1e-20, 1.0 - 1e-7)))
        chosen = noisy == self.spread(self._largest(noisy))
        place = torch.arange(self.width, device=noisy.device) - self._start[self._block]
        codes = torch.zeros(len(noisy), self.count, dtype=torch.int64, device=noisy.device)
        codes.scatter_reduce_(1, self._block.expand_as(noisy), torch.where(chosen, place, 0), "amax")
        return codes

    def gumbel_softmax(self, logits: Tensor, uniform: Tensor, temperature: float) -> Tensor:
        """Soft one-hot blocks (b, width) that follow the logits, differentiable."""
        noise = -torch.log(-torch.log(uniform.clamp(1e-9, 1.0 - 1e-6)))
        return self.log_softmax((self.log_softmax(logits) + noise) / temperature).exp()

    def _largest(self, values: Tensor) -> Tensor:
        start = torch.full((len(values), self.count), -torch.inf, device=values.device)
        return start.scatter_reduce_(1, self._block.expand_as(values), values, "amax")
