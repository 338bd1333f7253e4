"""Fragments of approved drugs put together anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.models.selectbench.random_drugs import sample_drugs

MIN_HEAVY, MAX_HEAVY = 15, 35
_SOURCES = 300  # drugs that are taken apart; all of them would take seconds
_JOINS = 6
_TRIES = 2_000


class Brics(MoleculeGenerator):
    """BRICS fragments joined at random where BRICS allows it, until no open bond is left; 15 to 35 heavy atoms.

    Degen et al., ChemMedChem 3 (2008) 1503.
    """

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """The pocket is not looked at."""
        rng = np.random.default_rng(request.seed)
        fragments = _fragments(tuple(sample_drugs(request.drugs, _SOURCES, request.seed)))
        found: dict[str, None] = {}
        for _ in range(_TRIES):
            if len(found) == request.n:
                break
            smiles = assembled(fragments, rng)
            if smiles:
                found[smiles] = None
        return [Design(smiles=smiles) for smiles in found]


def assembled(fragments: Sequence[str], rng: np.random.Generator) -> str:
    """A molecule grown from a random fragment; "" if it does not close within six joins or has the wrong size."""
    from rdkit import Chem

    mol: Any = Chem.MolFromSmiles(fragments[int(rng.integers(len(fragments)))])
    for _ in range(_JOINS):
        ends = _open_ends(mol)
        if not ends or mol.GetNumHeavyAtoms() > MAX_HEAVY:
            break
        label, _ = ends[int(rng.integers(len(ends)))]
        partner = Chem.MolFromSmiles(fragments[int(rng.integers(len(fragments)))])
        mol = _joined(mol, label, partner, rng) or mol
    if _open_ends(mol) or not MIN_HEAVY <= mol.GetNumHeavyAtoms() <= MAX_HEAVY:
        return ""
    try:
        Chem.SanitizeMol(mol)
    except (ValueError, RuntimeError):
        return ""
    smiles = str(Chem.MolToSmiles(mol))
    return smiles if Chem.MolFromSmiles(smiles) is not None else ""


def _open_ends(mol: Any) -> list[tuple[int, int]]:
    """(BRICS label, atom) of every dummy."""
    return [(a.GetIsotope(), a.GetIdx()) for a in mol.GetAtoms() if a.GetAtomicNum() == 0]


def _joined(mol: Any, label: int, partner: Any, rng: np.random.Generator) -> Any:
    """Both molecules joined at an end with `label` and a compatible one; None if the partner has none."""
    from rdkit import Chem

    fitting = [atom for other, atom in _open_ends(partner) if (label, other) in _compatible()]
    if not fitting:
        return None
    first = next(atom for own, atom in _open_ends(mol) if own == label)
    size = mol.GetNumAtoms()
    second = fitting[int(rng.integers(len(fitting)))] + size
    grown: Any = Chem.RWMol(Chem.CombineMols(mol, partner))
    sides = [grown.GetAtomWithIdx(end).GetNeighbors()[0].GetIdx() for end in (first, second)]
    grown.AddBond(*sides, Chem.BondType.DOUBLE if label == 7 else Chem.BondType.SINGLE)
    for end in sorted((first, second), reverse=True):
        grown.RemoveAtom(end)
    return grown.GetMol()


@lru_cache(maxsize=1)
def _compatible() -> frozenset[tuple[int, int]]:
    """Pairs of labels between which BRICS makes a bond."""
    from rdkit.Chem import BRICS

    pairs = {
        (int(a.rstrip("abc")), int(b.rstrip("abc"))) for group in BRICS.reactionDefs for a, b, _ in group
    }
    return frozenset(pairs | {(b, a) for a, b in pairs})


@lru_cache(maxsize=8)
def _fragments(drugs: tuple[str, ...]) -> tuple[str, ...]:
    from rdkit import Chem
    from rdkit.Chem import BRICS

    found: set[str] = set()
    for smiles in drugs:
        found |= BRICS.BRICSDecompose(  # type: ignore[no-untyped-call]
            Chem.MolFromSmiles(smiles), minFragmentSize=3
        )
    return tuple(sorted(text for text in found if "*" in text and Chem.MolFromSmiles(text) is not None))
