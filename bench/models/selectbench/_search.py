"""What the guided models search for: strong binding alone, or strong binding with a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from bench.adapters.selectbench import DesignRequest, Oracle

Objective = Literal["on", "sel"]
TENFOLD = 1.3642  # kcal/mol, the window that counts as a success
WEIGHT = 1.0  # of what a window lacks of that
_UNUSABLE = 1e3


@dataclass
class Search:
    """Molecules looked at so far and how good they are, within a budget of docking scores.

    The objective is the on-target score, or with "sel" that plus what the window lacks of a tenfold difference;
    low is good. A molecule costs one score with "on" and one for each target with "sel", so that at one budget the
    unguided twin looks at more molecules.
    """

    oracle: Oracle
    request: DesignRequest
    objective: Objective
    found: dict[str, float] = field(default_factory=dict)

    @property
    def targets(self) -> list[str]:
        """What every molecule is docked in."""
        off = [pocket.target_id for pocket in self.request.off] if self.objective == "sel" else []
        return [self.request.on.target_id, *off]

    @property
    def affordable(self) -> int:
        """How many molecules can still be looked at."""
        return self.oracle.calls_left // len(self.targets)

    def look_at(self, smiles: Iterable[str]) -> None:
        """Score the first of `smiles` that are new, as many as the budget allows."""
        new = [s for s in dict.fromkeys(smiles) if s not in self.found][: self.affordable]
        if new:
            scores = self.oracle.score(new, self.targets)
            self.found |= zip(new, map(float, goals(scores, self.objective)), strict=True)

    def best(self, n: int) -> list[str]:
        """The `n` best molecules, best first."""
        return sorted(self.found, key=lambda s: self.found[s])[:n]


def goals(scores: np.ndarray, objective: Objective) -> np.ndarray:
    """The objective of rows of scores (n, t), on-target first; float64 (n,), low is good."""
    clipped = np.minimum(scores, 0.0)
    on = clipped[:, 0]
    goal = on.copy()
    if objective == "sel" and clipped.shape[1] > 1:
        window = clipped[:, 1:].min(axis=1) - on
        goal = on + WEIGHT * np.maximum(0.0, TENFOLD - window)
    return np.where(np.isfinite(goal), goal, _UNUSABLE)


def evolve(
    search: Search,
    start: Sequence[str],
    children: Callable[[Sequence[str], int, np.random.Generator], Iterable[str]],
    rng: np.random.Generator,
    *,
    population: int,
) -> None:
    """Look at `start`, then at children of the best so far until the budget is spent.

    `children(parents, count, rng)` yields SMILES; a round that brings nothing new ends the search.
    """
    search.look_at(start[:population])
    while search.affordable > 0:
        before = len(search.found)
        parents = search.best(population)
        search.look_at(children(parents, min(population, search.affordable), rng))
        if len(search.found) == before:
            return
