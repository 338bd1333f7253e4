"""Discrete Bayesian networks with known tables: the truth behind generated categorical data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.datasets.tabular.bif import parse_bif
from bench.datasets.tabular.dataset import Cpt, Dag
from bench.datasets.tabular.quantile_residuals import discrete_residuals, normal_cdf

Codes = npt.NDArray[np.int32]


class BayesianNetwork:
    """A discrete network; rows are drawn parents first, all rows of a node at once."""

    def __init__(self, states: Mapping[str, tuple[str, ...]], tables: Mapping[str, Cpt]) -> None:
        self.states = dict(states)
        self._tables = dict(tables)
        self.dag = Dag(tuple(states), {node: tables[node].parents for node in states})
        self._order = self.dag.order()

    @classmethod
    def from_bif(cls, text: str, source: str) -> BayesianNetwork:
        """The network written in `text`."""
        return cls(*parse_bif(text, source))

    def cpt(self, node: str) -> Cpt:
        """P(node | parents)."""
        return self._tables[node]

    def sample(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """`n` rows of category columns in file order, every state a category."""
        codes: dict[str, Codes] = {}
        for node in self._order:
            cumulative = self._rows(node, codes, n).cumsum(axis=1)
            draws = rng.random(n)[:, None]
            codes[node] = (draws >= cumulative[:, :-1]).sum(axis=1, dtype=np.int32)
        columns = {
            node: pd.Categorical.from_codes(codes[node], categories=pd.Index(levels))
            for node, levels in self.states.items()
        }
        return pd.DataFrame(columns)

    def residuals(self, df: pd.DataFrame) -> pd.DataFrame:
        """Randomised quantile residuals (Dunn and Smyth 1996): standard normal under the truth."""
        codes = self.encode(df)
        columns = {}
        for node in self.states:
            parents = {name: codes[name] for name in self._tables[node].parents}
            valid = np.all([codes[name] >= 0 for name in (node, *parents)], axis=0)
            clean = {name: np.where(valid, values, 0) for name, values in parents.items()}
            columns[node] = discrete_residuals(
                np.where(valid, codes[node], -1), self._rows(node, clean, len(df)), node
            )
        return pd.DataFrame(columns)

    def noise_cdf(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The standard normal distribution function."""
        return normal_cdf(values)

    def encode(self, df: pd.DataFrame) -> dict[str, Codes]:
        """Codes in the order of the states, -1 for anything else."""
        return {
            node: pd.Index(levels).get_indexer(pd.Index(df[node].astype(object))).astype(np.int32)
            for node, levels in self.states.items()
        }

    def _rows(self, node: str, codes: Mapping[str, Codes], n: int) -> npt.NDArray[np.float64]:
        """P(node | the parents of each row), (n, states)."""
        cpt = self._tables[node]
        if not cpt.parents:
            return np.broadcast_to(cpt.table, (n, len(cpt.table)))
        return cpt.table[tuple(codes[parent] for parent in cpt.parents)]


def random_network(*, nodes: int = 20, seed: int = 7) -> BayesianNetwork:
    """A random network: each node has 0-3 parents among its predecessors and 2-5 states, rows Dirichlet(0.5).

    Draws for each node in turn: number of states, number of parents, parents, table.
    """
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(nodes)]
    states: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Cpt] = {}
    for i, name in enumerate(names):
        count = int(rng.integers(2, 6))
        parents = rng.permutation(i)[: min(i, int(rng.integers(0, 4)))]
        chosen = tuple(names[parent] for parent in sorted(parents))
        states[name] = tuple("abcde"[:count])
        shape = [len(states[parent]) for parent in chosen]
        tables[name] = Cpt(name, chosen, rng.dirichlet(np.full(count, 0.5), size=shape))
    return BayesianNetwork(states, tables)
