"""The rows and files of several stores in one."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.artifacts import artifact_digest
from bench.errors import BenchError, InvalidOutput, StoreError
from bench.schema import TABLES
from bench.store import atomic, reading
from bench.store.checking import conflicts
from bench.store.layout import Layout

Report = Callable[[str], object]


def merge(sources: Sequence[Layout], into: Layout, report: Report) -> int:
    """Add the rows of `sources` that `into` lacks, and their files; returns the number of jobs rows added.

    Raises `BenchError` naming both files, with nothing written, if a `record_id` has two contents.
    Unreadable files and artifacts that do not have their hash are left out and reported.
    """
    new: dict[str, pa.Table] = {}
    for table in TABLES:
        mine = reading.load(into, table, extra=True)
        theirs = [reading.load(source, table, extra=True) for source in sources]
        for bad in (b for loaded in (mine, *theirs) for b in loaded.bad):
            report(f"left out {bad}")
        _refuse_conflicts({path: t for loaded in (mine, *theirs) for path, t in loaded.tables.items()})
        new[table] = _missing_rows(mine, theirs, TABLES[table])
    columns = ["run_id", "job_key", "attempt", "artifact_sha256", "score_id"]
    for row in new["jobs"].select(columns).to_pylist():
        for source in sources:
            _copy_files(source, into, row, report)
    for table in ("metrics", "uses", "jobs"):  # a job's row comes last: it says that all of it is there
        _write(into, table, new[table])
    return int(new["jobs"].num_rows)


def _refuse_conflicts(tables: Mapping[Path, pa.Table]) -> None:
    found = conflicts(tables)
    if found:
        record_id, first, second = found[0]
        raise BenchError(
            f"cannot merge: row {record_id} is in {first} and, with other content, in {second}; "
            f"nothing was written ({len(found)} such rows; one of the stores was edited)"
        )


def _missing_rows(mine: reading.Loaded, theirs: Sequence[reading.Loaded], schema: pa.Schema) -> pa.Table:
    """Rows of `theirs` whose `record_id` is not in `mine`, with columns of newer benches kept."""
    tables = [t for loaded in theirs for t in loaded.tables.values()]
    if not tables:
        return schema.empty_table()
    try:
        together = pa.concat_tables(tables, promote_options="default")
    except pa.ArrowException:  # two newer benches added one column with different types: neither is kept
        together = pa.concat_tables([t.select(schema.names) for t in tables])
    rows = reading.distinct(together.unify_dictionaries())
    known = [t["record_id"] for t in mine.tables.values()]
    if not known:
        return rows
    ids = pa.chunked_array([chunk for column in known for chunk in column.chunks], pa.string())
    return rows.filter(pc.invert(pc.is_in(rows["record_id"], value_set=ids)))


def _copy_files(source: Layout, into: Layout, row: Mapping[str, Any], report: Report) -> None:
    run_id, key, attempt = row["run_id"], row["job_key"], row["attempt"]
    try:
        _copy_file(source.samples(run_id, key, attempt), into.samples(run_id, key, attempt))
        _copy_file(source.log(run_id, key, attempt), into.log(run_id, key, attempt))
        _copy_description(source.run(run_id) / "run.json", into.run(run_id) / "run.json")
        if row["artifact_sha256"]:
            sha = row["artifact_sha256"]
            _copy_tree(source.artifact(key, sha), into.artifact(key, sha), report, sha)
        if row["score_id"]:
            _copy_tree(source.exhibits(key, row["score_id"]), into.exhibits(key, row["score_id"]), report)
    except StoreError as error:
        if isinstance(error.__cause__, OSError):
            raise
        report(f"left out files of {key}: {error}")  # a name in the row that is no path


def _copy_tree(source: Path, target: Path, report: Report, sha256: str = "") -> None:
    if target.is_dir() or not source.is_dir():
        return
    try:
        if sha256 and artifact_digest(source)[0] != sha256:
            raise InvalidOutput("does not have the hash its row states")
        atomic.install_tree(source, target, keep_source=True)
    except InvalidOutput as error:
        report(f"left out {source}: {error}")


def _copy_file(source: Path, target: Path) -> None:
    if target.exists() or source.is_symlink() or not source.is_file():
        return
    with source.open("rb") as content:
        atomic.write_file(target, lambda file: shutil.copyfileobj(content, file))


def _copy_description(source: Path, target: Path) -> None:
    """Copy a run.json; that of a finished run replaces one copied while the run was still going."""
    if target.is_file() and not _is_finished(target) and _is_finished(source):
        target.unlink()
    _copy_file(source, target)


def _is_finished(description: Path) -> bool:
    try:
        return bool(json.loads(description.read_text("utf-8")).get("end"))
    except (OSError, ValueError, AttributeError):
        return False


def _write(into: Layout, table: str, rows: pa.Table) -> None:
    if rows.num_rows:
        path = into.compact / f"{table}.{uuid.uuid4().hex}.parquet"
        content = rows.replace_schema_metadata(None)
        atomic.write_file(path, lambda file: pq.write_table(content, file, compression="zstd"))
