"""Writes the hashes of artifacts into the card that declares them."""

from __future__ import annotations

import dataclasses
import os
import re
import secrets
import tomllib
from collections.abc import Iterable
from pathlib import Path

from bench.artifacts import artifact_digest
from bench.errors import InvalidOutput, UsageError
from bench.submissions.card import CARD, read_card
from bench.submissions.units import declared_units, is_head
from bench.work import DeclaredUnit

_SHA256_LINE = re.compile(r"\s*sha256\s*=")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What sealing found: units by what became of their hash."""

    filled: tuple[DeclaredUnit, ...]  # it was empty
    changed: tuple[DeclaredUnit, ...]  # it was another one
    kept: tuple[DeclaredUnit, ...]
    absent: tuple[DeclaredUnit, ...]  # there is no artifact; the unit counts as not declared


def seal(folder: Path, *, only_missing: bool = False) -> Sealed:
    """Set `sha256` of every [[units]] table in `folder`/submission.toml to the hash of its artifact.

    Nothing else in the file is touched; with `only_missing`, nor is a hash that is there, right or wrong.
    Raises `UsageError` for an artifact with links or special files, and
    for a card that is written in a way that cannot be edited line by line; nothing is written then.
    """
    card = read_card(folder / CARD)
    if card.kind != "artifacts":
        raise UsageError(
            f"{card.where}: only a card of kind 'artifacts' has hashes to seal, not {card.kind!r}"
        )
    units = declared_units(card)
    hashes = [_hash(folder, unit) for unit in units]
    written = [
        unit.sha256 if only_missing and unit.sha256 else found
        for unit, found in zip(units, hashes, strict=True)
    ]
    text = _edited(card.text, written)
    wanted = [{**table, "sha256": sha256} for table, sha256 in zip(card.data["units"], written, strict=True)]
    try:
        is_right = tomllib.loads(text) == {**card.data, "units": wanted}
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise UsageError(
            f"{card.where}: cannot be edited line by line; write each unit as a [[units]] table with one line a key"
        )
    if text != card.text:
        _replace(folder / CARD, text)
    return _sorted_out(units, hashes)


def _hash(folder: Path, unit: DeclaredUnit) -> str:
    path = folder / unit.path
    if not os.path.lexists(path):
        return ""
    try:
        sha256, size = artifact_digest(path)
    except InvalidOutput as error:
        raise UsageError(f"artifact {unit.path}: {error}") from None
    if not size:
        raise UsageError(f"artifact {unit.path} holds no data; remove the folder or fill it")
    return sha256


def _edited(text: str, hashes: Iterable[str]) -> str:
    """`text` with the hashes of its [[units]] tables, in order."""
    lines: list[str] = []
    waiting = iter(hashes)
    current: str | None = None  # the hash that the present table still lacks
    for line in text.splitlines(keepends=True):
        is_table = line.lstrip().startswith("[")
        if is_table and current is not None:
            _insert(lines, current)
            current = None
        if is_head(line):
            current = next(waiting, None)
        elif current is not None and _SHA256_LINE.match(line):
            line, current = f'sha256 = "{current}"\n', None
        lines.append(line)
    if current is not None:
        _insert(lines, current)
    return "".join(lines)


def _insert(lines: list[str], sha256: str) -> None:
    """Add a hash to the table that ends here, before the empty lines and comments behind it."""
    place = len(lines)
    while place and (not lines[place - 1].strip() or lines[place - 1].lstrip().startswith("#")):
        place -= 1
    if place and not lines[place - 1].endswith("\n"):
        lines[place - 1] += "\n"
    lines.insert(place, f'sha256 = "{sha256}"\n')


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _sorted_out(units: Iterable[DeclaredUnit], hashes: Iterable[str]) -> Sealed:
    groups: dict[str, list[DeclaredUnit]] = {"filled": [], "changed": [], "kept": [], "absent": []}
    for unit, sha256 in zip(units, hashes, strict=True):
        if not sha256:
            group = "absent"
        elif unit.sha256 == sha256:
            group = "kept"
        else:
            group = "changed" if unit.sha256 else "filled"
        groups[group].append(dataclasses.replace(unit, sha256=sha256))
    return Sealed(**{name: tuple(found) for name, found in groups.items()})
