"""Stored rows as typed records: the current result of every job, with its values."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.leaderboard.text import slug
from bench.spec import Exhibit
from bench.work import FAILED

IMPORTED = "imported"  # engine of rows that came from a table made elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRecord:
    """One stored value; `value=None` means "not measurable", with `reason`."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str
    reason: str
    n: int | None
    direction: str
    primary: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """One row of the table `jobs`; `values` maps facet, then metric, to what was measured."""

    store: Path
    job_key: str
    run_id: str
    attempt: int
    task: str
    task_version: int
    scoring: int
    family: str
    protocol: str
    model: str
    model_version: str
    model_source_sha256: str
    model_params: Mapping[str, Any]
    model_info: Mapping[str, Any]
    baseline: bool
    dataset: str
    dataset_sha256: str
    data: str
    size: str
    repeat: int
    suite_seed: int
    limit: int | None
    status: str
    stage: str
    error_type: str
    error_message: str
    traceback: str
    exit_code: int | None
    signal: str
    started_at: datetime | None
    ended_at: datetime | None
    duration_s: float | None
    collect_s: float | None
    score_s: float | None
    peak_rss_mb: float | None
    peak_gpu_mb: float | None
    engine: str
    hostname: str
    device: str
    device_name: str
    n_samples: int | None
    log_path: str
    artifact_sha256: str
    flags: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]
    score_id: str
    notes: Mapping[str, Any]
    bench_version: str
    git_sha: str
    git_dirty: bool
    python_version: str
    platform: str
    torch_version: str
    cuda_version: str
    packages: Mapping[str, Any]
    values: Mapping[str, Mapping[str, MetricRecord]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def unit(self) -> tuple[int, int]:
        """What makes repeats of different models the same: suite seed and repeat."""
        return self.suite_seed, self.repeat

    @property
    def imported(self) -> Mapping[str, Any]:
        """How a table made elsewhere described the task; empty for what the bench measured itself."""
        declared = self.notes.get("imported")
        return declared if self.engine == IMPORTED and isinstance(declared, Mapping) else {}

    def measured(self, metric: str, facet: str = "") -> float | None:
        """The measured value; None if the job failed or the value does not exist."""
        record = self.values.get(facet, {}).get(metric) if self.ok else None
        return None if record is None else record.value

    @property
    def failed(self) -> bool:
        return self.status in FAILED or self.status == "cancelled"


_OPTIONAL = {
    "limit",
    "exit_code",
    "started_at",
    "ended_at",
    "duration_s",
    "collect_s",
    "score_s",
    "peak_rss_mb",
    "peak_gpu_mb",
    "n_samples",
}
_NUMBERS = {"attempt", "task_version", "scoring", "repeat", "suite_seed"}
_OBJECTS = {"model_params", "model_info", "notes", "packages"}
_BOOLS = {"baseline", "git_dirty"}
_COLUMNS = tuple(f.name for f in dataclasses.fields(JobRecord) if f.name not in ("store", "values"))
_METRIC_COLUMNS = tuple(f.name for f in dataclasses.fields(MetricRecord))


def job_records(store: Path, jobs: pa.Table, metrics: pa.Table) -> list[JobRecord]:
    """Join the tables of one store: `jobs` holds current rows, `metrics` the values that belong to them."""
    values = _values(metrics)
    found = [
        JobRecord(store=store, values=values.get((row["job_key"], row["attempt"]), {}), **_clean(row))
        for row in jobs.select(_COLUMNS).to_pylist()
    ]
    return [_untimed(job) if job.imported.get("timed") is False else job for job in found]


def _untimed(job: JobRecord) -> JobRecord:
    """A table without times says nothing of durations; 0 seconds would be a claim."""
    return dataclasses.replace(job, duration_s=None)


def merge(parts: Iterable[list[JobRecord]]) -> list[JobRecord]:
    """Records of several stores as one list in a fixed order; of one job, the best and latest is kept."""
    best: dict[tuple[Any, ...], JobRecord] = {}
    for record in (r for part in parts for r in part):
        unit = (record.task, record.dataset, record.size, record.repeat, record.suite_seed, record.limit)
        key = (*unit, record.model)
        if key not in best or _rank(record) > _rank(best[key]):
            best[key] = record
    return sorted(best.values(), key=_order)


def _rank(record: JobRecord) -> tuple[Any, ...]:
    ended = record.ended_at.timestamp() if record.ended_at else 0.0
    return (record.task_version, record.ok, ended, record.job_key, record.attempt)


def _order(record: JobRecord) -> tuple[Any, ...]:
    limit = -1 if record.limit is None else record.limit
    unit = (record.size, record.task, record.dataset)
    return (*unit, record.model, limit, record.suite_seed, record.repeat, record.job_key)


def _values(metrics: pa.Table) -> dict[tuple[str, int], dict[str, dict[str, MetricRecord]]]:
    """(job key, attempt) -> facet -> metric -> record. By columns: there can be hundreds of thousands of rows."""
    found: dict[tuple[str, int], dict[str, dict[str, MetricRecord]]] = defaultdict(dict)
    places = zip(
        *(metrics[name].to_pylist() for name in ("job_key", "attempt", "facet", "metric")), strict=True
    )
    rows = zip(*(metrics[name].to_pylist() for name in _METRIC_COLUMNS), strict=True)
    for (job_key, attempt, facet, metric), row in zip(places, rows, strict=True):
        found[job_key, attempt].setdefault(facet or "", {})[metric or ""] = _metric(*row)
    return found


def _metric(
    value: float | None,
    low: float | None,
    high: float | None,
    method: str | None,
    reason: str | None,
    n: int | None,
    direction: str | None,
    primary: bool | None,
) -> MetricRecord:
    """A record of the columns in the order of `MetricRecord`. A foreign store may hold what ours refuses."""
    if value is not None and not math.isfinite(value):
        value, reason = None, f"the stored value is {value}, not a number that can be compared"
    has_interval = low is not None and high is not None and math.isfinite(low) and math.isfinite(high)
    return MetricRecord(
        value=value,
        ci_low=low if has_interval else None,
        ci_high=high if has_interval else None,
        ci_method=method or "",
        reason=reason or "",
        n=n,
        direction=direction or "none",
        primary=bool(primary),
    )


def _clean(row: dict[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for name, value in row.items():
        if name in _OPTIONAL:
            clean[name] = value
        elif name in _NUMBERS:
            clean[name] = int(value or 0)
        elif name in _BOOLS:
            clean[name] = bool(value)
        elif name in _OBJECTS:
            clean[name] = _json(value, dict)
        elif name == "size":
            clean[name] = slug(value or "unknown")  # becomes the name of a folder
        elif name == "flags":
            clean[name] = tuple(str(f) for f in _json(value, list))
        elif name == "exhibits":
            clean[name] = tuple(_exhibits(_json(value, list)))
        else:
            clean[name] = value or ""
    return clean


def _json(text: str | None, kind: type[Any]) -> Any:
    """The parsed text; an empty `kind` where it is missing, damaged or of another kind."""
    try:
        value = json.loads(text) if text else kind()
    except ValueError:
        return kind()
    return value if isinstance(value, kind) else kind()


def _exhibits(items: list[Any]) -> Iterable[Exhibit]:
    for item in items:
        if isinstance(item, dict) and item.get("kind") in ("image", "table", "series"):
            texts = {k: str(item.get(k, "")) for k in ("name", "file", "caption")}
            yield Exhibit(kind=item["kind"], **texts)
