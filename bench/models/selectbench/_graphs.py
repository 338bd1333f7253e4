"""Crossover and mutation of molecular graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rdkit import Chem, rdBase

MIN_HEAVY, MAX_HEAVY = 12, 40
_TRIES = 30
#: Jensen, Chem. Sci. 10 (2019) 3567; a choice of its mutations as reaction SMARTS.
_MUTATIONS = (
    "[*;!H0:1]>>[*:1]C", "[*;!H0:1]>>[*:1]N", "[*;!H0:1]>>[*:1]O", "[*;!H0:1]>>[*:1]F", "[*;!H0:1]>>[*:1]Cl",
    "[*:1]!@-[*:2]>>[*:1]C[*:2]", "[*:1]!@-[*:2]>>[*:1]O[*:2]", "[*:1]!@-[*:2]>>[*:1]N[*:2]",
    "[*:1]!@-[CH2]!@-[*:2]>>[*:1]-[*:2]", "[*:1]!@-[CH3]>>[*:1]", "[*:1]!@-[F,Cl,OH,NH2]>>[*:1]",
    "[cH:1]>>[n:1]", "[n;H0;X2:1]>>[cH:1]", "[CH2:1]>>[NH:1]", "[CH2:1]>>[O:1]", "[NH;X3:1]>>[CH2:1]",
    "[CH2:1]>>[C:1](=O)", "[F:1]>>[Cl:1]", "[Cl:1]>>[F:1]", "[CH3:1]>>[C:1](F)(F)F",
)  # fmt: skip
_CUT = Chem.MolFromSmarts("[*]!@-[*]")


def children(parents: Sequence[str], count: int, rng: np.random.Generator) -> Iterator[str]:
    """At most 30 x `count` tries to make molecules from parents by crossover and, half the time, a mutation."""
    made = 0
    block = rdBase.BlockLogs()
    try:
        for _ in range(_TRIES * count):
            first, second = (parents[i] for i in rng.integers(len(parents), size=2))
            child = crossed(first, second, rng) or first
            if child == first or rng.random() < 0.5:
                child = mutated(child, rng) or child
            if child not in parents and _is_fit(child):
                yield child
                made += 1
            if made >= 3 * count:
                return
    finally:
        del block


def crossed(first: str, second: str, rng: np.random.Generator) -> str:
    """One side of a bond of the first molecule joined to one side of a bond of the second; "" if it fails."""
    left, right = _half(first, rng), _half(second, rng)
    if not left or not right:
        return ""
    joined = Chem.CombineMols(*(Chem.MolFromSmiles(text) for text in (left, right)))
    ends = [atom.GetIdx() for atom in joined.GetAtoms() if atom.GetAtomicNum() == 0]
    if len(ends) != 2:
        return ""
    sides = [joined.GetAtomWithIdx(end).GetNeighbors()[0].GetIdx() for end in ends]
    grown: Any = Chem.RWMol(joined)
    grown.AddBond(*sides, Chem.BondType.SINGLE)
    for end in sorted(ends, reverse=True):
        grown.RemoveAtom(end)
    return _text(grown)


def _half(smiles: str, rng: np.random.Generator) -> str:
    """A molecule cut at a random single bond outside rings: one of the two pieces, with a dummy at the cut."""
    mol = Chem.MolFromSmiles(smiles)
    places = mol.GetSubstructMatches(_CUT)
    if not places:
        return ""
    bond = mol.GetBondBetweenAtoms(*places[int(rng.integers(len(places)))]).GetIdx()
    pieces = Chem.MolToSmiles(Chem.FragmentOnBonds(mol, [bond], dummyLabels=[(0, 0)])).split(".")
    return str(pieces[int(rng.integers(len(pieces)))])


def mutated(smiles: str, rng: np.random.Generator) -> str:
    """The molecule after a random mutation at a random place; "" if it does not apply."""
    from rdkit.Chem import rdChemReactions

    reaction = rdChemReactions.ReactionFromSmarts(_MUTATIONS[int(rng.integers(len(_MUTATIONS)))])
    products = reaction.RunReactants((Chem.MolFromSmiles(smiles),))
    return _text(products[int(rng.integers(len(products)))][0]) if products else ""


def _text(mol: Chem.Mol) -> str:
    try:
        Chem.SanitizeMol(mol)
        text = str(Chem.MolToSmiles(mol))
    except (ValueError, RuntimeError):
        return ""
    return text if "." not in text and Chem.MolFromSmiles(text) is not None else ""


def _is_fit(smiles: str) -> bool:
    return MIN_HEAVY <= Chem.MolFromSmiles(smiles).GetNumHeavyAtoms() <= MAX_HEAVY
