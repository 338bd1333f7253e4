"""Flow matching with temporal pair consistency: one path, two times, velocities that agree."""

from __future__ import annotations

import torch
from torch import Tensor

from bench.models.images._ode import Solver
from bench.models.images.flow import FlowMatching, sampled_times


class PairedFlow(FlowMatching):
    """`FlowMatching` plus the penalty of Maduabuchi & Wang (2026) on velocities that differ along one path.

    Each path from noise to image is seen at a time t and at 1 - t. Both velocities are fitted to the path's,
    and `consistency` times their squared difference is added. Half as many paths a batch pay for the second
    time, so the network is evaluated as often as in `FlowMatching`.
    """

    def __init__(
        self, *, dims: int = 64, nfe: int = 50, solver: Solver = "euler", consistency: float = 0.2
    ) -> None:
        super().__init__(dims=dims, nfe=nfe, solver=solver)
        self.consistency = consistency

    def _loss(self, ends: Tensor, rng: torch.Generator) -> Tensor:
        ends = ends[: (len(ends) + 1) // 2]
        starts = self._starts(ends, rng)
        t = sampled_times(len(ends), rng).to(ends.device)
        errors, units = self._errors(starts.repeat(2, 1), ends.repeat(2, 1), torch.cat([t, 1.0 - t]))
        first, second = (errors * units).chunk(2)
        between = units[: len(ends)] * units[len(ends) :]
        gap = (first - second) ** 2 / between
        weights = self._weights()
        return (weights * errors**2).mean() + self.consistency * (weights * gap).mean()
