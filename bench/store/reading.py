"""Parquet files in, one table out: always the columns of `bench.schema`, never stopped by a bad file.

A plain `pyarrow.dataset` takes its columns from the first file and stops at the first damaged one; here
every file is read by itself, brought to the declared columns, and left out with a reason if it cannot be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.errors import StoreError
from bench.schema import IDENTITY, REQUIRED, TABLES
from bench.store.atomic import is_temporary
from bench.store.layout import Layout

REPLACES = b"bench.replaces"  # key in a compact file's metadata: JSON list of the files it replaces
_RETRIES = 20
Where = Mapping[str, Any]  # column -> value, or collection of values


class BadFile(Exception):
    """A file that is not used: `kind` says whether it is broken or simply not one of ours."""

    def __init__(self, path: Path, kind: Literal["damaged", "foreign"], reason: str) -> None:
        super().__init__(f"{kind} file {path}: {reason}")
        self.path, self.kind, self.reason = path, kind, reason


@dataclass
class Loaded:
    """The files of a table that could be read, and those that could not."""

    tables: dict[Path, pa.Table] = field(default_factory=dict)
    bad: list[BadFile] = field(default_factory=list)


def part_files(layout: Layout, table: str) -> list[Path]:
    """What runs wrote, oldest first."""
    return _visible(layout.parts(table), "*")


def compact_files(layout: Layout, table: str) -> list[Path]:
    """What compactions wrote."""
    return _visible(layout.compact, f"{table}.*")


def _visible(folder: Path, pattern: str) -> list[Path]:
    return sorted(p for p in folder.glob(pattern) if p.is_file() and not is_temporary(p))


def load(layout: Layout, table: str, columns: Iterable[str] | None = None, *, extra: bool = False) -> Loaded:
    """Read every file of `table`; `columns` and `extra` as in `read_file`.

    A compaction may replace files meanwhile: all is repeated until nothing vanished and no compact file
    appeared, whatever a listing of a changing folder shows.
    """
    for _ in range(_RETRIES):
        parts, compacted = part_files(layout, table), compact_files(layout, table)
        loaded = Loaded()
        try:
            for path in parts + compacted:
                try:
                    loaded.tables[path] = read_file(path, table, columns, extra=extra)
                except BadFile as bad:
                    loaded.bad.append(bad)
        except FileNotFoundError:
            continue
        if compacted == compact_files(layout, table):
            return loaded
    raise StoreError(
        f"{layout.root} changes faster than it can be read; is something compacting it all the time?"
    )


def read_file(
    path: Path, table: str, columns: Iterable[str] | None = None, *, extra: bool = False
) -> pa.Table:
    """One file with the declared columns (all, or `columns`), nulls where it has none.

    With `extra`, columns that a newer bench added are kept behind the declared ones. Raises `BadFile`.
    """
    if path.suffix != ".parquet":
        raise BadFile(path, "foreign", "not a .parquet file")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        present = file.schema_arrow.names
    except Exception as error:
        raise BadFile(path, "damaged", _first_line(error)) from error
    missing = [name for name in REQUIRED[table] if name not in present]
    if missing:
        raise BadFile(path, "foreign", f"has no column {missing[0]!r} of table {table}")
    schema = TABLES[table]
    wanted = schema.names if columns is None else [n for n in schema.names if n in set(columns)]
    names = present if extra else [n for n in wanted if n in present]
    try:
        content = file.read(columns=names, use_threads=False)
        content.validate(full=False)
    except Exception as error:
        raise BadFile(path, "damaged", _first_line(error)) from error
    for name in set(IDENTITY) & set(content.column_names):
        if content[name].null_count:
            raise BadFile(path, "foreign", f"has rows without {name!r}")
    return _conform(path, content, pa.schema([schema.field(n) for n in wanted]))


def _conform(path: Path, content: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = []
    for want in schema:
        if want.name not in content.column_names:
            columns.append(pa.nulls(content.num_rows, want.type))
            continue
        try:
            columns.append(_cast(content[want.name], want.type))
        except (pa.ArrowException, ValueError) as error:
            reason = f"column {want.name!r} is not {want.type}: {_first_line(error)}"
            raise BadFile(path, "foreign", reason) from error
    extra = [f for f in content.schema if f.name not in schema.names]
    columns += [content[f.name] for f in extra]
    return pa.table(columns, schema=pa.schema([*schema, *extra]))


def _cast(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    if column.type == target:
        return column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_dictionary(target):
        return column.cast(target.value_type).dictionary_encode()
    return column.cast(target)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def unite(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """The rows of `tables` in order, one per `record_id`, with the dictionaries of text columns made one."""
    found = [t for t in tables if t.num_rows]
    if not found:
        return schema.empty_table()
    together = pa.concat_tables(found, promote_options="default")
    return distinct(together.unify_dictionaries()).combine_chunks()


def distinct(table: pa.Table) -> pa.Table:
    """`table` without rows whose `record_id` came before."""
    ids = table["record_id"].combine_chunks()
    codes = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    first = np.unique(codes, return_index=True)[1]
    return table if len(first) == len(codes) else table.take(pa.array(np.sort(first)))


def select(table: pa.Table, where: Where) -> pa.Table:
    """The rows that have, in every column of `where`, the value or one of the values given."""
    for name, wanted in where.items():
        is_many = isinstance(wanted, Collection) and not isinstance(wanted, (str, bytes))
        values: Sequence[Any] = list(wanted) if is_many else [wanted]
        column = table[name]
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        table = table.filter(pc.is_in(column, value_set=pa.array(values, kind)))
    return table


def rows_of(table: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The values of some columns as Python tuples, row by row."""
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def read_samples(path: Path) -> pa.Table | None:
    """A sample file as it is; None if there is none. Raises `StoreError` for a damaged one."""
    if not path.is_file():
        return None
    try:
        return pq.read_table(pa.BufferReader(path.read_bytes()))
    except (pa.ArrowException, OSError) as error:
        raise StoreError(
            f"cannot read {path}: {_first_line(error)}; `bench verify` lists such files"
        ) from error
