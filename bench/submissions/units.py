"""Artifacts made elsewhere: which unit each was made for, and which of them a planned job takes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from bench.errors import UsageError
from bench.registry import Registered
from bench.spec import SIZES, ModelInfo, Unit, check_name
from bench.submissions.card import Card, unknown_key
from bench.work import DeclaredUnit, Source

NO_ARTIFACT = "the submission has no artifact for this unit"
WHOLE_UNITS = "artifacts made elsewhere are for whole units; run without --limit"
MAX_UNITS = 10_000
_ABSENT = "0" * 64  # stands for the hash of an artifact that is not there
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_KEYS = tuple(DeclaredUnit.__dataclass_fields__)


def declared_units(card: Card) -> tuple[DeclaredUnit, ...]:
    """The [[units]] of a card, checked one by one."""
    tables = card.get("units", list, [])
    if not tables:
        raise UsageError(f"{card.where}: a card of kind 'artifacts' needs at least one [[units]] table")
    if len(tables) > MAX_UNITS:
        raise UsageError(f"{card.where}: {len(tables)} units; at most {MAX_UNITS} are allowed")
    units = [_unit(card, index, table) for index, table in enumerate(tables)]
    seen: dict[Any, int] = {}
    for index, unit in enumerate(units):
        for what in ((unit.task, unit.dataset, unit.size, unit.repeat, unit.seed), ("path", unit.path)):
            first = seen.setdefault(what, index)
            if first != index:
                raise UsageError(
                    f"{_place(card, index)}: the same unit or path as the [[units]] table {first + 1}"
                )
    return tuple(units)


def check_folders(card: Card, folder: Path, units: tuple[DeclaredUnit, ...]) -> None:
    """Every artifact that is there has been sealed; every sealed one is there."""
    for index, unit in enumerate(units):
        is_there = (folder / unit.path).is_dir()
        if is_there and not unit.sha256:
            raise UsageError(f"{_place(card, index)}: 'sha256' is empty; `bench seal {folder}` fills it in")
        if unit.sha256 and not is_there:
            raise UsageError(f"{_place(card, index)}: there is no folder {unit.path!r}")


def for_unit(model: Registered[ModelInfo], unit: Unit, suite_seed: int) -> tuple[Registered[ModelInfo], str]:
    """`model` with the artifact for `unit` as its source, and "" or why there is none.

    One with another seed is taken where no seed was asked for: the job then says what that means.
    """
    cell = (unit.task, unit.dataset, unit.size, unit.repeat)
    found = [u for u in model.units if (u.task, u.dataset, u.size, u.repeat) == cell and u.sha256]
    exact = [u for u in found if u.seed == unit.seed]
    chosen = exact or (found if suite_seed == 0 else [])
    if not chosen or unit.limit is not None:
        source = Source(entry="", kind="artifacts", artifact_sha256=_ABSENT)
        return dataclasses.replace(model, source=source), NO_ARTIFACT if not chosen else WHOLE_UNITS
    [declared, *_] = chosen
    source = Source(
        entry="",
        kind="artifacts",
        file=str(Path(model.search_path[0]) / declared.path),
        artifact_sha256=declared.sha256,
        seed=declared.seed,
    )
    return dataclasses.replace(model, source=source), ""


def unit_line(text: str, index: int) -> int:
    """The line of the `index`-th [[units]] table (1 if it cannot be found)."""
    heads = [i for i, line in enumerate(text.splitlines(), start=1) if is_head(line)]
    return heads[index] if index < len(heads) else 1


def is_head(line: str) -> bool:
    """Whether a line of TOML begins a [[units]] table."""
    return re.match(r"\s*\[\[\s*units\s*\]\]", line) is not None


def _place(card: Card, index: int) -> str:
    return f"{card.where}:{unit_line(card.text, index)}"


def _unit(card: Card, index: int, table: Any) -> DeclaredUnit:
    place = _place(card, index)
    if not isinstance(table, Mapping):
        raise UsageError(f"{place}: 'units' must be [[units]] tables")
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{place}: {unknown_key(key, _KEYS)}")
    fields = {"sha256": "", **table}
    for key in _KEYS:
        wanted = int if key in ("repeat", "seed") else str
        if key not in fields or isinstance(fields[key], bool) or not isinstance(fields[key], wanted):
            raise UsageError(f"{place}: {key!r} must be {'a whole number' if wanted is int else 'a text'}")
    unit = DeclaredUnit(**fields)
    fault = _fault(unit)
    if fault:
        raise UsageError(f"{place}: {fault}")
    return unit


def _fault(unit: DeclaredUnit) -> str:
    try:
        check_name(unit.task, "task")
        check_name(unit.dataset, "dataset")
    except UsageError as error:
        return str(error)
    if unit.size not in SIZES:
        return f"'size' is {unit.size[:40]!r}; use {', '.join(SIZES)}"
    if not 0 <= unit.repeat < 2**31 or not 0 <= unit.seed < 2**63:
        return "'repeat' and 'seed' are whole numbers from 0 on, as `bench units` lists them"
    if unit.sha256 and not _SHA256.match(unit.sha256):
        return "'sha256' must be 64 hexadecimal digits; `bench seal FOLDER` fills it in"
    path = PurePosixPath(unit.path)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in unit.path or "\0" in unit.path:
        return f"'path' is {unit.path[:80]!r}; name a folder inside the submission"
    if any(part.startswith(".") for part in path.parts):
        return f"'path' is {unit.path[:80]!r}; names that begin with a dot are not copied"
    return ""
