"""What a model hands in: a file of molecules for each on-target."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rdkit import Chem, rdBase

from bench.adapters.selectbench import Design
from bench.artifacts import MoleculeRecord, load_lines, load_sdf, load_smiles
from bench.datasets.selectbench.receptors import as_pdb
from bench.errors import InvalidOutput
from bench.spec import Artifact
from bench.tasks.selectbench.plan import CasePlan

SMILES_FILE, SDF_FILE, PACKED_FILE = "molecules.smi", "molecules.sdf", "molecules.sdf.gz"
GUIDANCE_FILE = "guidance.json"
_FORMS = (SMILES_FILE, SDF_FILE, PACKED_FILE)
_INVALID = "?"  # what stands in the file for a design without a usable molecule
MAX_HANDED_IN = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """The molecules handed in for one on-target, at most as many as were asked for."""

    output: Literal["2d", "3d"]
    records: tuple[MoleculeRecord, ...]


def write_designs(folder: Path, designs: Sequence[Any], output: str) -> None:
    """Write designs as they came; what is no molecule becomes a record that counts as invalid."""
    folder.mkdir(parents=True, exist_ok=True)
    if output == "3d":
        _write_sdf(folder / SDF_FILE, designs)
    else:
        lines = [_smiles_line(design) for design in designs]
        (folder / SMILES_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _smiles_line(design: Any) -> str:
    """A SMILES and the model's own score; one line, whatever a model returns."""
    text = design.smiles if isinstance(design, Design) else None
    if text is None and isinstance(design, Design) and isinstance(design.mol3d, Chem.Mol):
        text = _to_smiles(design.mol3d)
    if not isinstance(text, str) or not text.strip() or len(text.split()) > 1 or len(text) > 4_000:
        return _INVALID
    return f"{text.strip().encode('utf-8', 'replace').decode()}{_score_of(design)}"


def _to_smiles(mol: Chem.Mol) -> str | None:
    try:
        return str(Chem.MolToSmiles(Chem.RemoveHs(mol)))
    except (ValueError, RuntimeError):
        return None


def _score_of(design: Design) -> str:
    score = design.model_score
    return f" {float(score):.6g}" if isinstance(score, (int, float)) and math.isfinite(score) else ""


def _write_sdf(path: Path, designs: Sequence[Any]) -> None:
    block = rdBase.BlockLogs()
    try:
        with path.open("w", encoding="utf-8") as file:
            for design in designs:
                file.write(_sdf_record(design) + "$$$$\n")
    finally:
        del block


def _sdf_record(design: Any) -> str:
    mol = design.mol3d if isinstance(design, Design) else None
    empty = "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n"
    if not isinstance(mol, Chem.Mol) or mol.GetNumAtoms() == 0:
        return empty
    try:
        text = Chem.MolToMolBlock(mol) if mol.GetNumConformers() else Chem.MolToMolBlock(mol, confId=-1)
    except (ValueError, RuntimeError):
        return empty
    score = _score_of(design).strip()
    return str(text) + (f">  <model_score>\n{score}\n\n" if score else "")


def read_designs(artifact: Artifact, plan: CasePlan) -> dict[str, Handed]:
    """On-target -> what was handed in for it. A file that is no list of molecules raises `InvalidOutput`."""
    return {a.on: _read(artifact, plan, a.on) for a in plan.assignments}


def _read(artifact: Artifact, plan: CasePlan, on: str) -> Handed:
    names = artifact.names()
    folders = [f"{on}/"] + ([""] if len(plan.assignments) == 1 else [])
    found = [f"{folder}{form}" for folder in folders for form in _FORMS if f"{folder}{form}" in names]
    if not found:
        raise InvalidOutput(
            f"the artifact has no molecules for {on}: expected {on}/{SMILES_FILE} or {on}/{SDF_FILE}[.gz], "
            f"it has {', '.join(names[:10]) or 'no file'}"
        )
    if len(found) > 1:
        raise InvalidOutput(f"the artifact has both {found[0]} and {found[1]}; hand in one of them")
    path = artifact.path(found[0])
    if path.name == SMILES_FILE:
        records = load_smiles(path, strict=False, max_molecules=MAX_HANDED_IN)
        return Handed(output="2d", records=tuple(records[: plan.n]))
    records = load_sdf(path, strict=False, max_molecules=MAX_HANDED_IN)
    return Handed(output="3d", records=tuple(records[: plan.n]))


def write_guidance(folder: Path, guidance: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """On-target -> SMILES -> target -> the score that the oracle gave for it; for display only."""
    (folder / GUIDANCE_FILE).write_text(json.dumps(guidance, allow_nan=False), encoding="utf-8")


def read_guidance(artifact: Artifact) -> dict[str, dict[str, dict[str, float]]]:
    """What `write_guidance` wrote; empty for models that were not guided, and for files that are something else."""
    if GUIDANCE_FILE not in artifact.names():
        return {}
    try:
        lines = load_lines(artifact.path(GUIDANCE_FILE), max_lines=1, max_bytes=2**24, max_line_bytes=2**24)
        content = json.loads(lines[0])
        return {
            str(on): {str(s): {str(t): float(v) for t, v in scores.items()} for s, scores in rows.items()}
            for on, rows in content.items()
        }
    except (InvalidOutput, ValueError, AttributeError, TypeError, IndexError, RecursionError):
        return {}


def export(plan: CasePlan, drugs: Sequence[str], folder: Path) -> dict[str, Any]:
    """Write receptors and drugs for a model that is no Python class; returns the fields of `unit.json`."""
    for target, receptor in plan.receptors.items():
        (folder / f"{target}.pdbqt").write_bytes(receptor.path.read_bytes())
        (folder / f"{target}.pdb").write_text(as_pdb(receptor), encoding="ascii")
    (folder / "drugs.smi").write_text("".join(f"{smiles}\n" for smiles in drugs), encoding="ascii")
    return {
        "n": plan.n,
        "assignments": [{"on": a.on, "off": list(a.off), "seed": plan.seed_of(a)} for a in plan.assignments],
        "pockets": {
            target: {"center": r.center, "size": r.size, "uniprot": r.uniprot, "family": r.family}
            for target, r in plan.receptors.items()
        },
        "files": {
            "TARGET.pdbqt": "receptor with polar hydrogens, coordinates in Å",
            "TARGET.pdb": "the same atoms",
            "drugs.smi": "approved drugs, to learn from",
        },
        "output": {
            f"ON/{SMILES_FILE}": f"for each on-target ON {plan.n} SMILES, one a line",
            f"ON/{SDF_FILE}": "or instead: as many poses in the frame of ON.pdb",
        },
    }
