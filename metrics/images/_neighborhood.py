"""Everything the neighbour metrics of this family are made of, measured in one pass over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.images._inputs import Ball, Features, check_k, feature_pair, is_closed
from bench.metrics.neighbors import Balls, CrossNeighbors, Neighbors, nearest_between, nearest_others

DEGENERATE_REFERENCE = "degenerate-reference"


@dataclass(frozen=True)
class Neighborhood:
    """Neighbours within and between real (n) and generated (m) samples.

    radii in `real_self.distances[:, k - 1]` are rho_k; ball counts have one column for each of `ball_ks`.
    """

    real_self: Neighbors
    generated_self: Neighbors
    cross: CrossNeighbors
    ball_ks: tuple[int, ...]
    closed: bool

    def holding(self, k: int) -> tuple[Tensor, Tensor]:
        """Numbers of k-balls of real points that hold each generated point (m,), and the reverse (n,)."""
        column = self.ball_ks.index(k)
        generated, real = self.cross.real_balls_holding, self.cross.generated_balls_holding
        assert generated is not None
        assert real is not None
        return generated[:, column], real[:, column]


def neighborhood(
    *,
    real: Features,
    generated: Features,
    distance_ks: Sequence[int] = (),
    ball_ks: Sequence[int] = (),
    ball: Ball = "closed",
) -> Neighborhood:
    """Measure what Chamfer distances need for `distance_ks` and ball metrics for `ball_ks`.

    Raises ValueError for bad features, for a k that a set is too small for and for an unknown ball.
    """
    if not (distance_ks or ball_ks):
        raise ValueError("no k was given, so there is nothing to measure")
    x, y = feature_pair(real=real, generated=generated)
    closed = is_closed(ball)
    for k in (*distance_ks, *ball_ks):
        check_k(k, real=x, generated=y)
    largest = max((*distance_ks, *ball_ks))
    real_self = nearest_others(points=x, k=largest)
    generated_self = nearest_others(points=y, k=largest)
    cross = nearest_between(
        real=x,
        generated=y,
        k=max((*distance_ks, 1)),
        real_balls=_balls(real_self, ball_ks, closed),
        generated_balls=_balls(generated_self, ball_ks, closed),
    )
    return Neighborhood(real_self, generated_self, cross, tuple(ball_ks), closed)


def _balls(own: Neighbors, ks: Sequence[int], closed: bool) -> Balls | None:
    if not ks:
        return None
    return Balls(torch.stack([own.distances[:, k - 1] for k in ks], dim=1), closed)


def share(condition: Tensor) -> float:
    """Share of true entries; the division is made once, on whole numbers."""
    return int(condition.sum()) / len(condition)
