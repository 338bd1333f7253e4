"""What is known of generated data, in the form that the structure metrics take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench.datasets.tabular import dataset as data
from bench.datasets.tabular.networks import BayesianNetwork
from bench.datasets.tabular.scm import AdditiveNoiseModel
from bench.metrics.tabular.ci_fidelity import GraphTruth
from bench.metrics.tabular.graph import Dag
from bench.metrics.tabular.mechanism import DiscreteLaw, Laws
from bench.metrics.tabular.result import Result, undefined
from bench.metrics.tabular.table import EncodedTable
from bench.metrics.tabular.together import Truth
from bench.tasks.tabular.encoding import Encoder

Numbers = npt.NDArray[np.float64]
NO_DIRECTIONS = "not run: needs a linear model with noise that is not normal, where directions can be known"


class KnownTruth:
    """The truth behind one data set, prepared for scoring any number of tables."""

    def __init__(self, truth: data.Truth, encoder: Encoder, *, oracle_rows: int, seed: int) -> None:
        self._truth, self._encoder = truth, encoder
        names = [column.name for column in encoder.columns]
        self._nodes = names
        self._graph = GraphTruth(Dag.of_names(names, truth.dag.parents), self._test())
        self._oracle = encoder.encode(truth.sample(oracle_rows, np.random.default_rng(seed))).table
        self._laws = Laws(truth.noise_cdf, self._tables())

    def about(self, generated: EncodedTable, holdout: EncodedTable | None) -> Truth:
        """Everything the metrics need to know beside the tables."""
        return Truth(
            graph=self._graph,
            oracle=self._oracle,
            laws=self._laws,
            residuals=self.residuals(generated),
            holdout_residuals=None if holdout is None else self.residuals(holdout),
            oracle_residuals=self.residuals(self._oracle) if self._graph.test == "mechanism" else None,
        )

    @property
    def shows_directions(self) -> bool:
        """Whether rows of the truth tell which way an edge points: in linear models with non-normal noise."""
        model = self._truth
        return isinstance(model, AdditiveNoiseModel) and model.law == "linear" and model.noise != "normal"

    def residuals(self, table: EncodedTable) -> Numbers:
        """Noise that explains each value given its parents, (n, columns)."""
        found = self._truth.residuals(self._encoder.decode(table))
        return np.ascontiguousarray(found[self._nodes].to_numpy(dtype=np.float64))

    def _test(self) -> Literal["discrete", "linear-gaussian", "mechanism"]:
        if all(not column.is_numeric for column in self._encoder.columns):
            return "discrete"
        model = self._truth
        linear = isinstance(model, AdditiveNoiseModel) and model.law == "linear"
        return "linear-gaussian" if linear else "mechanism"

    def _tables(self) -> dict[int, DiscreteLaw]:
        """Probability tables over the codes of the columns instead of the states of the network."""
        if not isinstance(self._truth, BayesianNetwork):
            return {}
        states = self._truth.states
        kept = {name: [states[name].index(level) for level in self._levels(name)] for name in self._nodes}
        found = {}
        for j, node in enumerate(self._nodes):
            cpt = self._truth.cpt(node)
            axes: Any = np.ix_(*(kept[name] for name in (*cpt.parents, node)))
            parents = tuple(self._nodes.index(name) for name in cpt.parents)
            found[j] = DiscreteLaw(parents, np.ascontiguousarray(cpt.table[axes]))
        return found

    def _levels(self, name: str) -> tuple[str, ...]:
        return tuple(str(level) for level in self._encoder.schema.column(name).categories or ())


def applicable(results: Mapping[str, Result], known: KnownTruth | None) -> dict[str, Result]:
    """The results, without `direction` where even rows of the truth would not show it."""
    found = dict(results)
    if known is not None and "direction" in found and not known.shows_directions:
        found["direction"] = undefined(NO_DIRECTIONS)
    return found
