"""An outcome as rows. Text from models is untrusted: it is made valid UTF-8, plain and short here."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from bench.errors import InvalidOutput
from bench.keys import score_id
from bench.planned import PlannedJob
from bench.provenance import Provenance
from bench.schema import SCHEMA_VERSION, TABLES
from bench.spec import MetricInfo, canonical_json
from bench.work import MESSAGE_LIMIT, TRACEBACK_LIMIT, MeasureRow, Outcome

TEXT_LIMIT, NOTES_LIMIT, CARD_LIMIT, TASK_LIMIT = 500, 32_000, 32_000, 256_000
# Control characters could drive the terminal of whoever prints them; line breaks and tabs are harmless.
_PLAIN = {c: "�" for c in (*range(32), *range(127, 160)) if chr(c) not in "\n\t"}
Row = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What all rows of a run share."""

    run_id: str
    provenance: Provenance
    engine: str
    anonymous: bool  # keep host names out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """What a row needs beside the outcome."""

    planned: PlannedJob
    run: RunFacts
    log_path: str  # relative to the store, "" if there is none


def plain_text(text: object, limit: int = TEXT_LIMIT, *, keep_end: bool = False) -> str:
    """`text` as valid UTF-8 without control characters, at most `limit` characters."""
    whole = str(text)
    if len(whole) > limit:
        whole = "…" + whole[1 - limit :] if keep_end else whole[: limit - 1] + "…"
    joined = whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined.translate(_PLAIN)


def plain_json(value: Any, limit: int) -> str:
    """The canonical JSON of `value` with plain text in it; beyond `limit` characters a note says so."""
    text = canonical_json(_plain_value(value))
    return text if len(text) <= limit else canonical_json({"too_long": len(text)})


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {plain_text(k): _plain_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_value(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return plain_text(value, 4_000)


def record_id(table: str, *parts: object) -> str:
    """The id of a row: the same attempt of the same run always gets the same one."""
    return hashlib.sha256("|".join([table, *map(str, parts)]).encode("utf-8", "surrogatepass")).hexdigest()[
        :32
    ]


def score_of(planned: PlannedJob, outcome: Outcome) -> str:
    """The id of the score an outcome holds, "" if it has none."""
    if not outcome.artifact_sha256:
        return ""
    return score_id(
        artifact_sha256=outcome.artifact_sha256,
        task=planned.job.task,
        task_version=planned.job.task_version,
        scoring=planned.task.info.scoring,
    )


def job_row(outcome: Outcome, facts: JobFacts) -> Row:
    """The `jobs` row of one attempt."""
    planned, run = facts.planned, facts.run
    return {
        "schema_version": SCHEMA_VERSION,
        "record_id": record_id("jobs", run.run_id, outcome.job_key, outcome.attempt),
        "run_id": run.run_id,
        "job_key": outcome.job_key,
        "attempt": outcome.attempt,
        "stages": "+".join(planned.stages),
        **_job_columns(planned),
        **_ending_columns(outcome, facts),
        "artifact_sha256": outcome.artifact_sha256 or None,
        "artifact_bytes": outcome.artifact_bytes,
        "flags": plain_json(list(outcome.flags)[:32], TEXT_LIMIT),
        "exhibits": plain_json([dataclasses.asdict(e) for e in outcome.exhibits], NOTES_LIMIT),
        "score_id": score_of(planned, outcome) or None,
        "notes": plain_json(outcome.notes, NOTES_LIMIT),
        **run.provenance.as_dict(),
    }


def _job_columns(planned: PlannedJob) -> Row:
    job, task, model = planned.job, planned.task.info, planned.model.info
    same = (
        "task", "task_version", "model", "model_version", "model_source_sha256",
        "dataset", "dataset_sha256", "size", "repeat", "suite_seed", "limit",
    )  # fmt: skip
    return {
        **{name: getattr(job, name) for name in same},
        "scoring": task.scoring,
        "family": task.family,
        "protocol": task.protocol,
        "model_params": canonical_json(dict(job.model_params)),
        "model_info": plain_json(dataclasses.asdict(model), CARD_LIMIT),
        "task_info": plain_json(dataclasses.asdict(task), TASK_LIMIT),
        "dataset_info": plain_json(dataclasses.asdict(planned.dataset.info), CARD_LIMIT),
        "baseline": model.baseline,
        "data": planned.dataset.info.data,
        "unit_seed": planned.unit.seed,
        "resources": canonical_json(dataclasses.asdict(job.resources)),
    }


def _ending_columns(outcome: Outcome, facts: JobFacts) -> Row:
    anonymous = facts.run.anonymous
    same = (
        "status", "stage", "exit_code", "duration_s", "setup_s", "collect_s", "score_s", "cpu_s",
        "peak_rss_mb", "peak_gpu_mb",
    )  # fmt: skip
    return {
        **{name: getattr(outcome, name) for name in same},
        "error_type": plain_text(outcome.error_type),
        "error_message": plain_text(outcome.error_message, MESSAGE_LIMIT),
        "traceback": plain_text(outcome.traceback, TRACEBACK_LIMIT, keep_end=True),
        "signal": plain_text(outcome.signal),
        "started_at": _time(outcome.started_at),
        "ended_at": _time(outcome.ended_at),
        "engine": facts.run.engine,
        "worker": "" if anonymous else plain_text(outcome.worker),
        "hostname": "" if anonymous else plain_text(outcome.hostname),
        "device": plain_text(outcome.device),
        "device_name": plain_text(outcome.device_name),
        "log_path": facts.log_path,
        "n_samples": outcome.n_samples if outcome.samples_file else None,  # of those that are stored
    }


def metric_rows(outcome: Outcome, facts: JobFacts) -> list[Row]:
    """The `metrics` rows of one attempt. Raises `InvalidOutput` for a metric or value that cannot be."""
    job, task = facts.planned.job, facts.planned.task.info
    declared = {m.name: m for m in task.metrics}
    shared = {
        "schema_version": SCHEMA_VERSION,
        "job_key": outcome.job_key,
        "run_id": facts.run.run_id,
        "attempt": outcome.attempt,
        **{n: getattr(job, n) for n in ("model", "model_version", "task", "task_version")},
        "scoring": task.scoring,
        "family": task.family,
        **{n: getattr(job, n) for n in ("dataset", "size", "repeat", "suite_seed", "limit")},
        "data": facts.planned.dataset.info.data,
        "evidence": facts.planned.dataset.info.evidence,
        "ended_at": _time(outcome.ended_at),
    }
    seen: set[tuple[str, str]] = set()
    for row in outcome.rows:
        _check_row(row, declared, seen)
    return [{**shared, **_measure_columns(row, declared[row.metric], shared)} for row in outcome.rows]


def _check_row(row: MeasureRow, declared: Mapping[str, MetricInfo], seen: set[tuple[str, str]]) -> None:
    where = f"metric {row.metric!r}" + (f" of {row.facet!r}" if row.facet else "")
    if row.metric not in declared:
        raise InvalidOutput(f"{where} is not declared by the task; it declares {', '.join(declared)}")
    if (row.metric, row.facet) in seen:
        raise InvalidOutput(f"{where} is given twice")
    seen.add((row.metric, row.facet))
    numbers = (row.measure.value, row.measure.ci_low, row.measure.ci_high)
    if not all(n is None or math.isfinite(n) for n in numbers):
        raise InvalidOutput(f"{where} has value and interval {numbers}; expected finite numbers or nothing")


def _measure_columns(row: MeasureRow, metric: MetricInfo, shared: Row) -> Row:
    measure = row.measure
    return {
        "record_id": record_id(
            "metrics", shared["run_id"], shared["job_key"], shared["attempt"], row.metric, row.facet
        ),
        "metric": row.metric,
        "facet": plain_text(row.facet),
        **{n: getattr(measure, n) for n in ("value", "ci_low", "ci_high", "n")},
        "ci_method": plain_text(measure.ci_method),
        "reason": plain_text(measure.reason),
        "direction": metric.direction,
        "unit": metric.unit,
        "primary": metric.primary,
        "evidence": metric.evidence or shared["evidence"],
    }


def use_row(run_id: str, job_key: str) -> Row:
    """The `uses` row that says a key is used now."""
    return {
        "schema_version": SCHEMA_VERSION,
        "record_id": record_id("uses", run_id, job_key),
        "run_id": run_id,
        "job_key": job_key,
        "used_at": datetime.now(UTC),
    }


def _time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None


# Arrow builds plain strings faster than dictionaries; they are encoded once, when a part is written.
_PLAIN_SCHEMAS = {
    name: pa.schema(
        [(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in schema]
    )
    for name, schema in TABLES.items()
}


def to_batch(table: str, rows: list[Row]) -> pa.RecordBatch:
    """Rows in the table's types; a value that does not fit its column is an `InvalidOutput`."""
    try:
        return pa.RecordBatch.from_pylist(rows, schema=_PLAIN_SCHEMAS[table])
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise InvalidOutput(f"a value does not fit the results table: {plain_text(error)}") from error


def to_table(table: str, batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Batches of one table, dictionary-encoded as declared."""
    return pa.Table.from_batches(list(batches), schema=_PLAIN_SCHEMAS[table]).cast(TABLES[table])
