"""The two passes over all pairs: a set against itself, and two sets against each other."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.neighbors._balls import BallCounter, Balls
from bench.metrics.neighbors._exact import Neighbors, resolve
from bench.metrics.neighbors._frame import Frame, Panel, frames
from bench.metrics.neighbors._tiles import DEFAULT_LIMIT_BYTES, block_size, blocks, hits, lower_bounds
from bench.metrics.neighbors._topk import Shortlist

_SPARE = 4
"""Candidates kept beyond k, so that rounding seldom leaves a row unsettled."""

_DIAGONAL_STEP = 512


@dataclass(frozen=True)
class CrossNeighbors:
    """Neighbours between two sets; the counts are None where no balls were given.

    real_balls_holding: int64 (m, q), balls of real points that hold each generated point;
    generated_balls_holding: int64 (n, q), balls of generated points that hold each real point.
    """

    real_to_generated: Neighbors
    generated_to_real: Neighbors
    real_balls_holding: Tensor | None
    generated_balls_holding: Tensor | None


def nearest_others(*, points: Tensor, k: int, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> Neighbors:
    """Exact k nearest other points of each row, 1 <= k <= n - 1.

    points: float32 or float64 (n, d), finite. An equal row counts as another point at distance exactly 0.
    Half of the pairs are computed: a tile serves its rows and its columns.
    """
    _require(1 <= k < len(points), f"k={k} needs at least {k + 1} samples, got {len(points)}")
    (frame,) = frames(points)
    side = _Side(frame, frame, k, None, same=True)
    size = block_size(points.shape[1], device=points.device, limit_bytes=limit_bytes)
    for start, stop in blocks(len(points), size):
        rows = frame.panel(start, stop)
        _triangle(side, rows, start, stop)
        for left, right in blocks(len(points), size, first=stop):
            _both_ways(side, rows, frame.panel(left, right), (start, stop), (left, right))
    return side.neighbors()


def _triangle(side: _Side, panel: Panel, start: int, stop: int) -> None:
    """All pairs within one panel, in small steps so that few pairs are computed twice."""
    for left, right in blocks(stop - start, _DIAGONAL_STEP):
        columns = panel.part(left, right)
        if left:
            span = (start, start + left)
            _both_ways(side, panel.part(0, left), columns, span, (start + left, start + right))
        tile = lower_bounds(columns, columns)
        tile.fill_diagonal_(float("inf"))
        side.absorb(tile, (start + left, start + right), start + left)


def _both_ways(
    side: _Side, rows: Panel, columns: Panel, span: tuple[int, int], other: tuple[int, int]
) -> None:
    tile = lower_bounds(rows, columns)
    side.absorb(tile, span, other[0])
    side.absorb(tile.T, other, span[0])


def nearest_between(
    *,
    real: Tensor,
    generated: Tensor,
    k: int,
    real_balls: Balls | None = None,
    generated_balls: Balls | None = None,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
) -> CrossNeighbors:
    """Exact k nearest points of the other set in both directions, and the balls that hold each point.

    real (n, d) and generated (m, d): one dtype (float32 or float64), one device, finite; 1 <= k <= min(n, m).
    """
    smaller = min(len(real), len(generated))
    _require(1 <= k <= smaller, f"k={k} needs at least {k} samples, got {smaller}")
    x, y = frames(real, generated)
    from_real = _Side(x, y, k, real_balls)
    from_generated = _Side(y, x, k, generated_balls)
    size = block_size(real.shape[1], device=real.device, limit_bytes=limit_bytes)
    for start, stop in blocks(len(real), size):
        rows = x.panel(start, stop)
        for left, right in blocks(len(generated), size):
            tile = lower_bounds(rows, y.panel(left, right))
            from_real.absorb(tile, (start, stop), left)
            from_generated.absorb(tile.T, (left, right), start)
    return CrossNeighbors(
        from_real.neighbors(), from_generated.neighbors(), from_real.counts, from_generated.counts
    )


def nearest_to(
    *, points: Tensor, queries: Tensor, k: int, limit_bytes: int = DEFAULT_LIMIT_BYTES
) -> Neighbors:
    """Exact k nearest points of each query, 1 <= k <= n: one direction of `nearest_between`, for half the work.

    points (n, d) and queries (m, d): one dtype (float32 or float64), one device, finite.
    """
    _require(1 <= k <= len(points), f"k={k} needs at least {k} samples, got {len(points)}")
    known, asked = frames(points, queries)
    side = _Side(asked, known, k, None)
    size = block_size(points.shape[1], device=points.device, limit_bytes=limit_bytes)
    for start, stop in blocks(len(queries), size):
        rows = asked.panel(start, stop)
        for left, right in blocks(len(points), size):
            side.absorb(lower_bounds(rows, known.panel(left, right)), (start, stop), left)
    return side.neighbors()


class _Side:
    """What one set collects from the tiles: candidates for its points and members of its balls."""

    def __init__(
        self, queries: Frame, others: Frame, k: int, balls: Balls | None, *, same: bool = False
    ) -> None:
        self._queries, self._others, self._k, self._same = queries, others, k, same
        size = min(k + _SPARE, len(others) - same)
        self._shortlist = Shortlist(len(queries), size, dtype=queries.dtype, device=queries.points.device)
        self._counter = None if balls is None else BallCounter(balls, queries, others)

    @property
    def counts(self) -> Tensor | None:
        return None if self._counter is None else self._counter.counts

    def absorb(self, tile: Tensor, span: tuple[int, int], offset: int) -> None:
        """Use a tile whose rows are the points start..stop of this set; its columns begin at `offset`."""
        start, stop = span
        limits = tile.new_full((tile.shape[0],), -float("inf"))
        searching = self._shortlist.is_full(start, stop)
        if searching:
            limits[: stop - start] = self._shortlist.worst(start, stop)
        else:
            self._shortlist.fill(tile, start, stop, offset)
        if self._counter is not None:
            torch.maximum(
                limits[: stop - start], self._counter.limits[start:stop], out=limits[: stop - start]
            )
        for found in hits(tile, limits):
            if searching:
                self._shortlist.merge(found, start, offset)
            if self._counter is not None:
                self._counter.count(found, start, offset)

    def neighbors(self) -> Neighbors:
        return resolve(self._queries, self._others, self._shortlist, self._k, same=self._same)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
