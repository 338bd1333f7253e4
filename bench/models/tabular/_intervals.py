"""Categories as intervals of the normal distribution: one number a column, and back."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from bench.models.tabular._table import Codes, Numbers


class Intervals:
    """A level is an interval as wide as its frequency, levels in descending order of frequency."""

    def __init__(self, codes: Codes, levels: list[int]) -> None:
        counts = [np.bincount(codes[:, j], minlength=k) for j, k in enumerate(levels)]
        self._orders = [np.argsort(-count, kind="stable") for count in counts]
        self._edges = [
            np.concatenate([[0.0], np.cumsum(count[order])]) / max(1, len(codes))
            for count, order in zip(counts, self._orders, strict=True)
        ]

    def scores(self, codes: Codes, rng: np.random.Generator) -> Numbers:
        """Normal scores (n, c) of codes: somewhere in the level's interval, at random."""
        columns = []
        for j, (order, edges) in enumerate(zip(self._orders, self._edges, strict=True)):
            place = np.argsort(order)[codes[:, j]]
            level = edges[place] + rng.random(len(codes)) * (edges[place + 1] - edges[place])
            columns.append(ndtri(np.clip(level, 1e-9, 1 - 1e-9)))
        return np.column_stack(columns) if columns else np.empty((len(codes), 0))

    def codes(self, scores: Numbers) -> Codes:
        """The levels (m, c) whose intervals the scores lie in."""
        columns = [
            order[np.searchsorted(edges[1:-1], ndtr(scores[:, j]), side="right")]
            for j, (order, edges) in enumerate(zip(self._orders, self._edges, strict=True))
        ]
        return np.column_stack(columns) if columns else np.empty((len(scores), 0), dtype=np.int64)
