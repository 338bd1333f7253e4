"""The best of a random pool of approved drugs: what any search must beat."""

from __future__ import annotations

from collections.abc import Sequence

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.models.selectbench._search import Objective, Search
from bench.models.selectbench.random_drugs import sample_drugs


class BestOfN(MoleculeGenerator):
    """Docks random drugs until the budget is spent and hands in the best."""

    track = "informed"
    asks_oracle = True

    def __init__(self, *, objective: Objective) -> None:
        self._objective = objective

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """Twins with other objectives draw the same pool."""
        assert oracle is not None
        search = Search(oracle, request, self._objective)
        search.look_at(sample_drugs(request.drugs, request.oracle_calls, request.seed))
        return [Design(smiles=smiles, model_score=-search.found[smiles]) for smiles in search.best(request.n)]
