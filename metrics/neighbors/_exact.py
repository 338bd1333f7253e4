"""Float64 decisions: direct distances of pairs, and shortlists turned into proven nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.neighbors._frame import Frame, distinct_rows
from bench.metrics.neighbors._tiles import blocks, hits, lower_bounds
from bench.metrics.neighbors._topk import Shortlist, smallest_per_row

_PAIR_ELEMENTS = {"cpu": 1 << 17, "cuda": 1 << 25}
_ROWS_AT_ONCE = 512
_COLUMNS_AT_ONCE = 1024
_MANY_PER_ROW = 4
"""Longer lists of pairs suggest equal rows; it then pays to look for them."""


@dataclass(frozen=True)
class Neighbors:
    """The k nearest points of each row, nearest first: float64 distances (n, k) and int64 indices (n, k)."""

    distances: Tensor
    indices: Tensor


def pair_distances(first: Tensor, second: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Distances |first[rows] - second[columns]| by direct float64 differences, float64 (pairs,).

    The result of a pair depends on the two rows alone: not on its place in the list, on the other pairs or on the
    order of the two. Two computations of one distance therefore compare equal. A pair that is listed again, also by
    equal rows or the other way round in one set, is computed once.
    """
    if len(rows) > _MANY_PER_ROW * (len(first) + len(second)):
        rows, columns = distinct_rows(first)[rows], distinct_rows(second)[columns]
    if first is second:
        rows, columns = torch.minimum(rows, columns), torch.maximum(rows, columns)
    pairs, inverse = torch.unique(rows * len(second) + columns, return_inverse=True)
    return _direct(first, second, pairs // len(second), pairs % len(second))[inverse]


def _direct(first: Tensor, second: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    width = first.shape[1]
    step = max(1, _PAIR_ELEMENTS.get(first.device.type, 1 << 17) // width)
    raw = first.new_empty((step, width)), second.new_empty((step, width))
    wide = [first.new_empty((step, 1, width), dtype=torch.float64) for _ in range(2)]
    result = first.new_empty(len(rows), dtype=torch.float64)
    for start, stop in blocks(len(rows), step):
        used = stop - start
        for points, index, narrow, double in (
            (first, rows, raw[0], wide[0]),
            (second, columns, raw[1], wide[1]),
        ):
            torch.index_select(points, 0, index[start:stop], out=narrow[:used])
            double[:used, 0].copy_(narrow[:used])
        distance = torch.cdist(wide[0][:used], wide[1][:used], compute_mode="donot_use_mm_for_euclid_dist")
        result[start:stop] = distance.view(-1)
    return result


def resolve(queries: Frame, others: Frame, shortlist: Shortlist, k: int, *, same: bool) -> Neighbors:
    """Exact k nearest from shortlists of lower bounds; `same` when the two frames are one set.

    A row is settled when its k-th exact distance is no larger than the largest bound on its list, since all that
    is not on the list is farther. Other rows are searched again with float64 products.
    """
    available = len(others) - same
    norms = queries.norms[:, None] + others.norms[shortlist.indices]
    upper = shortlist.values.double() + 2 * queries.slack * norms
    plausible = shortlist.values <= upper.kthvalue(k, dim=1, keepdim=True).values
    rows, slots = plausible.nonzero(as_tuple=True)
    indices = shortlist.indices
    distances = torch.full(indices.shape, float("inf"), dtype=torch.float64, device=indices.device)
    distances[rows, slots] = pair_distances(queries.points, others.points, rows, indices[rows, slots])
    distances, indices = _nearest_first(distances, indices, k)
    limit = distances[:, -1]
    open_rows = (limit > 0) & (shortlist.values.amax(1) < (limit * queries.scale).square())
    if shortlist.values.shape[1] < available and bool(open_rows.any()):
        unsettled = open_rows.nonzero().squeeze(1)
        again = _search(queries, others, unsettled, limit[unsettled], k, same=same)
        distances[unsettled], indices[unsettled] = again.distances, again.indices
    return Neighbors(distances, indices)


def _nearest_first(distances: Tensor, indices: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k smallest of each row, ascending; equal distances by index."""
    indices, order = indices.sort(dim=1)
    distances, again = distances.gather(1, order).sort(dim=1, stable=True)
    return distances[:, :k].contiguous(), indices.gather(1, again)[:, :k].contiguous()


def _search(queries: Frame, others: Frame, rows: Tensor, limits: Tensor, k: int, *, same: bool) -> Neighbors:
    """Exact k nearest of the listed rows, given an upper bound of each k-th distance."""
    fine_others = others.in_double()
    found = [
        _search_chunk(queries, fine_others, rows[a:b], limits[a:b], k, same=same)
        for a, b in blocks(len(rows), _ROWS_AT_ONCE)
    ]
    return Neighbors(torch.cat([f.distances for f in found]), torch.cat([f.indices for f in found]))


def _search_chunk(
    queries: Frame, others: Frame, rows: Tensor, limits: Tensor, k: int, *, same: bool
) -> Neighbors:
    chunk = queries.in_double(rows)
    panel = chunk.panel(0, len(chunk))
    squared = panel.low.new_full((len(panel.low),), -float("inf"))
    # The limits are computed distances, off by up to d units of rounding: keep pairs that are equally far.
    margin = 1 + (queries.points.shape[1] + 16) * torch.finfo(torch.float64).eps
    squared[: len(rows)] = (limits * queries.scale).square() * margin
    near_rows, near_columns = [], []
    for start, stop in blocks(len(others), _COLUMNS_AT_ONCE):
        for found in hits(lower_bounds(panel, others.panel(start, stop)), squared):
            columns = found.columns + start
            allowed = columns != rows[found.rows] if same else torch.ones_like(columns, dtype=torch.bool)
            near_rows.append(found.rows[allowed])
            near_columns.append(columns[allowed])
    row, column = torch.cat(near_rows), torch.cat(near_columns)
    distance = pair_distances(chunk.points, others.points, row, column)
    keep = smallest_per_row(row, distance, k)
    return Neighbors(distance[keep].view(-1, k), column[keep].view(-1, k))
