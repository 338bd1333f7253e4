"""What travels between the coordinator, the engines and the child processes.

A `WorkOrder` tells an engine to run one job, an `Outcome` says how it ended. Both are plain data that
survive JSON, so that every engine (inline, local, cluster) speaks the same language.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from bench.spec import Exhibit, Job, JSONScalar, Measure, Resources, SubmissionKind, Unit

Stage = Literal["collect", "score"]
Status = Literal["ok", "error", "invalid_output", "oom", "timeout", "crash", "cancelled", "skipped", "lost"]

FAILED: frozenset[Status] = frozenset({"error", "invalid_output", "oom", "timeout", "crash", "lost"})
FINAL: frozenset[Status] = FAILED | {"ok"}
MESSAGE_LIMIT, TRACEBACK_LIMIT, LOG_LIMIT = 2_000, 8_000, 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What makes the artifact of a job: a class, a command, or someone elsewhere, who made it already."""

    entry: str  # "module:Class", or "Class" when `file` is set; of a command its text
    file: str = ""  # absolute path: of the class's file, of the command's folder, of the artifact's folder
    kind: SubmissionKind = "class"
    command: tuple[str, ...] = ()  # with placeholders
    programs: tuple[str, ...] = ()  # what must be on PATH
    artifact_sha256: str = ""  # of the artifact made elsewhere
    seed: int | None = None  # of the unit that artifact was made for


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredUnit:
    """An artifact that a submission hands in, and the unit it says it was made for."""

    task: str
    dataset: str
    size: str
    repeat: int
    seed: int
    path: str  # relative to the submission's folder
    sha256: str  # as `bench.artifacts.artifact_digest`; "" as long as nothing was made


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """One job for an engine. `stages` is ("collect", "score"), or ("score",) to score an artifact again."""

    job: Job
    unit: Unit
    stages: tuple[Stage, ...]
    attempt: int
    model: Source
    task_entry: str  # "module:Class"
    metrics: tuple[str, ...]  # the declared metric names, for error messages before the task is loaded
    requires: tuple[str, ...]  # modules of model, task and dataset; a missing one means `skipped`
    device: str  # "cpu" or "cuda"
    work_dir: str  # an empty private folder on the worker: artifact/, exhibits/, scratch/ are made in it
    cache_dir: str  # shared by all jobs, for derived data that can be made again; a folder in it per stage
    log_path: str
    artifact_dir: str = ""  # for ("score",): where the finished artifact lies
    artifact_sha256: str = ""
    audit_writes: bool = (
        False  # let collect note files opened for writing outside its folders (`bench check`)
    )
    search_path: tuple[str, ...] = ()  # put on sys.path before anything is imported (submission folders)
    files: tuple[str, ...] = ()  # of a submission: its code and data, which travel to other machines with it
    sandbox: bool = False  # let collect see no network and change nothing but its own folders


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """One measured value as it goes into the store; `facet` is "" for the task's own value."""

    metric: str
    facet: str
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a job ended. Whatever a model does, an engine returns one of these."""

    job_key: str
    attempt: int
    status: Status
    stage: str = ""  # the stage that ended it: "", "collect" or "score"
    error_type: str = ""
    error_message: str = ""
    traceback: str = ""
    exit_code: int | None = None
    signal: str = ""  # e.g. "SIGSEGV"
    started_at: float = 0.0  # UTC, seconds since the epoch
    ended_at: float = 0.0
    duration_s: float = 0.0  # from the monotonic clock
    setup_s: float | None = None  # of the adapter
    collect_s: float | None = None
    score_s: float | None = None
    cpu_s: float | None = None
    peak_rss_mb: float | None = None
    peak_gpu_mb: float | None = None
    rows: tuple[MeasureRow, ...] = ()
    flags: tuple[str, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    notes: Mapping[str, JSONScalar] = field(default_factory=dict)  # of collect and score together
    artifact_sha256: str = ""
    artifact_bytes: int | None = None
    samples_file: str = ""  # npz in work_dir with `sample_ids` and one float32 array per metric; "" if none
    n_samples: int | None = None
    log_path: str = ""
    worker: str = ""
    hostname: str = ""
    device: str = ""
    device_name: str = ""


_T = TypeVar("_T", WorkOrder, Outcome)


def to_json(value: WorkOrder | Outcome) -> dict[str, Any]:
    """A JSON-ready dictionary of `value`."""
    return _plain(value)  # type: ignore[no-any-return]


def order_from_json(data: Mapping[str, Any]) -> WorkOrder:
    """Inverse of `to_json` for orders."""
    job = dict(data["job"])
    job["resources"] = Resources(**job["resources"])
    return WorkOrder(
        **{
            **data,
            "job": Job(**job),
            "unit": Unit(**data["unit"]),
            "model": _source(data["model"]),
            **{name: tuple(data[name]) for name in ("stages", "metrics", "requires", "search_path", "files")},
        }
    )


def _source(data: Mapping[str, Any]) -> Source:
    return Source(**{**data, **{name: tuple(data[name]) for name in ("command", "programs")}})


def outcome_from_json(data: Mapping[str, Any]) -> Outcome:
    """Inverse of `to_json` for outcomes."""
    rows = tuple(
        MeasureRow(metric=r["metric"], facet=r["facet"], measure=Measure(**r["measure"]))
        for r in data["rows"]
    )
    exhibits = tuple(Exhibit(**e) for e in data["exhibits"])
    return Outcome(**{**data, "rows": rows, "exhibits": exhibits, "flags": tuple(data["flags"])})


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
