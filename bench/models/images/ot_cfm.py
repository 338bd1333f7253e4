"""Flow matching along straighter paths: noise and images of a batch are paired by optimal transport."""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from bench.models.images._training import batches
from bench.models.images.flow import FlowMatching

_BLOCK = 128  # rows paired at once; the assignment's cost grows with the cube
_BLOCKS = 16  # over which the coupling's covariances are averaged


class OptimalTransportFlow(FlowMatching):
    """OT-CFM (Tong et al. 2024): `FlowMatching` in everything but the coupling.

    Within blocks of 128 rows of a batch the noise is permuted so that the sum of squared distances between
    noise and image is least. Pairs that would cross no longer do, so paths bend less and few steps suffice.
    Network, steps, batches and loss are those of `FlowMatching`.
    """

    def _starts(self, ends: Tensor, rng: torch.Generator) -> Tensor:
        noise = super()._starts(ends, rng)
        blocks = zip(torch.split(noise, _BLOCK), torch.split(ends, _BLOCK), strict=True)
        return torch.cat([_paired(part, targets) for part, targets in blocks])

    def _coupling(self, data: Tensor, rng: torch.Generator) -> Tensor:
        ends = torch.cat(list(batches(data, _BLOCK, _BLOCKS, rng)))
        return (self._starts(ends, rng) * (ends - data.mean(dim=0))).mean(dim=0)


def _paired(noise: Tensor, targets: Tensor) -> Tensor:
    """The rows of `noise` (b, q), reordered to lie as near as possible to those of `targets` (b, q)."""
    gain = (targets @ noise.T).cpu().numpy()  # -2 gain is the squared distance, up to sums that are fixed
    _, order = linear_sum_assignment(gain, maximize=True)
    return noise[torch.from_numpy(order).to(noise.device)]
