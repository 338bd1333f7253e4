"""Receptors: the prepared files inside the package `dockstring`, read without importing it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

from bench.datasets import packaged
from bench.datasets.selectbench.targets import CLASS_OF, UNIPROT
from bench.errors import MissingRequirement

PACKAGE = "dockstring"
_FOLDER = "resources/targets"
_KEYS = tuple(f"{what}_{axis}" for what in ("center", "size") for axis in "xyz")
Triple = tuple[float, float, float]


class ReceptorError(MissingRequirement):
    """A receptor file is missing or is none; the message names the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receptor:
    """A rigid receptor with polar hydrogens, and where to dock; lengths in Å."""

    target: str
    path: Path  # pdbqt
    sha256: str  # of that file
    center: Triple
    size: Triple  # edges of the shipped box
    uniprot: str
    family: str


def absence() -> str | None:
    """None if the receptors are installed, else why not and the remedy."""
    return packaged.absence(PACKAGE, f"{_FOLDER}/ABL1_target.pdbqt", PACKAGE)


def load_receptor(target: str) -> Receptor:
    """The receptor of `target`; `ReceptorError` if its files are missing or do not fit each other."""
    names = (f"{_FOLDER}/{target}_target.pdbqt", f"{_FOLDER}/{target}_conf.txt")
    try:
        path, box = (packaged.path(PACKAGE, name, PACKAGE) for name in names)
    except MissingRequirement as error:
        raise ReceptorError(str(error)) from None
    center, size = read_box(box)
    return checked_receptor(
        path, target=target, center=center, size=size, uniprot=UNIPROT[target], family=CLASS_OF[target]
    )


def checked_receptor(
    path: Path, *, target: str, center: Triple, size: Triple, uniprot: str = "", family: str = ""
) -> Receptor:
    """A receptor from a pdbqt file, once its box is found to overlap its atoms."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReceptorError(f"receptor {path} cannot be read: {error.strerror}") from None
    atoms = [xyz for *_, xyz in atom_lines(content.decode("ascii", "replace"), path)]
    if not atoms:
        raise ReceptorError(f"receptor {path} has no atoms")
    if not any(all(abs(atom[k] - center[k]) <= size[k] / 2 for k in range(3)) for atom in atoms):
        raise ReceptorError(f"receptor {path}: no atom lies in the box of {size} Å at {center}")
    return Receptor(
        target=target,
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        center=center,
        size=size,
        uniprot=uniprot,
        family=family,
    )


def read_box(path: Path) -> tuple[Triple, Triple]:
    """Center and edges from a configuration file of Vina; `ReceptorError` if one of them is not there."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReceptorError(f"box {path} cannot be read: {error}") from None
    pairs = dict(line.split("=", 1) for line in lines if "=" in line)
    found = {key.strip(): value.strip() for key, value in pairs.items()}
    try:
        numbers = [float(found[key]) for key in _KEYS]
    except (KeyError, ValueError) as error:
        raise ReceptorError(f"box {path}: no number for {error}") from None
    if not all(map(math.isfinite, numbers)) or min(numbers[3:]) <= 0:
        raise ReceptorError(f"box {path}: center and edges must be finite, edges above 0")
    return (numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4], numbers[5])


def atom_lines(text: str, path: Path) -> list[tuple[str, str, Triple]]:
    """(line, AutoDock atom type, coordinates) of every atom of a pdbqt text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("ATOM", "HETATM")):
            try:
                xyz = (float(line[30:38]), float(line[38:46]), float(line[46:54]))
            except ValueError:
                raise ReceptorError(f"receptor {path}, line {number}: no coordinates") from None
            found.append((line, line[77:79].strip(), xyz))
    return found


_ELEMENTS = {"A": "C", "NA": "N", "NS": "N", "OA": "O", "OS": "O", "SA": "S", "HD": "H", "HS": "H"}


def as_pdb(receptor: Receptor) -> str:
    """The receptor's atoms as PDB text with the element column, for programs that read no pdbqt."""
    lines = []
    for line, kind, _ in atom_lines(receptor.path.read_text(encoding="ascii"), receptor.path):
        element = _ELEMENTS.get(kind.upper(), kind)
        lines.append(f"{line[:66]:<76}{element.upper():>2}")
    return "\n".join([*lines, "END", ""])
