"""Results made elsewhere, from a table into a store: labelled as imported, with the hash of the file.

Two shapes of table are read. A long one has a row per model, task, repeat and metric, with its value in one
column. A wide one has a row per model (and task and repeat) with a column for each metric. A row whose value
is missing is a failure, with the message of its `error` column. The bench ran and scored none of it, and says so.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.errors import UsageError
from bench.keys import digest, job_key, unit_seed
from bench.planned import PlannedJob
from bench.registry import Registered
from bench.spec import (
    DatasetInfo,
    Job,
    MetricInfo,
    ModelInfo,
    Protocol,
    Resources,
    Size,
    SizePlan,
    TaskInfo,
    Unit,
)
from bench.work import MeasureRow, Outcome, Source

if TYPE_CHECKING:
    from bench.store import Store

ENGINE = "imported"
ROLES = (
    "model", "task", "repeat", "metric", "value", "higher_is_better", "error", "duration_s", "started_at",
    "version", "title", "url", "paper", "tags",
)  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMap:
    """How a table is to be read.

    `columns` maps roles (see `ROLES`) to names of columns; a role that is not named takes the column of its
    own name, if there is one. `metrics` declares the columns of a wide table, the first of them primary;
    without it the table is long.
    """

    family: str
    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[MetricInfo, ...] = ()
    task: str = "table"  # of a table without a column for it
    size: Size = "full"
    protocol: Protocol = "predecessor"
    baselines: tuple[str, ...] = ()
    test_over_train: float = 0.0  # n_test / n_train where the repeats resample one data set
    source: str = ""  # where the table comes from, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did."""

    run_id: str
    jobs: int
    failed: int
    known: int  # rows the store had already


def import_table(path: Path, store: Store, how: TableMap, *, argv: Sequence[str] = ()) -> Imported:
    """Add the results in `path` (Parquet or CSV) to `store`; what it holds already is left alone.

    Raises `UsageError` for a table that cannot be read as `how` says, before anything is written.
    """
    digest_of_file = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    jobs = list(_jobs(_read(path), how, digest_of_file))
    known = {past.key for past in store.history()}
    new = [item for item in jobs if item[0].job.key not in known]
    description = {"file": path.name, "sha256": digest_of_file, "map": dataclasses.asdict(how)}
    if not new:
        return Imported(run_id="", jobs=0, failed=0, known=len(jobs))
    with store.start_run(argv=list(argv), settings={"import": description}, plan=[], engine=ENGINE) as writer:
        stored = [writer.add(planned, outcome) for planned, outcome in new]
    failed = sum(outcome.status != "ok" for outcome in stored)
    return Imported(run_id=writer.run_id, jobs=len(new), failed=failed, known=len(jobs) - len(new))


def safe_name(text: str) -> str:
    """`text` as a name the bench allows: lower case, other characters as "-"; made unique by a hash if cut."""
    name = re.sub(r"[^a-z0-9._-]+", "-", text.strip().lower()).strip("-._")
    if not name:
        return "x-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return name if len(name) <= 40 else f"{name[:30]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _read(path: Path) -> list[Row]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path) if path.suffix == ".parquet" else pyarrow.csv.read_csv(path)
    except FileNotFoundError:
        raise UsageError(f"no file {path}") from None
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path} cannot be read as {path.suffix or 'CSV'}: {error}") from error
    if not table.num_rows:
        raise UsageError(f"{path} has no rows")
    rows: list[Row] = table.to_pylist()
    return rows


def _jobs(rows: Sequence[Row], how: TableMap, file_sha256: str) -> Iterable[tuple[PlannedJob, Outcome]]:
    columns = _columns(rows[0], how)
    records = [_long(row, columns) if not how.metrics else _wide(row, columns, how) for row in rows]
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for record in records:
        groups.setdefault((record["task"], record["model"], record["repeat"]), []).append(record)
    metrics: dict[str, dict[str, MetricInfo]] = {}
    for record in records:
        for metric in record["metrics"]:
            known = metrics.setdefault(record["task"], {}).setdefault(metric.name, metric)
            if known.direction != metric.direction:
                raise UsageError(f"metric {metric.name!r} of task {record['task']!r} has two directions")
    names = _unique_names({record["model"] for record in records}, "model")
    tasks = _unique_names(set(metrics), "task")
    context = _Context(how=how, file_sha256=file_sha256, models=names, tasks=tasks, metrics=metrics)
    for (task, model, repeat), found in sorted(groups.items()):
        yield context.job(task, model, repeat, found)


def _columns(first: Row, how: TableMap) -> dict[str, str]:
    """Role -> column, for the roles that the table has."""
    unknown = [role for role in how.columns if role not in ROLES]
    if unknown:
        raise UsageError(f"unknown role {unknown[0]!r} in the map; roles are {', '.join(ROLES)}")
    for role, column in how.columns.items():
        if column not in first:
            raise UsageError(f"the table has no column {column!r} for {role}; it has {', '.join(first)}")
    columns = {**{role: role for role in ROLES if role in first}, **how.columns}
    needed = ["model", *(["value"] if not how.metrics else [])]
    missing = [role for role in needed if role not in columns]
    missing += [m.name for m in how.metrics if m.name not in first]
    if missing:
        raise UsageError(f"the table has no column for {', '.join(missing)}; it has {', '.join(first)}")
    return columns


def _long(row: Row, columns: Mapping[str, str]) -> Row:
    record = _shared(row, columns)
    higher = row.get(columns.get("higher_is_better", ""), True)
    name = safe_name(str(row.get(columns.get("metric", ""), "value"))).replace("-", "_").replace(".", "_")
    metric = MetricInfo(name=name, direction="max" if higher else "min", primary=True, title=str(name))
    return {**record, "metrics": (metric,), "values": {name: _number(row[columns["value"]])}}


def _wide(row: Row, columns: Mapping[str, str], how: TableMap) -> Row:
    record = _shared(row, columns)
    return {**record, "metrics": how.metrics, "values": {m.name: _number(row[m.name]) for m in how.metrics}}


def _shared(row: Row, columns: Mapping[str, str]) -> Row:
    found = {role: row.get(column) for role, column in columns.items()}
    if found["model"] in (None, ""):
        raise UsageError(f"a row has no model: {dict(list(row.items())[:4])}")
    repeat = found.get("repeat") or 0
    if isinstance(repeat, bool) or int(repeat) != repeat or repeat < 0:
        raise UsageError(f"repeat {repeat!r} is not a number of a repeat: 0, 1, 2 ...")
    return {
        **found,
        "model": str(found["model"]),
        "task": str(found.get("task") or ""),
        "repeat": int(repeat),
    }


def _number(value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"value {value!r} is not a number") from None
    return number if math.isfinite(number) else None


def _unique_names(texts: set[str], what: str) -> dict[str, str]:
    names = {text: safe_name(text) for text in sorted(texts)}
    for text, name in names.items():
        other = next((o for o, n in names.items() if n == name and o != text), None)
        if other is not None:
            raise UsageError(f"{what}s {text!r} and {other!r} would both be called {name!r}; rename one")
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """Turns the rows of one job into what the store's writer takes."""

    how: TableMap
    file_sha256: str
    models: Mapping[str, str]
    tasks: Mapping[str, str]
    metrics: Mapping[str, Mapping[str, MetricInfo]]

    def job(self, task: str, model: str, repeat: int, rows: Sequence[Row]) -> tuple[PlannedJob, Outcome]:
        info, dataset = self._task(task), self._dataset(task)
        card = self._model(model, rows[0])
        identity: dict[str, Any] = {
            "task": info.name, "task_version": 1, "model": card.name, "model_version": card.version,
            "model_source_sha256": self.file_sha256, "model_params": {}, "dataset": dataset.name,
            "dataset_sha256": dataset.sha256, "size": self.how.size, "repeat": repeat, "suite_seed": 0, "limit": None,
        }  # fmt: skip
        job = Job(**identity, key=job_key(**identity), resources=Resources())
        seed = unit_seed(task=info.name, task_version=1, dataset=dataset.name, repeat=repeat, suite_seed=0)
        unit = Unit(
            task=info.name,
            dataset=dataset.name,
            repeat=repeat,
            size=self.how.size,
            seed=seed,
            limit=None,
            settings={},
        )
        planned = PlannedJob(
            job=job, unit=unit, task=_registered(info), model=_registered(card), dataset=_registered(dataset),
            action="run", reason="imported", attempt=0,
        )  # fmt: skip
        return planned, self._outcome(job, task, rows)

    def _task(self, task: str) -> TaskInfo:
        metrics = tuple(self.metrics[task].values())
        title = task or self.how.task
        return TaskInfo(
            name=f"{safe_name(self.how.family)}.{self.tasks[task] if task else safe_name(self.how.task)}",
            title=title,
            version=1,
            scoring=1,
            entry="",
            sizes={self.how.size: SizePlan(datasets=(safe_name(title),), repeats=1)},
            metrics=tuple(dataclasses.replace(m, primary=i == 0) for i, m in enumerate(metrics)),
            summary=self.how.source or "Imported from a table.",
            protocol=self.how.protocol,
        )

    def _dataset(self, task: str) -> DatasetInfo:
        title = task or self.how.task
        sha256 = digest([self.file_sha256, title])
        return DatasetInfo(
            name=safe_name(title), entry="", title=title, summary="", license="", data="real", sha256=sha256
        )

    def _model(self, model: str, row: Row) -> ModelInfo:
        tags = str(row.get("tags") or "")
        return ModelInfo(
            name=self.models[model],
            version=str(row.get("version") or "unknown"),
            families=(safe_name(self.how.family),),
            title=model,
            summary=_line(row.get("title")),
            url=_line(row.get("url")),
            paper=_line(row.get("paper")),
            baseline=model in self.how.baselines,
            tags=tuple(safe_name(tag) for tag in tags.split(",") if tag.strip()),
        )

    def _outcome(self, job: Job, task: str, rows: Sequence[Row]) -> Outcome:
        values: dict[str, float | None] = {}
        for row in rows:
            for name, value in row["values"].items():
                if name in values:
                    where = f"model {row['model']!r}, task {row['task']!r}, repeat {row['repeat']}"
                    raise UsageError(f"two values of {name!r} for {where}")
                values[name] = value
        measured = {name: value for name, value in values.items() if value is not None}
        lead = next(iter(self.metrics[task]))
        ok = lead in measured
        started = _seconds(next((r["started_at"] for r in rows if r.get("started_at")), None))
        duration = _number(next((r["duration_s"] for r in rows if r.get("duration_s")), None)) or 0.0
        message = "; ".join(dict.fromkeys(_line(r.get("error")) for r in rows if r.get("error")))
        return Outcome(
            job_key=job.key,
            attempt=0,
            status="ok" if ok else "error",
            error_type="" if ok else "Imported",
            error_message="" if ok else message or "the table has no value",
            started_at=started,
            ended_at=started + duration if started else time.time(),
            duration_s=duration,
            rows=tuple(self._measures(measured, values)) if ok else (),
            notes={"imported": self._declaration(task, rows)},  # type: ignore[dict-item]
        )

    def _measures(self, measured: Mapping[str, float], values: Iterable[str]) -> Iterable[MeasureRow]:
        from bench.spec import Measure

        for name in values:
            measure = (
                Measure(value=measured[name]) if name in measured else Measure(value=None, reason="empty")
            )
            yield MeasureRow(metric=name, facet="", measure=measure)

    def _declaration(self, task: str, rows: Sequence[Row]) -> dict[str, Any]:
        """What the site has to know of a task that no registry holds."""
        cards = {
            m.name: {
                "title": m.title,
                "definition": m.definition,
                "unit": m.unit,
                **{end: value for end, value in (("lo", m.lo), ("hi", m.hi)) if math.isfinite(value)},
            }
            for m in self.metrics[task].values()
        }
        title = task or self.how.task
        return {
            "title": title,
            "dataset_title": title,
            "summary": self.how.source or "Imported from a table.",
            "metrics": cards,
            "timed": "duration_s" in rows[0],
            **({"test_over_train": self.how.test_over_train} if self.how.test_over_train else {}),
        }


def _registered(info: Any) -> Registered[Any]:
    return Registered(info=info, origin=ENGINE, source=Source(entry=""))


def _line(value: Any) -> str:
    """`value` on one line, "" for a missing one."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if missing else " ".join(str(value).split())


def _seconds(moment: Any) -> float:
    """Seconds since the epoch of a time or a text in ISO format; times without a zone are UTC."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise UsageError(f"started_at {moment!r} is not a time in ISO format") from None
    if not isinstance(moment, datetime):
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
