"""The loop of the genetic algorithms; they differ in how children come from parents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.models.selectbench._search import Objective, Search, evolve
from bench.models.selectbench.random_drugs import sample_drugs


class GeneticAlgorithm(MoleculeGenerator):
    """Random drugs, then children of the best so far until the docking budget is spent."""

    track = "informed"
    asks_oracle = True
    stream: ClassVar[int]  # of random numbers, one for each algorithm

    def __init__(self, *, objective: Objective) -> None:
        self._objective = objective

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """Twins with other objectives start from the same drugs."""
        assert oracle is not None
        search = Search(oracle, request, self._objective)
        population = max(4, search.affordable // 4)
        start = sample_drugs(request.drugs, population, request.seed)
        rng = np.random.default_rng([request.seed, self.stream])
        evolve(search, start, self.children, rng, population=population)
        return [Design(smiles=smiles, model_score=-search.found[smiles]) for smiles in search.best(request.n)]

    @abstractmethod
    def children(self, parents: Sequence[str], count: int, rng: np.random.Generator) -> Iterable[str]:
        """SMILES of about `count` children of `parents`, or more."""
