"""Poses that a 3D model handed in, judged as they are."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem, rdBase

from bench.datasets.selectbench.receptors import Receptor, as_pdb
from bench.metrics.selectbench.rates import median, share
from bench.tasks.selectbench.engines.vina import LigandError, pdbqt
from bench.tasks.selectbench.evaluate import Result
from bench.tasks.selectbench.molecules import Batch, Molecule
from bench.tasks.selectbench.settings import DockSettings

_REACH = 10.0  # Å outside the box that a pose may lie


def fault_of(mol: Chem.Mol, receptor: Receptor) -> str:
    """Why a conformer is no pose in this receptor; "" if it is one."""
    if mol.GetNumConformers() == 0 or not mol.GetConformer().Is3D():
        return "no 3D coordinates"
    positions = mol.GetConformer().GetPositions()
    if not np.isfinite(positions).all():
        return "coordinates that are not finite"
    if len(positions) > 1 and np.ptp(positions, axis=0).max() < 0.5:
        return "all atoms in one place"
    beyond = np.abs(positions - np.array(receptor.center)) - np.array(receptor.size) / 2
    return "outside the box" if beyond.max() > _REACH else ""


def pose_results(
    batches: Sequence[Batch],
    receptors: Mapping[str, Receptor],
    settings: DockSettings,
    limit: int,
    folder: Path,
) -> dict[str, Result]:
    """The metrics of poses over all assignments; of the first `limit` valid molecules of each PoseBusters sees."""
    if not any(batch.output == "3d" for batch in batches):
        reason = "no poses: the model hands in SMILES"
        return {"pb_valid": reason, "pose_score": reason}
    checked: list[bool] = []
    scores: list[float] = []
    for batch in batches:
        receptor = receptors[batch.assignment.on]
        there = [m for m in batch.molecules if m.record is not None and m.ligand is not None][:limit]
        good = [m for m in there if not fault_of(_mol(m), receptor)]
        scores += score_only([_mol(m) for m in good], receptor, settings)
        passed = busted([_mol(m) for m in good], receptor, folder)
        checked += (passed or []) + [False] * (len(there) - len(good)) if passed is not None else []
    return {
        "pb_valid": share(checked, requested=len(checked)) if checked else _reason(),
        "pose_score": median(scores) if scores else "no pose could be scored",
    }


def _reason() -> str:
    if importlib.util.find_spec("posebusters") is None:
        return "posebusters is not installed (pip install posebusters)"
    return "no valid pose was handed in"


def _mol(molecule: Molecule) -> Chem.Mol:
    assert molecule.record is not None
    assert molecule.record.mol is not None
    return molecule.record.mol


def score_only(mols: Sequence[Chem.Mol], receptor: Receptor, settings: DockSettings) -> list[float]:
    """Vina's score in kcal/mol of each pose as it is, in the shipped box; poses that Vina refuses are left out."""
    if not mols:
        return []
    from vina import Vina

    vina = Vina(sf_name="vina", cpu=1, seed=settings.seed, verbosity=0)
    vina.set_receptor(str(receptor.path))
    vina.compute_vina_maps(
        center=list(receptor.center), box_size=list(receptor.size), spacing=settings.spacing
    )
    found = []
    for mol in mols:
        try:
            vina.set_ligand_from_string(pdbqt(Chem.AddHs(mol, addCoords=True), -1))
            found.append(float(vina.score()[0]))
        except (
            LigandError,
            RuntimeError,
            ValueError,
            TypeError,
        ):  # outside the maps, or an atom without a type
            continue
    return found


def busted(mols: Sequence[Chem.Mol], receptor: Receptor, folder: Path) -> list[bool] | None:
    """Whether each pose passes all checks of PoseBusters "dock"; None if it is not installed."""
    if importlib.util.find_spec("posebusters") is None:
        return None
    if not mols:
        return []
    from posebusters import PoseBusters

    pdb = folder / f"{receptor.target}.pdb"
    pdb.write_text(as_pdb(receptor), encoding="ascii")
    block = rdBase.BlockLogs()
    try:
        table: Any = PoseBusters(config="dock").bust(list(mols), None, pdb, full_report=False)
    finally:
        del block
    return [bool(row) for row in table.all(axis=1)]
