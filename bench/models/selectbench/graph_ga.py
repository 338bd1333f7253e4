"""A genetic algorithm on molecular graphs that docks as it goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.models.selectbench._search import Objective, Search, evolve
from bench.models.selectbench.random_drugs import sample_drugs


class GraphGA(MoleculeGenerator):
    """Crossover and mutation of graphs from random drugs on. After Jensen, Chem. Sci. 10 (2019) 3567."""

    track = "informed"
    asks_oracle = True

    def __init__(self, *, objective: Objective) -> None:
        self._objective = objective

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """Twins with other objectives start from the same drugs."""
        from bench.models.selectbench._graphs import children

        assert oracle is not None
        search = Search(oracle, request, self._objective)
        population = max(4, search.affordable // 4)
        start = sample_drugs(request.drugs, population, request.seed)
        evolve(search, start, children, np.random.default_rng([request.seed, 2]), population=population)
        return [Design(smiles=smiles, model_score=-search.found[smiles]) for smiles in search.best(request.n)]
