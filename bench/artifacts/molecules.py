"""Reading molecules from SMILES and SDF files, one record at a time, with limits on everything."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from bench.artifacts.files import open_plain
from bench.artifacts.texts import load_lines
from bench.errors import InvalidOutput

if TYPE_CHECKING:
    from rdkit import Chem

MAX_MOLECULE_BYTES = 2**30  # of a file, compressed or not
MAX_MOLECULES = 1_000_000
MAX_ATOMS = 1_000  # of one molecule, hydrogens included: sanitising is worse than linear
MAX_SMILES_BYTES = 8_192
MAX_RECORD_BYTES = 2**20
_REASON = re.compile(r"\[[\d:]+\]\s*")
_NOISE = re.compile(r"[*\s]*|(Pre|Post)-condition Violation|Invariant Violation")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoleculeRecord:
    """One record of a file. Either `mol` is there or `fault` says, with file, record and line, why not."""

    number: int  # of the record, from 1
    line: int  # where it begins, from 1
    name: str
    text: str  # the SMILES; "" for SDF
    mol: Chem.Mol | None  # sanitised; of an SDF with all its hydrogens and its conformer
    fault: str = ""
    fields: dict[str, str] = field(default_factory=dict)  # the data items of an SDF record


def load_smiles(
    path: Path,
    *,
    strict: bool = True,
    max_molecules: int = MAX_MOLECULES,
    max_atoms: int = MAX_ATOMS,
    max_bytes: int = MAX_MOLECULE_BYTES,
) -> list[MoleculeRecord]:
    """The records of a .smi file: a SMILES a line, then, after white space, a name or nothing.

    With `strict` the first line that is no molecule (empty, unparsable, more than `max_atoms` atoms) raises
    `InvalidOutput` naming file, record and line; else it becomes a record with a `fault`, so that it can be
    counted. What is wrong with the file itself always raises. Extensions in bars (CXSMILES) are not read.
    """
    lines = load_lines(path, max_lines=max_molecules, max_line_bytes=MAX_SMILES_BYTES, max_bytes=max_bytes)
    records = []
    for number, line in enumerate(lines, 1):
        text, _, name = line.strip().partition(" ") if " " in line.strip() else line.strip().partition("\t")
        mol, reason = _parsed(text, _from_smiles, max_atoms) if text else (None, "the line is empty")
        place = f"{path.name}, record {number} (line {number})"
        records.append(_record(number, number, name.strip(), mol, place, reason, strict, text=text))
    return records


def load_sdf(
    path: Path,
    *,
    strict: bool = True,
    max_molecules: int = MAX_MOLECULES,
    max_atoms: int = MAX_ATOMS,
    max_bytes: int = MAX_MOLECULE_BYTES,
) -> list[MoleculeRecord]:
    """The records of a .sdf or .sdf.gz file (V2000 or V3000), hydrogens and coordinates as they are.

    Limits hold for the unpacked file as well. `strict` and errors as in `load_smiles`; a record of more than
    1 MiB is an error of the file.
    """
    records = []
    for number, (line, block) in enumerate(_blocks(path, max_molecules, max_bytes), 1):
        place = f"{path.name}, record {number} (line {line})"
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            records.append(_record(number, line, "", None, place, f"not UTF-8 at byte {error.start}", strict))
            continue
        mol, reason = _parsed(text, _from_block, max_atoms)
        name = text.partition("\n")[0].strip()
        records.append(_record(number, line, name, mol, place, reason, strict, fields=_fields(text)))
    return records


def parse_smiles(text: str, *, max_atoms: int = MAX_ATOMS) -> tuple[Chem.Mol | None, str]:
    """(molecule, "") or (None, reason) of one SMILES from a stranger; says nothing on standard error."""
    text = text.strip()
    if not text:
        return None, "the SMILES is empty"
    if len(text.split()) > 1:  # RDKit would take the rest for a name or an extension
        return None, "there is white space within the SMILES"
    if len(text) > MAX_SMILES_BYTES:
        return None, f"the SMILES has {len(text)} characters; at most {MAX_SMILES_BYTES} are read"
    return _parsed(text, _from_smiles, max_atoms)


def _record(
    number: int,
    line: int,
    name: str,
    mol: Chem.Mol | None,
    place: str,
    reason: str,
    strict: bool,
    *,
    text: str = "",
    fields: dict[str, str] | None = None,
) -> MoleculeRecord:
    fault = f"{place}: {reason}" if reason else ""
    if fault and strict:
        raise InvalidOutput(fault)
    return MoleculeRecord(
        number=number, line=line, name=name, text=text, mol=mol, fault=fault, fields=fields or {}
    )


def _blocks(path: Path, max_molecules: int, max_bytes: int) -> Iterator[tuple[int, bytes]]:
    """(line of its beginning, bytes without the closing "$$$$") of every record."""
    with open_plain(path, max_bytes) as file:
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file
        try:
            for count, (line, block) in enumerate(_split(stream, path.name, max_bytes), 1):
                if count > max_molecules:
                    raise InvalidOutput(f"{path.name} has more than {max_molecules} records")
                yield line, block
        except (EOFError, zlib.error, OSError) as error:
            raise InvalidOutput(f"{path.name} can't be unpacked: {error}") from None


def _split(stream: IO[bytes], file: str, max_bytes: int) -> Iterator[tuple[int, bytes]]:
    start, number, total, block = 1, 0, 0, bytearray()
    while raw := stream.readline(MAX_RECORD_BYTES + 1):
        number += 1
        total += len(raw)
        if total > max_bytes:
            raise InvalidOutput(f"{file} unpacks to more than {max_bytes} bytes")
        if raw.rstrip() == b"$$$$":
            yield start, bytes(block)
            start, block = number + 1, bytearray()
            continue
        block += raw
        if len(block) > MAX_RECORD_BYTES:
            raise InvalidOutput(f"{file}:{start}: the record is over {MAX_RECORD_BYTES} bytes")
    if block.strip():  # the last record, or a mol file: nothing closes it
        yield start, bytes(block)


def _fields(text: str) -> dict[str, str]:
    """The data items after "M  END": "> <name>", lines, an empty line."""
    items: dict[str, str] = {}
    _, _, rest = text.partition("M  END")
    for part in re.split(r"\n(?=>)", rest):
        head, _, body = part.partition("\n")
        found = re.search(r"<([^<>]*)>", head) if head.startswith(">") else None
        if found:
            items[found.group(1)] = body.strip()
    return items


def _from_smiles(text: str, sanitize: bool) -> Chem.Mol | None:
    from rdkit import Chem

    return Chem.MolFromSmiles(text, sanitize=sanitize)


def _from_block(text: str, sanitize: bool) -> Chem.Mol | None:
    from rdkit import Chem

    return Chem.MolFromMolBlock(text, sanitize=sanitize, removeHs=False, strictParsing=True)


def _parsed(
    text: str, parse: Callable[[str, bool], Chem.Mol | None], max_atoms: int
) -> tuple[Chem.Mol | None, str]:
    """(molecule, "") or (None, reason). Sizes are looked at before anything costly is done."""
    from rdkit import rdBase

    block = rdBase.BlockLogs()
    try:
        with rdBase.CaptureErrorLog() as log:
            raw = parse(text, False)
            fault = _oversize(raw, max_atoms) if raw is not None else ""
            mol = parse(text, True) if raw is not None and not fault else None
    except (RuntimeError, ValueError) as error:  # what RDKit's invariants become
        return None, _reason(str(error))
    finally:
        del block
    if mol is not None:
        return mol, ""
    return None, fault or _reason(log.messages)


def _oversize(mol: Chem.Mol, max_atoms: int) -> str:
    atoms, bonds = mol.GetNumAtoms(), mol.GetNumBonds()
    if atoms == 0:
        return "there is no atom"
    if atoms > max_atoms:
        return f"{atoms} atoms; at most {max_atoms} are read"
    if bonds > 2 * atoms:  # no organic molecule; perceiving its rings could take for ever
        return f"{bonds} bonds between {atoms} atoms"
    return ""


def _reason(log: str) -> str:
    """The first telling line of what RDKit said, without time, trace and control characters."""
    for line in _REASON.sub("", log).splitlines():
        words = "".join(c if c.isprintable() else "?" for c in line).strip()
        if not _NOISE.fullmatch(words):
            return words[:300]
    return "not a molecule that RDKit can read"
