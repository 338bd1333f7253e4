"""A genetic algorithm on molecular graphs that docks as it goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bench.models.selectbench._genetic import GeneticAlgorithm


class GraphGA(GeneticAlgorithm):
    """Crossover and mutation of graphs from random drugs on. After Jensen, Chem. Sci. 10 (2019) 3567."""

    stream = 2

    def children(self, parents: Sequence[str], count: int, rng: np.random.Generator) -> Iterable[str]:
        from bench.models.selectbench._graphs import children

        return children(parents, count, rng)
