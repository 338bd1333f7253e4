"""Start conformers. Vina keeps rings rigid, so which ring forms are tried decides the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rdkit import Chem, rdBase
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers, rdMolDescriptors

from bench.tasks.selectbench.protonate import protonate
from bench.tasks.selectbench.settings import DockSettings

_SAME_RING = 0.3  # Å, RMSD of a ring system below which two conformers count as one
_STEPS = 200  # of minimisation
Coordinates = npt.NDArray[np.float64]


class EmbedFailure(Exception):
    """No 3D structure of a molecule could be made."""


@dataclass(frozen=True, slots=True, eq=False)
class Conformers:
    """A protonated molecule with hydrogens; `chosen` are the ids of its start conformers, best first."""

    mol: Chem.Mol
    chosen: tuple[int, ...]
    extent: float  # Å, the longest distance between two atoms
    torsions: int
    flags: tuple[str, ...]  # "no_ff": there is no force field for it; "random_coords"


def start_conformers(smiles: str, settings: DockSettings) -> Conformers:
    """Embed, minimise and choose conformers of a standardised molecule; `EmbedFailure` if there are none.

    ETKDGv3, then MMFF94, else UFF, else as embedded. Of a molecule with flexible rings one conformer of each
    ring form is kept, lowest energy first; what is missing is filled with the most different conformers.
    """
    mol = Chem.AddHs(protonate(Chem.MolFromSmiles(smiles)))
    block = rdBase.BlockLogs()
    try:
        flags = _embed(mol, settings)
        energies, more = _minimised(mol)
    finally:
        del block
    rings = _flexible_rings(mol)
    wanted = settings.flexible if rings else settings.conformers
    positions = np.stack([c.GetPositions() for c in mol.GetConformers()])
    order = np.argsort(energies, kind="stable")
    chosen = _choose(positions, order, rings, _heavy(mol), wanted)
    ids = [c.GetId() for c in mol.GetConformers()]
    return Conformers(
        mol=mol,
        chosen=tuple(ids[i] for i in chosen),
        extent=max(_extent(positions[i]) for i in chosen),
        torsions=int(rdMolDescriptors.CalcNumRotatableBonds(mol)),
        flags=flags + more,
    )


def _embed(mol: Chem.Mol, settings: DockSettings) -> tuple[str, ...]:
    options: Any = rdDistGeom.ETKDGv3()
    options.randomSeed = settings.embed_seed
    options.maxIterations = 50
    options.numThreads = 1
    for random in (False, True):
        options.useRandomCoords = random
        if len(rdDistGeom.EmbedMultipleConfs(mol, settings.embeddings, options)):
            return ("random_coords",) if random else ()
    raise EmbedFailure("no 3D structure could be embedded, not from random coordinates either")


def _minimised(mol: Chem.Mol) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """(energy of each conformer, flags); conformers are minimised in place."""
    if rdForceFieldHelpers.MMFFHasAllMoleculeParams(mol):
        results = rdForceFieldHelpers.MMFFOptimizeMoleculeConfs(mol, numThreads=1, maxIters=_STEPS)
    elif rdForceFieldHelpers.UFFHasAllMoleculeParams(mol):
        results = rdForceFieldHelpers.UFFOptimizeMoleculeConfs(mol, numThreads=1, maxIters=_STEPS)
    else:
        return np.zeros(mol.GetNumConformers()), ("no_ff",)
    energies = np.array([energy for _, energy in results])
    return np.where(np.isfinite(energies), energies, np.inf), ()


def _flexible_rings(mol: Chem.Mol) -> list[npt.NDArray[np.int64]]:
    """Atoms of each flexible ring and the heavy atoms bonded to it (they tell axial from equatorial)."""
    found = []
    for ring in mol.GetRingInfo().AtomRings():
        atoms = [mol.GetAtomWithIdx(i) for i in ring]
        saturated = sum(a.GetHybridization() == Chem.HybridizationType.SP3 for a in atoms)
        if len(ring) >= 5 and saturated >= 2:
            around = {n.GetIdx() for a in atoms for n in a.GetNeighbors() if n.GetAtomicNum() > 1}
            found.append(np.array(sorted({*ring, *around})))
    return found


def _choose(
    positions: Coordinates,
    order: npt.NDArray[np.int64],
    rings: list[npt.NDArray[np.int64]],
    heavy: npt.NDArray[np.int64],
    wanted: int,
) -> list[int]:
    chosen = [int(order[0])]
    for index in map(int, order[1:]) if rings else ():
        if len(chosen) >= wanted:
            break
        if all(_ring_distance(positions[index], positions[old], rings) > _SAME_RING for old in chosen):
            chosen.append(index)
    wanted = min(wanted, max(2, len(chosen)), len(order))  # one ring form: two conformers are enough
    while len(chosen) < wanted:
        rest = [int(i) for i in order if int(i) not in chosen]
        chosen.append(
            max(rest, key=lambda i: min(rmsd(positions[i][heavy], positions[j][heavy]) for j in chosen))
        )
    return chosen


def _ring_distance(first: Coordinates, second: Coordinates, rings: list[npt.NDArray[np.int64]]) -> float:
    return max(rmsd(first[ring], second[ring]) for ring in rings)


def rmsd(first: Coordinates, second: Coordinates) -> float:
    """Root mean square deviation in Å of two (n, 3) arrays after the best superposition (Kabsch)."""
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    u, values, vt = np.linalg.svd(a.T @ b)
    values[-1] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))
    squared = (a**2).sum() + (b**2).sum() - 2 * values.sum()
    return float(np.sqrt(max(0.0, squared / len(a))))


def _heavy(mol: Chem.Mol) -> npt.NDArray[np.int64]:
    return np.array([a.GetIdx() for a in mol.GetAtoms() if a.GetAtomicNum() > 1])


def _extent(positions: Coordinates) -> float:
    return float(np.sqrt(((positions[:, None] - positions[None]) ** 2).sum(-1).max()))
