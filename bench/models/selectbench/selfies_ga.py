"""Point mutations of SELFIES, every one of which is a molecule, guided by docking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bench.models.selectbench._genetic import GeneticAlgorithm

MIN_HEAVY, MAX_HEAVY = 12, 40
_TRIES = 30
#: Common organic atoms only: the robust alphabet of SELFIES has boron, charges and radicals as well.
_ALPHABET = (
    "[C]", "[=C]", "[#C]", "[N]", "[=N]", "[#N]", "[O]", "[=O]", "[S]", "[F]", "[Cl]",
    "[Branch1]", "[=Branch1]", "[Branch2]", "[Ring1]", "[Ring2]",
)  # fmt: skip


class SelfiesGA(GeneticAlgorithm):
    """Replace, insert or delete a symbol. SELFIES: Krenn et al., Mach. Learn.: Sci. Technol. 1 (2020) 045024."""

    stream = 3

    def children(self, parents: Sequence[str], count: int, rng: np.random.Generator) -> Iterator[str]:
        made = 0
        for _ in range(_TRIES * count):
            child = mutated(parents[int(rng.integers(len(parents)))], rng)
            if child and child not in parents:
                yield child
                made += 1
            if made >= 3 * count:
                return


def mutated(smiles: str, rng: np.random.Generator) -> str:
    """The molecule with one symbol of its SELFIES replaced, inserted or deleted; "" if it has the wrong size."""
    import selfies
    from rdkit import Chem, rdBase

    try:
        symbols = list(selfies.split_selfies(selfies.encoder(smiles)))
    except selfies.EncoderError:
        return ""
    place, symbol = int(rng.integers(len(symbols))), _ALPHABET[int(rng.integers(len(_ALPHABET)))]
    kind = int(rng.integers(3))
    changed = symbols[:place] + ([] if kind == 2 else [symbol]) + symbols[place + (kind != 1) :]
    block = rdBase.BlockLogs()
    mol = Chem.MolFromSmiles(selfies.decoder("".join(changed)))
    del block
    if mol is None or not MIN_HEAVY <= mol.GetNumHeavyAtoms() <= MAX_HEAVY or len(Chem.GetMolFrags(mol)) > 1:
        return ""
    return str(Chem.MolToSmiles(mol))
