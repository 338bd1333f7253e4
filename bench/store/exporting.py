"""The current results as one flat table, for people who want to work with them elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from bench.schema import JOBS, METRICS
from bench.store import atomic
from bench.store.selection import attempt_ids

Format = Literal["csv", "parquet", "jsonl"]
_JOB_COLUMNS = [name for name in JOBS.names if name not in ("schema_version", "record_id")]
_METRIC_COLUMNS = [name for name in METRICS.names if name not in JOBS.names]
_ORDER = ("task", "size", "dataset", "model", "repeat", "metric", "facet")


def joined(jobs: pa.Table, metrics: pa.Table) -> pa.Table:
    """One row per metric value with the columns of its job; a job without values has one row of nulls."""
    place = pc.index_in(attempt_ids(metrics), value_set=attempt_ids(jobs))
    measured = jobs.take(place)
    empty = jobs.filter(pc.invert(pc.is_in(attempt_ids(jobs), value_set=attempt_ids(metrics))))
    for name in _METRIC_COLUMNS:
        field = METRICS.field(name)
        measured = measured.append_column(field, metrics[name])
        empty = empty.append_column(field, pa.nulls(empty.num_rows, field.type))
    table = _without_dictionaries(pa.concat_tables([measured, empty]).select(_JOB_COLUMNS + _METRIC_COLUMNS))
    return table.sort_by([(name, "ascending") for name in _ORDER])


def write(table: pa.Table, path: Path, file_format: Format) -> None:
    """Write `table` to `path`, complete or not at all."""
    writers: dict[str, Callable[[pa.Table, BinaryIO], object]] = {
        "csv": _write_csv,
        "parquet": lambda content, file: pq.write_table(content, file, compression="zstd"),
        "jsonl": _write_jsonl,
    }
    atomic.write_file(path, lambda file: writers[file_format](table, file))


def _without_dictionaries(table: pa.Table) -> pa.Table:
    fields = [
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            text = table.column(index)
            is_formula = pc.match_substring_regex(text, r"^[=+\-@\t\r]")
            safe = pc.if_else(is_formula, pc.binary_join_element_wise("'", text, ""), text)
            table = table.set_column(index, field.name, safe)
    pyarrow.csv.write_csv(table, file)


def _write_jsonl(table: pa.Table, file: BinaryIO) -> None:
    for batch in table.to_batches(max_chunksize=1_000):
        for row in batch.to_pylist():
            file.write(json.dumps(row, default=_iso, ensure_ascii=False).encode() + b"\n")


def _iso(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")
