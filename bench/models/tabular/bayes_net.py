"""Bayesian network on binned columns, its structure found by hill climbing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench.adapters.tabular import Budget, TabularGenerator
from bench.datasets.tabular.schema import TableSchema
from bench.models.tabular._ordering import binned, mutual_information
from bench.models.tabular._table import Codes, Numbers, Table


class LearnedBayesNet(TabularGenerator):
    """A network of at most `max_parents` parents a column that hill climbing finds best by BIC.

    Numbers are seen in at most `bins` quantile bins. Moves are adding, deleting and reversing an edge;
    parents are looked for among the `candidates` columns with most mutual information (Friedman et al.
    1999). A value is that of a random training row with the same bins of the parents; with a weight of
    `smoothing` rows, of any row.
    """

    def __init__(
        self, *, bins: int = 10, max_parents: int = 3, candidates: int = 10, smoothing: float = 0.5
    ) -> None:
        self.bins = bins
        self.max_parents = max_parents
        self.candidates = candidates
        self.smoothing = smoothing

    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        self._table = Table(train, schema)
        self._codes, levels = binned(self._table, self.bins)
        near = mutual_information(self._codes, levels)
        search = _Search(self._codes, levels, near, self.max_parents, self.candidates)
        self.parents = search.climb()
        self._order = _topological(self.parents)

    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        rows = np.zeros((n, self._codes.shape[1]), dtype=np.int64)
        codes = np.zeros_like(rows)
        for column in self._order:
            rows[:, column] = self._draw(self.parents[column], codes, rng)
            codes[:, column] = self._codes[rows[:, column], column]
        return self._table.from_rows(rows)

    def _draw(self, parents: tuple[int, ...], codes: Codes, rng: np.random.Generator) -> Codes:
        """A training row for each sample: one that agrees in all parents, or any."""
        m, total = len(codes), self._table.n
        rows = rng.integers(0, total, m)
        if not parents:
            return rows
        both = np.vstack([self._codes[:, parents], codes[:, parents]])
        group = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        donors = np.argsort(group[:total], kind="stable")
        counts = np.bincount(group[:total], minlength=group.max() + 1)
        start = np.concatenate([[0], np.cumsum(counts)])
        mine = group[total:]
        inside = rng.random(m) * (counts[mine] + self.smoothing) < counts[mine]
        place = start[mine] + (rng.random(m) * counts[mine]).astype(np.int64)
        return np.where(inside, donors[np.minimum(place, total - 1)], rows)


class _Search:
    """Greedy hill climbing over graphs; scores of families are computed once."""

    def __init__(self, codes: Codes, levels: list[int], near: Numbers, most: int, candidates: int) -> None:
        self._codes, self._levels, self._most = codes, levels, most
        d = len(levels)
        ranked = np.argsort(-near, axis=1, kind="stable")
        self._candidates = [
            [int(i) for i in ranked[j] if i != j and near[j, i] > 0][:candidates] for j in range(d)
        ]
        self._parents: list[tuple[int, ...]] = [() for _ in range(d)]
        self._scores: dict[tuple[int, tuple[int, ...]], float] = {}

    def climb(self) -> list[tuple[int, ...]]:
        """The parents of each column at a local optimum."""
        gains = {j: self._moves(j) for j in range(len(self._levels))}
        while True:
            best = max(
                (
                    (gain, -column, parents)
                    for column, moves in gains.items()
                    for parents, gain in moves.items()
                    if gain > 1e-9 and not self._makes_cycle(column, parents)
                ),
                default=None,
            )
            reversal = self._best_reversal()
            if reversal is not None and (best is None or reversal[0] > best[0]):
                _, parent, child = reversal
                self._parents[child] = _without(self._parents[child], parent)
                self._parents[parent] = _with(self._parents[parent], child)
                changed = [parent, child]
            elif best is not None:
                changed = [-best[1]]
                self._parents[changed[0]] = best[2]
            else:
                return self._parents
            for column in changed:
                gains[column] = self._moves(column)

    def _moves(self, column: int) -> dict[tuple[int, ...], float]:
        """Gain of every way to add or delete one parent."""
        now = self._parents[column]
        base = self._score(column, now)
        sets = [_without(now, parent) for parent in now]
        if len(now) < self._most:
            sets += [_with(now, parent) for parent in self._candidates[column] if parent not in now]
        return {parents: self._score(column, parents) - base for parents in sets}

    def _best_reversal(self) -> tuple[float, int, int] | None:
        best: tuple[float, int, int] | None = None
        for child, parents in enumerate(self._parents):
            for parent in parents:
                if len(self._parents[parent]) >= self._most:
                    continue
                lost = self._score(child, _without(parents, parent)) - self._score(child, parents)
                turned = _with(self._parents[parent], child)
                gain = lost + self._score(parent, turned) - self._score(parent, self._parents[parent])
                if gain > 1e-9 and (best is None or gain > best[0]) and not self._other_path(parent, child):
                    best = (gain, parent, child)
        return best

    def _makes_cycle(self, column: int, parents: tuple[int, ...]) -> bool:
        new = [parent for parent in parents if parent not in self._parents[column]]
        return any(self._reaches(column, parent) for parent in new)

    def _other_path(self, parent: int, child: int) -> bool:
        """Whether `parent` leads to `child` by more than their edge."""
        return any(self._reaches(parent, other) for other in self._parents[child] if other != parent)

    def _reaches(self, start: int, end: int) -> bool:
        """Whether a directed path leads from `start` to `end`."""
        stack, seen = [end], {end}
        while stack:
            node = stack.pop()
            if node == start:
                return True
            fresh = [parent for parent in self._parents[node] if parent not in seen]
            seen.update(fresh)
            stack += fresh
        return False

    def _score(self, column: int, parents: tuple[int, ...]) -> float:
        """BIC of a column given its parents, counting only the configurations that occur."""
        known = self._scores.get((column, parents))
        if known is None:
            known = self._scores[column, parents] = self._bic(column, parents)
        return known

    def _bic(self, column: int, parents: tuple[int, ...]) -> float:
        n = len(self._codes)
        group, count = np.zeros(n, dtype=np.int64), 1
        for parent in parents:
            group = group * self._levels[parent] + self._codes[:, parent]
            count *= self._levels[parent]
            if count > 4 * n:  # keep the table small
                group = np.unique(group, return_inverse=True)[1].ravel()
                count = int(group.max()) + 1
        levels = self._levels[column]
        joint = group * levels + self._codes[:, column]
        sparse = count * levels > 16 * n
        counts = np.unique(joint, return_counts=True)[1] if sparse else np.bincount(joint)
        totals = np.bincount(group)
        configurations = int((totals > 0).sum())
        likelihood = _xlogx(counts) - _xlogx(totals)
        return likelihood - 0.5 * float(np.log(n)) * configurations * (levels - 1)


def _xlogx(counts: Codes) -> float:
    positive = counts[counts > 0].astype(np.float64)
    return float((positive * np.log(positive)).sum())


def _with(parents: tuple[int, ...], parent: int) -> tuple[int, ...]:
    return tuple(sorted((*parents, parent)))


def _without(parents: tuple[int, ...], parent: int) -> tuple[int, ...]:
    return tuple(other for other in parents if other != parent)


def _topological(parents: list[tuple[int, ...]]) -> list[int]:
    order: list[int] = []
    while len(order) < len(parents):
        order += [j for j in range(len(parents)) if j not in order and set(parents[j]) <= set(order)]
    return order
