"""A penalty that follows the sparsity: its weight moves until the wanted number of latents is active, then rests."""

from __future__ import annotations

import math

_GAIN, _REST = 0.02, 0.7  # step of the logarithm per batch; share of the training after which it rests


class Penalty:
    """The weight of a sparsity penalty, steered by the mean number of active latents.

    Published trainings search the weight with several runs; steering finds it in one. It starts at 0 over the first
    twentieth of the training.
    """

    def __init__(self, target_l0: float, start: float) -> None:
        self._target = target_l0
        self._log = math.log(start)

    def at(self, done: float) -> float:
        """The weight when the share `done` of the training is over."""
        return math.exp(self._log) * min(1.0, done / 0.05)

    def see(self, l0: float, done: float) -> None:
        """Move by what a batch shows."""
        if 0.05 < done < _REST:
            gap = (l0 - self._target) / self._target
            self._log += _GAIN * max(-1.0, min(1.0, gap))
