"""Many small files into one: a reading of thousands of parts takes seconds, of one file milliseconds."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.schema import TABLES
from bench.store import atomic, locking
from bench.store.layout import Layout
from bench.store.reading import REPLACES, BadFile, compact_files, distinct, part_files, read_file

SETTLED_ROWS = 100_000  # a compact file of this many rows is left alone: rewriting it would cost too much
_LOCK_S = 600.0


def n_parts(layout: Layout) -> int:
    """The number of part files, over all tables."""
    return sum(len(list(layout.parts(table).glob("*.parquet"))) for table in TABLES)


def compact(layout: Layout) -> int:
    """Merge parts and small compact files of every table; returns the number of files replaced.

    The new file is complete and names what it replaces before anything is removed, so a crash in between
    leaves only rows that are there twice, with equal `record_id`. Does nothing if another process is at it.
    """
    with atomic.storing(layout.root):
        lock = locking.acquire(layout.locks / "compact.lock", _LOCK_S)
    if lock is None:
        return 0
    with lock:
        return sum(_compact_table(layout, table) for table in TABLES)


def _compact_table(layout: Layout, table: str) -> int:
    _finish_earlier(layout, table)
    paths = part_files(layout, table) + compact_files(layout, table)
    contents = {path: content for path in paths if (content := _open(path, table)) is not None}
    small = {p: c for p, c in contents.items() if p.parent != layout.compact or c.num_rows < SETTLED_ROWS}
    if len(small) < 2:
        return 0
    try:
        merged = pa.concat_tables(small.values(), promote_options="default")
    except pa.ArrowException:  # two newer benches added one column with different types: keep both files
        return 0
    merged = distinct(merged.unify_dictionaries())
    names = [_relative(layout, path) for path in small]
    merged = merged.replace_schema_metadata({REPLACES: json.dumps(names).encode()})
    target = layout.compact / f"{table}.{uuid.uuid4().hex}.parquet"
    atomic.write_file(target, lambda file: pq.write_table(merged, file, compression="zstd"))
    _remove(small)
    return len(small)


def _open(path: Path, table: str) -> pa.Table | None:
    """The content with columns of newer benches kept; None for a file that must be left as it is."""
    try:
        return read_file(path, table, extra=True).replace_schema_metadata(None)
    except (BadFile, FileNotFoundError):
        return None


def _finish_earlier(layout: Layout, table: str) -> None:
    """Remove what an earlier compaction had replaced when it was killed."""
    for path in compact_files(layout, table):
        _remove(p for p in replaced_by(layout, path, table) if p != path and p.is_file())


def replaced_by(layout: Layout, path: Path, table: str) -> list[Path]:
    """The files that a compact file says it replaces; only paths where files of `table` lie are believed."""
    try:
        names = json.loads((pq.read_metadata(path).metadata or {}).get(REPLACES, b"[]"))
        paths = [layout.root / name for name in names]
    except (pa.ArrowException, OSError, ValueError, TypeError):
        return []
    folders = (layout.parts(table), layout.compact)
    return [p for p in paths if p.parent in folders and ".." not in p.parts]


def _relative(layout: Layout, path: Path) -> str:
    return path.relative_to(layout.root).as_posix()


def _remove(paths: Iterable[Path]) -> None:
    folders = set()
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        folders.add(path.parent)
    for folder in folders:
        atomic.sync_folder(folder)
