"""The data behind the pages, for programs: CSV and JSON of every table, Parquet of everything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.leaderboard import text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.lines import Line
from bench.leaderboard.overview import FamilyView
from bench.leaderboard.records import JobRecord
from bench.leaderboard.tables import Column
from bench.leaderboard.task_view import TaskView

FIELDS = (
    "size", "task", "task_version", "dataset", "facet", "metric", "direction", "unit", "model", "limit", "role",
    "state", "mean", "ci_low", "ci_high", "ci_method", "repeats", "jobs", "reason",
)  # fmt: skip


def task_rows(task: TaskView) -> list[dict[str, Any]]:
    """One row per cell of the task's tables."""
    return [
        _row(task, dataset.name, facet.facet, column, row.line, cell.estimate)
        for dataset in task.datasets
        for facet in dataset.facets
        for row in facet.table.everyone
        for column, cell in zip(facet.table.columns, row.cells, strict=True)
    ]


def overview_rows(families: Sequence[FamilyView]) -> list[dict[str, Any]]:
    """One row per cell of the overview's tables."""
    return [
        _row(task, dataset.name, "", column, row.line, cell.estimate)
        for family in families
        for row in family.table.everyone
        for (task, dataset), column, cell in zip(
            [(t, d) for t in family.shared for d in t.datasets if t.info.metrics],
            family.table.columns,
            row.cells,
            strict=True,
        )
    ]


def _row(task: TaskView, dataset: str, facet: str, column: Column, line: Line, e: Estimate) -> dict[str, Any]:
    return {
        "size": task.size,
        "task": task.info.name,
        "task_version": task.info.version,
        "dataset": dataset,
        "facet": facet,
        "metric": column.metric.name,
        "direction": column.metric.direction,
        "unit": column.metric.unit,
        "model": line.model,
        "limit": line.limit,
        "role": line.role,
        "state": "ok" if e.kind == "value" else (e.status if e.kind == "status" else e.kind),
        "mean": e.mean,
        "ci_low": e.low,
        "ci_high": e.high,
        "ci_method": e.method,
        "repeats": e.n,
        "jobs": e.planned,
        "reason": e.reason,
    }


def as_csv(rows: Iterable[dict[str, Any]]) -> str:
    """CSV with a header line; missing numbers are empty, `state` says why. Six digits; Parquet has all."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for row in rows:
        writer.writerow([text.csv_text(v) if isinstance(v := row[f], str) else _short(v) for f in FIELDS])
    return out.getvalue()


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def as_json(rows: Sequence[dict[str, Any]]) -> str:
    """`{"shared": {...}, "columns": [...], "rows": [[...], ...]}`: what all rows have in common is said once."""
    same = [f for f in FIELDS if rows and all(row[f] == rows[0][f] for row in rows)]
    columns = [f for f in FIELDS if f not in same]
    lines = ",\n".join(json.dumps([_short(row[f]) for f in columns], separators=(",", ":")) for row in rows)
    shared = json.dumps({f: _short(rows[0][f]) for f in same} if rows else {})
    return f'{{"shared": {shared},\n"columns": {json.dumps(columns)},\n"rows": [\n{lines}\n]}}\n'


def as_parquet(rows: Sequence[dict[str, Any]], schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


CELLS_SCHEMA = pa.schema(
    [
        (name, pa.float64() if name in ("mean", "ci_low", "ci_high") else pa.int64())
        if name in ("mean", "ci_low", "ci_high", "limit", "repeats", "jobs", "task_version")
        else (name, pa.string())
        for name in FIELDS
    ]
)

RESULT_FIELDS = ("size", "task", "task_version", "scoring", "dataset", "model", "model_version", "repeat",
                 "suite_seed", "limit", "status", "job_key", "facet", "metric", "value", "ci_low", "ci_high",
                 "ci_method", "n", "reason", "duration_s", "peak_rss_mb", "device", "bench_version")  # fmt: skip
_INTS = {"task_version", "scoring", "repeat", "suite_seed", "limit", "n"}
_FLOATS = {"value", "ci_low", "ci_high", "duration_s", "peak_rss_mb"}
RESULTS_SCHEMA = pa.schema(
    [(f, pa.int64() if f in _INTS else pa.float64() if f in _FLOATS else pa.string()) for f in RESULT_FIELDS]
)


def result_rows(jobs: Iterable[JobRecord]) -> list[dict[str, Any]]:
    """One row per stored value, and one without a metric per job that has none."""
    rows: list[dict[str, Any]] = []
    for job in jobs:
        shared = {f: getattr(job, f) for f in RESULT_FIELDS if hasattr(job, f)}
        values = [(facet, name, r) for facet, found in job.values.items() for name, r in found.items()]
        if not values:
            rows.append({**shared, "reason": job.error_message})
        for facet, name, r in sorted(values, key=lambda v: v[:2]):
            measured = {f: getattr(r, f) for f in ("value", "ci_low", "ci_high", "ci_method", "n", "reason")}
            rows.append({**shared, "facet": facet, "metric": name, **measured})
    return rows
