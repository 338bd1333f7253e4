"""One molecule as handed in -> the neutral parent that is scored, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rdkit import Chem, rdBase
from rdkit.Chem import rdMolDescriptors
from rdkit.Chem.MolStandardize import rdMolStandardize

from bench.artifacts import parse_smiles

Reason = Literal["parse", "fragments", "mixture", "radical", "element", "size"]
ELEMENTS = frozenset({1, 6, 7, 9, 8, 15, 16, 17, 35, 53})
MIN_HEAVY, MAX_HEAVY, MAX_ROTATABLE = 6, 70, 20
#: Neutral forms of organic counter-ions and solvents; what has no carbon counts as one, too.
_COMPANIONS = (
    "OC=O", "CC(=O)O", "OC(=O)C(F)(F)F", "CCC(=O)O", "OC(=O)C(=O)O", "OC(=O)CC(=O)O", "OC(=O)CCC(=O)O",
    "OC(=O)C=CC(=O)O", "OC(=O)C(O)C(O)C(=O)O", "OC(=O)CC(O)C(=O)O", "OC(=O)CC(O)(CC(=O)O)C(=O)O", "CC(O)C(=O)O",
    "OCC(O)C(O)C(O)C(O)C(=O)O", "OC(=O)c1ccccc1", "OC(=O)c1ccccc1O", "OC(=O)c1ccc2ccccc2c1O",
    "CS(=O)(=O)O", "CCS(=O)(=O)O", "OCCS(=O)(=O)O", "OS(=O)(=O)c1ccccc1", "Cc1ccc(cc1)S(=O)(=O)O",
    "OS(=O)(=O)C(F)(F)F", "OS(=O)(=O)CCS(=O)(=O)O", "OC(=O)O", "CN", "CNC", "CCN(CC)CC", "NCCO", "OCCNCCO",
    "NCCN", "NC(CO)(CO)CO", "CNCC(O)C(O)C(O)C(O)CO", "C[N+](C)(C)CCO", "CO", "CCO", "CC(C)O", "CC(C)=O",
    "CC#N", "CS(C)=O", "CN(C)C=O", "CCOC(C)=O", "CCOCC", "C1CCOC1", "C1COCCO1", "ClCCl", "ClC(Cl)Cl",
    "Cc1ccccc1", "c1ccncc1", "c1ccccc1",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ligand:
    """A molecule ready to be prepared: one neutral organic fragment, its SMILES isomeric and canonical."""

    smiles: str
    inchikey: str
    heavy_atoms: int
    flags: tuple[str, ...] = ()  # "desalted", "isotope"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why a molecule is not scored."""

    reason: Reason
    detail: str


def standardize(design: Chem.Mol | str | None, *, output: Literal["2d", "3d"] = "2d") -> Ligand | Rejection:
    """The parent of a SMILES or a sanitised molecule.

    A 3D output of several pieces is rejected as `fragments`, whatever the pieces are: keeping the largest would
    hide that a model broke its molecule. In a 2D output counter-ions and solvents are taken off.
    """
    mol, detail = parse_smiles(design) if isinstance(design, str) else (design, "there is no molecule")
    if mol is None or mol.GetNumAtoms() == 0:
        return Rejection(reason="parse", detail=detail)
    block = rdBase.BlockLogs()
    try:
        return _standardized(Chem.RemoveHs(mol), output)
    except Exception as error:  # RDKit's standardiser raises nearly anything on a molecule of nobody's making
        return Rejection(reason="parse", detail=f"{type(error).__name__}: {error}"[:200])
    finally:
        del block


def _standardized(mol: Chem.Mol, output: str) -> Ligand | Rejection:
    flags: list[str] = []
    if any(atom.GetAtomicNum() == 0 for atom in mol.GetAtoms()):
        return Rejection(reason="element", detail="a dummy atom")
    pieces = Chem.GetMolFrags(mol, asMols=True)
    if len(pieces) > 1:
        if output == "3d":
            return Rejection(reason="fragments", detail=f"{len(pieces)} pieces")
        main = _main_piece(pieces)
        if main is None:
            return Rejection(
                reason="mixture", detail=f"{len(pieces)} pieces, more than one of them a molecule"
            )
        mol = main
        flags.append("desalted")
    if _strip_isotopes(mol):
        flags.append("isotope")
        mol = Chem.RemoveHs(mol)
    fault = _fault(mol)
    if fault is not None:
        return fault
    parent = Chem.MolFromSmiles(Chem.MolToSmiles(rdMolStandardize.Uncharger().uncharge(mol)))
    if parent is None:
        return Rejection(reason="parse", detail="not readable once neutralised")
    return _sized(parent, tuple(flags))


def _fault(mol: Chem.Mol) -> Rejection | None:
    for atom in mol.GetAtoms():
        if atom.GetAtomicNum() not in ELEMENTS:
            return Rejection(reason="element", detail=f"the element {atom.GetSymbol()}")
    if any(atom.GetNumRadicalElectrons() for atom in mol.GetAtoms()):
        return Rejection(reason="radical", detail="an unpaired electron")
    return None


def _sized(parent: Chem.Mol, flags: tuple[str, ...]) -> Ligand | Rejection:
    heavy, rotatable = parent.GetNumHeavyAtoms(), rdMolDescriptors.CalcNumRotatableBonds(parent)
    if not MIN_HEAVY <= heavy <= MAX_HEAVY:
        return Rejection(reason="size", detail=f"{heavy} heavy atoms; {MIN_HEAVY} to {MAX_HEAVY} are docked")
    if rotatable > MAX_ROTATABLE:
        return Rejection(
            reason="size", detail=f"{rotatable} rotatable bonds; at most {MAX_ROTATABLE} are docked"
        )
    inchikey = Chem.MolToInchiKey(parent)  # type: ignore[no-untyped-call]
    if not inchikey:
        return Rejection(reason="parse", detail="no InChI can be made")
    return Ligand(smiles=Chem.MolToSmiles(parent), inchikey=inchikey, heavy_atoms=heavy, flags=flags)


def _strip_isotopes(mol: Chem.Mol) -> bool:
    labelled = [atom for atom in mol.GetAtoms() if atom.GetIsotope()]
    for atom in labelled:
        atom.SetIsotope(0)
    return bool(labelled)


def _main_piece(pieces: tuple[Chem.Mol, ...]) -> Chem.Mol | None:
    """The largest organic piece if all others go along with it; else None."""
    organic = [p for p in pieces if any(a.GetAtomicNum() == 6 for a in p.GetAtoms())]
    if not organic:
        return None
    main = max(organic, key=lambda p: (p.GetNumHeavyAtoms(), Chem.MolToSmiles(p)))
    same = _flat(main)
    others = [p for p in pieces if p is not main and _flat(p) != same]  # a salt may hold the molecule twice
    return main if all(_goes_along(p) for p in others) else None


def _goes_along(piece: Chem.Mol) -> bool:
    inorganic = not any(a.GetAtomicNum() == 6 for a in piece.GetAtoms())
    return (inorganic and piece.GetNumHeavyAtoms() <= 7) or _flat(piece) in _companions()


def _flat(mol: Chem.Mol) -> str:
    return str(Chem.MolToSmiles(rdMolStandardize.Uncharger().uncharge(mol), isomericSmiles=False))


@lru_cache(maxsize=1)
def _companions() -> frozenset[str]:
    return frozenset(_flat(Chem.MolFromSmiles(smiles)) for smiles in _COMPANIONS)
