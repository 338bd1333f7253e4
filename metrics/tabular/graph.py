"""Directed acyclic graphs and the independence statements they imply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

StatementKind = Literal["independence", "dependence"]
MAX_STATEMENTS = 20_000


@dataclass(frozen=True)
class Dag:
    """parents[j]: the parents of variable j, as indices."""

    parents: tuple[tuple[int, ...], ...]

    @classmethod
    def of_names(cls, names: Sequence[str], parents: Mapping[str, Sequence[str]]) -> Dag:
        """The graph over `names`, in their order, with the parents of each by name."""
        places = {name: i for i, name in enumerate(names)}
        return cls(tuple(tuple(places[p] for p in parents[name]) for name in names))

    def order(self) -> list[int]:
        """Variables with parents before children: scan repeatedly, append each whose parents are all placed.

        Raises ValueError if the graph has a cycle.
        """
        placed: list[int] = []
        while len(placed) < len(self.parents):
            before = len(placed)
            for node, parents in enumerate(self.parents):
                if node not in placed and all(p in placed for p in parents):
                    placed.append(node)
            if len(placed) == before:
                raise ValueError("the graph has a cycle")
        return placed

    @property
    def edges(self) -> list[tuple[int, int]]:
        """(parent, child) pairs."""
        return [(parent, child) for child, parents in enumerate(self.parents) for parent in parents]


@dataclass(frozen=True)
class Statement:
    """`first` and `second` are (in)dependent given `given`."""

    first: int
    second: int
    given: tuple[int, ...]
    kind: StatementKind


def statements(dag: Dag, *, most: int = MAX_STATEMENTS, seed: int = 0) -> list[Statement]:
    """What the graph implies for every pair i before j in its order.

    A parent i of j: dependence given the other parents of j. Otherwise independence given the parents of j, which is
    the local Markov property. More than `most` statements are sampled in equal proportion of both kinds.
    """
    order = dag.order()
    found = []
    for place, j in enumerate(order):
        parents = dag.parents[j]
        for i in order[:place]:
            given = tuple(p for p in parents if p != i)
            found.append(Statement(i, j, given, "dependence" if i in parents else "independence"))
    return found if len(found) <= most else _sampled(found, most, seed)


def _sampled(found: Sequence[Statement], most: int, seed: int) -> list[Statement]:
    rng = np.random.default_rng(seed)
    kept: list[Statement] = []
    for kind in ("independence", "dependence"):
        of_kind = [s for s in found if s.kind == kind]
        size = round(most * len(of_kind) / len(found))
        kept += [of_kind[i] for i in np.sort(rng.choice(len(of_kind), size=size, replace=False))]
    return kept
