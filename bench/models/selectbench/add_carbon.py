"""Random drugs with extra carbons: an attack. Larger molecules dock better, which must not count as selectivity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.models.selectbench.random_drugs import sample_drugs

EXTRA = 4  # carbons added to each drug


class AddCarbon(MoleculeGenerator):
    """The drugs that `random_drugs` draws from the same seed, each with methyl groups at random places.

    After AddCarbon of Renz et al., Drug Discov. Today Technol. 32 (2019) 55.
    """

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """The pocket is not looked at."""
        rng = np.random.default_rng([request.seed, 1])
        drugs = sample_drugs(request.drugs, request.n, request.seed)
        return [Design(smiles=methylated(smiles, EXTRA, rng)) for smiles in drugs]


def methylated(smiles: str, extra: int, rng: np.random.Generator) -> str:
    """`smiles` with `extra` carbons, each put in place of a hydrogen at a carbon; as many as find a place."""
    from rdkit import Chem

    mol = Chem.MolFromSmiles(smiles)
    for _ in range(extra):
        places = [a.GetIdx() for a in mol.GetAtoms() if a.GetSymbol() == "C" and a.GetTotalNumHs() > 0]
        if not places:
            break
        grown = Chem.RWMol(mol)
        new = grown.AddAtom(Chem.Atom("C"))
        place = int(rng.choice(places))
        grown.AddBond(place, new, Chem.BondType.SINGLE)
        atom = grown.GetAtomWithIdx(place)
        if atom.GetNumExplicitHs():  # written in brackets: its hydrogens do not adjust by themselves
            atom.SetNumExplicitHs(atom.GetNumExplicitHs() - 1)
        Chem.SanitizeMol(grown)
        mol = grown.GetMol()
    return str(Chem.MolToSmiles(mol))
