"""Approved drugs at random: what a model must beat to claim anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle


class RandomDrugs(MoleculeGenerator):
    """A uniform sample without repeats of the approved drugs."""

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """The pocket is not looked at."""
        return [Design(smiles=smiles) for smiles in sample_drugs(request.drugs, request.n, request.seed)]


def sample_drugs(drugs: Sequence[str], n: int, seed: int) -> list[str]:
    """`n` different drugs, or all of them if there are fewer; the first of a sample are a smaller sample."""
    order = np.random.default_rng(seed).permutation(len(drugs))
    return [drugs[i] for i in order[:n]]
