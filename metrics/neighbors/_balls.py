"""How many balls hold each point, decided as float64 distances decide it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.neighbors._exact import pair_distances
from bench.metrics.neighbors._frame import Frame
from bench.metrics.neighbors._tiles import Hits


@dataclass(frozen=True)
class Balls:
    """Radii of the balls around a set's points, float64 (n, q): q families of balls are counted in one pass.

    A closed ball holds the points at exactly its radius, an open one does not.
    """

    radii: Tensor
    closed: bool = True


class BallCounter:
    """Counts, for each point, the balls that hold it: `counts` is int64 (points, q)."""

    def __init__(self, balls: Balls, centres: Frame, points: Frame) -> None:
        self._balls = balls
        self._centres = centres
        self._points = points
        self._squared = (balls.radii * centres.scale).square()
        self.counts = torch.zeros(
            (len(points), balls.radii.shape[1]), dtype=torch.int64, device=balls.radii.device
        )
        # Rounded up, so that no pair inside a ball is left out of the hits.
        largest = self._squared.amax(1).to(centres.dtype)
        above = torch.nextafter(largest, torch.full_like(largest, float("inf")))
        self.limits = above.clamp(max=torch.finfo(centres.dtype).max)

    def count(self, found: Hits, start: int, offset: int) -> None:
        """Account for the entries of a tile that begins at centre `start` and point `offset`."""
        near = found.values <= self.limits[found.rows + start]
        centres, points = found.rows[near] + start, found.columns[near] + offset
        if not len(centres):
            return
        low = found.values[near].double()
        norms = self._centres.norms[centres] + self._points.norms[points]
        high = low + 2 * self._centres.slack * norms
        squared = self._squared[centres]
        sure = self._within(high[:, None], squared)
        unclear = (self._within(low[:, None], squared) & ~sure).any(1)
        inside = sure
        if bool(unclear.any()):
            a, b = centres[unclear], points[unclear]
            exact = pair_distances(self._centres.points, self._points.points, a, b)
            inside[unclear] = self._within(exact[:, None], self._balls.radii[a])
        self.counts.index_add_(0, points, inside.long())

    def _within(self, value: Tensor, radius: Tensor) -> Tensor:
        return value <= radius if self._balls.closed else value < radius
