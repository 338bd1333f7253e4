"""Adapters of the family `selectbench` for molecules made by other programs: a command line, or a folder of files.

class Mine(SdfCommand):
    command = "python sample.py --pdb {receptor_pdb} --center {cx} {cy} {cz} -n {n} --seed {seed} --out {out_sdf}"

class Made(SdfFolder):
    path = "molecules"  # molecules/<case>/<ON>.sdf, .sdf.gz or .smi, beside the file in which the class stands
"""

from __future__ import annotations

import inspect
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.artifacts import MoleculeRecord, load_sdf, load_smiles
from bench.errors import InvalidOutput, UsageError

_PLACES = (
    "receptor_pdb",
    "receptor_pdbqt",
    "cx",
    "cy",
    "cz",
    "sx",
    "sy",
    "sz",
    "n",
    "seed",
    "device",
    "out_sdf",
)


class SdfCommand(MoleculeGenerator):
    """Runs a program for each request and reads the poses that it writes.

    The placeholders are those of `_PLACES`: receptor files, center and edges of the box in Å, how many molecules, the
    seed, the device, and the SDF to write. The command is split as a shell would and run without one.
    """

    command: ClassVar[str] = ""
    output: ClassVar[Literal["2d", "3d"]] = "3d"
    timeout_s: ClassVar[float] = 3600.0

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """`InvalidOutput` if the program fails, takes too long or writes no readable file."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "molecules.sdf")
            _run(self._words(request, out), self.timeout_s)
            return [_design(record) for record in load_sdf(out, strict=False)]

    def _words(self, request: DesignRequest, out: Path) -> list[str]:
        pocket = request.on
        values = (
            pocket.receptor_pdb, pocket.receptor_pdbqt, *pocket.center, *pocket.size, request.n, request.seed,
            request.device, out,
        )  # fmt: skip
        words = shlex.split(self.command)
        if not words:
            raise UsageError(f"{type(self).__name__} names no command; set `command`")
        try:
            return [word.format_map(dict(zip(_PLACES, values, strict=True))) for word in words]
        except (KeyError, ValueError, IndexError) as error:
            raise UsageError(f"command of {type(self).__name__}: {error}; use {', '.join(_PLACES)}") from None


class SdfFolder(MoleculeGenerator):
    """Hands in molecules that were made before: a file for each case and on-target below a folder."""

    path: ClassVar[str] = ""
    output: ClassVar[Literal["2d", "3d"]] = "3d"

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """The first records of the file; `InvalidOutput` if there is none. The seed is not used."""
        folder = Path(inspect.getfile(type(self))).parent / self.path / request.case
        names = [f"{request.on.target_id}{suffix}" for suffix in (".sdf", ".sdf.gz", ".smi")]
        found = [folder / name for name in names if (folder / name).is_file()]
        if not found:
            raise InvalidOutput(f"{folder} has none of {', '.join(names)}")
        read = load_smiles if found[0].suffix == ".smi" else load_sdf
        return [_design(record) for record in read(found[0], strict=False)[: request.n]]


def _design(record: MoleculeRecord) -> Design:
    """A record as a design; one that cannot be read stays one that counts as invalid."""
    return Design(smiles=record.text or None, mol3d=None if record.text else record.mol)


def _run(words: list[str], timeout_s: float) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise InvalidOutput(f"{words[0]} took more than {timeout_s:g} s") from None
    except OSError as error:
        raise InvalidOutput(f"{words[0]} can't be run: {error.strerror}") from None
    if done.returncode:
        raise InvalidOutput(
            f"{words[0]} ended with exit code {done.returncode}: {done.stderr[-500:].strip()}"
        )
