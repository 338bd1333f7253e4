"""Random drugs placed in the on-target by docking: the baseline for judging poses."""

from __future__ import annotations

from collections.abc import Sequence

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.models.selectbench.random_drugs import sample_drugs


class DockedDrugs3D(MoleculeGenerator):
    """The drugs of `random_drugs` with the same seed, as poses; one docking score each."""

    output = "3d"
    asks_oracle = True

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """Needs one call of the oracle for each molecule."""
        assert oracle is not None
        drugs = sample_drugs(request.drugs, min(request.n, oracle.calls_left), request.seed)
        poses = oracle.dock(drugs, request.on.target_id)
        return [Design(smiles=s, mol3d=pose) for s, pose in zip(drugs, poses, strict=True)]
