"""Is every file of a store what it was when it was written, and is everything there that rows speak of?"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from bench.artifacts import artifact_digest
from bench.errors import InvalidOutput, StoreError
from bench.schema import TABLES
from bench.store import atomic, locking, reading, selection
from bench.store.layout import Layout

LEFTOVER_S = 3_600.0  # a temporary file of this age is nobody's any more
Kind = Literal["damaged", "foreign", "artifact", "missing", "conflict", "leftover"]
MOVABLE: frozenset[Kind] = frozenset({"damaged", "foreign", "artifact", "leftover"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something wrong with the store; `path` is relative to it."""

    kind: Kind
    path: str
    message: str
    quarantined: bool = False


def verify(layout: Layout, *, quarantine: bool = False) -> list[Problem]:
    """All problems of a store. With `quarantine`, files that can be moved out of the way are.

    They go to quarantine/<time>/ with their old path; rows that speak of a moved artifact stay.
    """
    loaded = {table: reading.load(layout, table) for table in TABLES}
    found = [*_tables(layout, loaded), *_samples(layout), *_leftovers(layout)]
    jobs = reading.unite(loaded["jobs"].tables.values(), TABLES["jobs"])
    for row in selection.final_rows(jobs).to_pylist():
        found += _files_of(layout, row)
    problems = sorted(dict.fromkeys(found), key=lambda p: (p.kind, p.path))
    if not quarantine:
        return problems
    shelf = layout.root / "quarantine" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    return [_moved(layout, problem, shelf) for problem in problems]


def _tables(layout: Layout, loaded: Mapping[str, reading.Loaded]) -> Iterator[Problem]:
    for content in loaded.values():
        for bad in content.bad:
            yield _problem(layout, bad.kind, bad.path, bad.reason)
        for record_id, first, second in conflicts(content.tables):
            other = second.relative_to(layout.root)
            yield _problem(layout, "conflict", first, f"row {record_id} has other content in {other}")
    known = {layout.parts(table) for table in TABLES}
    parts = layout.root / "parts"
    strangers = [*_entries(layout.compact, TABLES), *(p for p in _entries(parts, ()) if p not in known)]
    for path in strangers:
        yield _problem(layout, "foreign", path, "belongs to no table")


def _entries(folder: Path, tables: Iterable[str]) -> Iterator[Path]:
    """What lies in `folder` and is neither temporary nor named after one of `tables`."""
    if folder.is_dir():
        for path in folder.iterdir():
            if not atomic.is_temporary(path) and path.name.split(".")[0] not in tables:
                yield path


def conflicts(tables: Mapping[Path, pa.Table]) -> list[tuple[str, Path, Path]]:
    """(record_id, file, other file) of rows with one id and different content in the declared columns."""
    first: dict[str, tuple[Path, int]] = {}
    found = []
    for path, table in tables.items():
        again: dict[Path, list[tuple[str, int, int]]] = {}
        for index, record_id in enumerate(table["record_id"].to_pylist()):
            other, place = first.setdefault(record_id, (path, index))
            if (other, place) != (path, index):
                again.setdefault(other, []).append((record_id, index, place))
        for other, rows in again.items():
            differing = _differing(table, tables[other], rows)
            found += [(record_id, other, path) for record_id in differing]
    return found


def _differing(table: pa.Table, other: pa.Table, rows: Sequence[tuple[str, int, int]]) -> list[str]:
    """The ids of `rows` (id, row of `table`, row of `other`) that differ in a column both tables have."""
    ids, mine, theirs = zip(*rows, strict=True)
    shared = [name for name in table.column_names if name in other.column_names]
    contents = (t.select(shared).take(list(at)).to_pylist() for t, at in ((table, mine), (other, theirs)))
    return [record_id for record_id, a, b in zip(ids, *contents, strict=True) if a != b]


def _samples(layout: Layout) -> Iterator[Problem]:
    folder = layout.root / "samples"
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not atomic.is_temporary(p)):
        try:
            table = reading.read_samples(path)
        except StoreError as error:
            yield _problem(layout, "damaged", path, str(error.__cause__ or error))
            continue
        if table is None or "sample_id" not in table.column_names:
            yield _problem(layout, "foreign", path, "has no column 'sample_id'")


def _files_of(layout: Layout, row: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the files that the final row of a job key speaks of."""
    key = row["job_key"]
    try:
        if row["artifact_sha256"]:
            yield from _artifact(layout, layout.artifact(key, row["artifact_sha256"]), row["artifact_sha256"])
        if row["n_samples"] is not None:
            path = layout.samples(row["run_id"], key, row["attempt"])
            if not path.is_file():
                yield _problem(layout, "missing", path, "sample scores that a row speaks of")
        for exhibit in json.loads(row["exhibits"] or "[]"):
            path = layout.exhibits(key, row["score_id"] or "") / exhibit["file"]
            if not path.is_file():
                yield _problem(layout, "missing", path, "an exhibit that a row speaks of")
    except (StoreError, ValueError, TypeError, KeyError) as error:
        message = f"row {row['record_id']} of jobs names no possible file: {error}"
        yield Problem(kind="conflict", path="parts/jobs", message=message)


def _artifact(layout: Layout, folder: Path, expected: str) -> Iterator[Problem]:
    if not folder.is_dir():
        yield _problem(layout, "missing", folder, "an artifact that a row speaks of")
        return
    try:
        found = artifact_digest(folder)[0]
    except InvalidOutput as error:
        yield _problem(layout, "artifact", folder, str(error))
        return
    if found != expected:
        yield _problem(layout, "artifact", folder, f"has SHA-256 {found[:16]}..., not {expected[:16]}...")


def _leftovers(layout: Layout) -> Iterator[Problem]:
    """Temporary files of killed runs, and private folders of runs that are no longer alive."""
    for path in sorted(_temporaries(layout)):
        yield _problem(layout, "leftover", path, "a write that was never finished")
    for work in sorted(layout.runs.glob("*/running")):
        if not locking.is_held(layout.run_lock(work.parent.name)):
            yield _problem(layout, "leftover", work, "work of a run that was killed")


def _temporaries(layout: Layout) -> Iterator[Path]:
    """Old temporary files and folders. Others come and go meanwhile: runs may be writing."""
    old = time.time() - LEFTOVER_S
    for folder, subfolders, files in os.walk(layout.root):
        here = Path(folder)
        found = [here / name for name in (*subfolders, *files) if atomic.is_temporary(Path(name))]
        subfolders[:] = [
            n for n in subfolders if n not in ("quarantine", "running") and here / n not in found
        ]
        for path in found:
            with contextlib.suppress(FileNotFoundError):
                if path.lstat().st_mtime < old:
                    yield path


def _problem(layout: Layout, kind: Kind, path: Path, message: str) -> Problem:
    return Problem(kind=kind, path=path.relative_to(layout.root).as_posix(), message=message)


def _moved(layout: Layout, problem: Problem, shelf: Path) -> Problem:
    source = layout.root / problem.path
    if problem.kind not in MOVABLE or not source.exists():
        return problem
    target = shelf / problem.path
    with atomic.storing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, target)
    return Problem(kind=problem.kind, path=problem.path, message=problem.message, quarantined=True)
