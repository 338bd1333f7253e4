"""Charges at pH 7.4 by fixed rules, without any other program."""

from __future__ import annotations

from functools import lru_cache

from rdkit import Chem

RULES_VERSION = 1  # part of every cache key: raise it with any change of what is charged
_REACH = 3  # bonds within which there is only one charge of a sign

#: Atom 0 gives its proton away: carboxylic, phosphoric and sulfonic acids.
_ACIDS = ("[OX2H1][CX3]=[OX1]", "[OX2H1][PX4]=[OX1]", "[OX2H1][SX4](=[OX1])=[OX1]")
#: What makes a nitrogen too weak a base: a hetero-atom, an acyl, sulfonyl or cyano group at it.
_WEAK = "[#7;$([#7]~[!#6;!#1]),$([#7]-[CX3]=[O,S]),$([#7]-C#N)]"


def protonate(mol: Chem.Mol) -> Chem.Mol:
    """A copy of a neutral molecule (no explicit hydrogens) with its charges at pH 7.4.

    Acids become -1; guanidines, amidines and aliphatic amines +1, but not amides, sulfonamides, anilines, enamines
    or nitrogen bonded to a hetero-atom. Between two charges of one sign there are more than three bonds; of two
    candidates that are nearer the one with the lower atom number is charged, so canonical SMILES in, same out.
    """
    charged = Chem.RWMol(mol)
    distances = Chem.GetDistanceMatrix(mol)
    for sites, charge in ((_acids(mol), -1), (_bases(mol), 1)):
        taken: list[int] = []
        for index in sites:
            if any(distances[index][other] <= _REACH for other in taken):
                continue
            taken.append(index)
            atom = charged.GetAtomWithIdx(index)
            atom.SetFormalCharge(charge)
            atom.SetNumExplicitHs(atom.GetTotalNumHs() + charge)
            atom.SetNoImplicit(True)
    result = charged.GetMol()
    Chem.SanitizeMol(result)
    return result


def _acids(mol: Chem.Mol) -> list[int]:
    return sorted({match[0] for smarts in _ACIDS for match in mol.GetSubstructMatches(_pattern(smarts))})


def _bases(mol: Chem.Mol) -> list[int]:
    """Nitrogens that take a proton: first the imines of amidines and guanidines, then aliphatic amines."""
    weak = {match[0] for match in mol.GetSubstructMatches(_pattern(_WEAK))}
    candidates = [
        atom
        for atom in mol.GetAtoms()
        if atom.GetAtomicNum() == 7 and not atom.GetFormalCharge() and atom.GetIdx() not in weak
    ]
    imines = [atom.GetIdx() for atom in candidates if _is_imine_of_amidine(atom, weak)]
    return imines + [atom.GetIdx() for atom in candidates if _is_aliphatic_amine(atom)]


def _is_imine_of_amidine(atom: Chem.Atom, weak: set[int]) -> bool:
    """=N of a carbon with another nitrogen, none of them weakened; not within an aromatic ring."""
    if atom.GetIsAromatic():
        return False
    for bond in atom.GetBonds():
        carbon = bond.GetOtherAtom(atom)
        if bond.GetBondType() == Chem.BondType.DOUBLE and carbon.GetAtomicNum() == 6:
            others = [
                n for n in carbon.GetNeighbors() if n.GetAtomicNum() == 7 and n.GetIdx() != atom.GetIdx()
            ]
            return bool(others) and not any(n.GetIdx() in weak for n in others)
    return False


def _is_aliphatic_amine(atom: Chem.Atom) -> bool:
    """Three single bonds, to hydrogens and saturated carbons only."""
    neighbors = atom.GetNeighbors()
    return (
        bool(neighbors)
        and atom.GetTotalDegree() == 3
        and not atom.GetIsAromatic()
        and all(n.GetAtomicNum() == 6 and n.GetTotalDegree() == 4 for n in neighbors)
    )


@lru_cache(maxsize=16)
def _pattern(smarts: str) -> Chem.Mol:
    return Chem.MolFromSmarts(smarts)
