"""Exact nearest neighbours in blocks: the one core under every neighbour metric.

Matrix products in float32 propose, direct float64 differences decide. Every distance returned and every
comparison made equals the one that a plain float64 loop over all pairs would give, including near-copies, ties
and identical rows (distance exactly 0), while the memory beside the inputs is O(block^2 + (n + m) k).

    nearest_others(points=X, k=5)                  X against itself, each row without itself
    nearest_to(points=X, queries=Y, k=5)           rows of Y against X
    nearest_between(real=X, generated=Y, k=5, ...) both directions and all ball memberships, in one pass
    matmul_transposed(A, B)                        the product under all of them, never in TF32
    pair_distances(...)                            float64 distances of listed pairs
    distinct_rows(X)                               which rows are equal

Tensors stay on their device; CPU and CUDA run the same code.
"""

from bench.metrics.neighbors._balls import Balls
from bench.metrics.neighbors._exact import Neighbors, pair_distances
from bench.metrics.neighbors._frame import distinct_rows
from bench.metrics.neighbors._passes import CrossNeighbors, nearest_between, nearest_others, nearest_to
from bench.metrics.neighbors._tiles import matmul_transposed

__all__ = [
    "Balls",
    "CrossNeighbors",
    "Neighbors",
    "distinct_rows",
    "matmul_transposed",
    "nearest_between",
    "nearest_others",
    "nearest_to",
    "pair_distances",
]
