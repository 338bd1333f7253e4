"""What one stage of a job tells about itself, and how stages add up to an `Outcome`."""

from __future__ import annotations

import dataclasses
import math
import socket
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.engine.devices import cpu_name
from bench.errors import InvalidOutput, MissingRequirement
from bench.spec import Exhibit, JSONScalar, Measure
from bench.work import MESSAGE_LIMIT, TRACEBACK_LIMIT, MeasureRow, Outcome, Stage, Status, WorkOrder

_SECONDS = ("setup_s", "collect_s", "score_s")
_REPORTABLE: tuple[Status, ...] = ("ok", "error", "invalid_output", "oom", "skipped")
_MAX_NOTES = 1_000
_UNREPORTED = {"lost": "SupervisorDied", "invalid_output": "InvalidOutput", "error": "OSError"}


@dataclass(slots=True, kw_only=True)
class StageReport:
    """Filled while a stage runs, so that a stage that fails still tells how far it came."""

    stage: Stage
    status: Status = "ok"
    error_type: str = ""
    error_message: str = ""
    traceback: str = ""
    setup_s: float | None = None
    collect_s: float | None = None
    score_s: float | None = None
    peak_gpu_mb: float | None = None
    device_name: str = ""
    notes: dict[str, JSONScalar] = field(default_factory=dict)
    rows: tuple[MeasureRow, ...] = ()
    flags: tuple[str, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    artifact_sha256: str = ""
    artifact_bytes: int | None = None
    samples_file: str = ""
    n_samples: int | None = None

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def fail(self, error: BaseException) -> None:
        """Record `error` as the end of this stage. Survives exceptions that can't be printed."""
        self.status = _status_of(error)
        self.error_type = _type_name(error)
        self.error_message = _message(error)
        self.traceback = clean_text(_trace(error), TRACEBACK_LIMIT, keep="end")


def report_from_json(data: Mapping[str, Any], stage: Stage) -> StageReport:
    """Read a report that came out of a child. The child may have run hostile code: nothing is trusted.

    Raises `ValueError` (or `TypeError`, `KeyError`) if it is not a report. What only scoring can know is
    taken from no other stage.
    """
    status = data["status"]
    if status not in _REPORTABLE:
        raise ValueError(f"a stage can't report the status {status!r}")
    report = StageReport(
        stage=stage,
        status=status,
        error_type=clean_text(data["error_type"], 200),
        error_message=clean_text(data["error_message"], MESSAGE_LIMIT),
        traceback=clean_text(data["traceback"], TRACEBACK_LIMIT, keep="end"),
        notes=check_notes(data["notes"]),
        device_name=clean_text(data["device_name"], 200),
        peak_gpu_mb=_number(data["peak_gpu_mb"]),
        setup_s=_number(data["setup_s"]),
        collect_s=_number(data["collect_s"]),
        score_s=_number(data["score_s"]),
    )
    if stage == "score":
        report.rows = tuple(
            MeasureRow(metric=r["metric"], facet=r["facet"], measure=Measure(**r["measure"]))
            for r in data["rows"]
        )
        report.flags = tuple(data["flags"])
        report.exhibits = tuple(Exhibit(**e) for e in data["exhibits"])
        report.artifact_sha256 = data["artifact_sha256"]
        report.artifact_bytes = data["artifact_bytes"]
        report.samples_file = data["samples_file"]
        report.n_samples = data["n_samples"]
    return report


def make_outcome(order: WorkOrder, reports: Sequence[StageReport], **extra: Any) -> Outcome:
    """The outcome of a job whose stages ended as `reports` say; the last one decides."""
    last = reports[-1]
    gpu = [r.peak_gpu_mb for r in reports if r.peak_gpu_mb is not None]
    notes: dict[str, JSONScalar] = {}
    for report in reports:
        notes.update(report.notes)
    fields: dict[str, Any] = {
        "status": last.status,
        "stage": last.stage,
        "error_type": last.error_type,
        "error_message": last.error_message,
        "traceback": last.traceback,
        "peak_gpu_mb": max(gpu) if gpu else None,
        "notes": notes,
        "artifact_sha256": last.artifact_sha256,
        "artifact_bytes": last.artifact_bytes,
        "device": order.device,
        "device_name": next((r.device_name for r in reports if r.device_name), cpu_name()),
        "hostname": socket.gethostname(),
        "log_path": order.log_path,
    }
    for name in _SECONDS:
        fields[name] = next((getattr(r, name) for r in reports if getattr(r, name) is not None), None)
    if last.status == "ok":
        for name in ("rows", "flags", "exhibits", "samples_file", "n_samples"):
            fields[name] = getattr(last, name)
    return Outcome(**{"job_key": order.job.key, "attempt": order.attempt, **fields, **extra})


def unfinished(order: WorkOrder, status: Status, message: str, started: float) -> Outcome:
    """The outcome of a job of which no process reported: mostly "cancelled", or "lost" with its machine.

    `started` is a time of `time.time()`.
    """
    return Outcome(
        job_key=order.job.key,
        attempt=order.attempt,
        status=status,
        error_type=_UNREPORTED.get(status, ""),
        error_message=clean_text(message, MESSAGE_LIMIT),
        started_at=started,
        ended_at=max(started, time.time()),
        device=order.device,
        log_path=order.log_path,
    )


def check_notes(notes: Any, whose: str = "notes") -> dict[str, JSONScalar]:
    """Plain, finite JSON scalars by name; anything else is `InvalidOutput`."""
    if not isinstance(notes, Mapping):
        raise InvalidOutput(f"{whose} must be a mapping of names to JSON scalars, not {type(notes).__name__}")
    if len(notes) > _MAX_NOTES:
        raise InvalidOutput(f"{whose} have {len(notes)} entries; at most {_MAX_NOTES} are allowed")
    return {_note_name(name, whose): _note_value(name, value, whose) for name, value in notes.items()}


def _note_name(name: Any, whose: str) -> str:
    if not isinstance(name, str) or not name or len(name) > 100:
        raise InvalidOutput(f"{whose} have the key {str(name)[:120]!r}; use strings of 1-100 characters")
    return clean_text(name, 100)


def _note_value(name: Any, value: Any, whose: str) -> JSONScalar:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a NumPy or torch scalar
    if isinstance(value, str):
        return clean_text(value, MESSAGE_LIMIT)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise InvalidOutput(f"{whose}[{name!r}] is {value}; leave out what is not a finite number")
    raise InvalidOutput(f"{whose}[{name!r}] is a {type(value).__name__}; use a string, number, bool or None")


def clean_text(text: object, limit: int, *, keep: str = "start") -> str:
    """`text` as storable UTF-8 (no lone surrogates), at most `limit` characters of its start or end."""
    if not isinstance(text, str):
        raise ValueError(f"expected text, got {type(text).__name__}")
    text = str(text.encode("utf-8", "replace"), "utf-8")
    if len(text) <= limit:
        return text
    return text[: limit - 1] + "…" if keep == "start" else "…" + text[len(text) - limit + 1 :]


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value!r}")
    return float(value)


def _status_of(error: BaseException) -> Status:
    if isinstance(error, MissingRequirement):
        return "skipped"
    if isinstance(error, InvalidOutput):
        return "invalid_output"
    return "oom" if is_out_of_memory(error) else "error"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that host or GPU memory ran out (torch says so in three different ways)."""
    if isinstance(error, MemoryError) or _type_name(error) == "OutOfMemoryError":
        return True
    signs = ("CUDA out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "DefaultCPUAllocator: can't allocate memory")
    return isinstance(error, RuntimeError) and any(sign in _message(error) for sign in signs)


def _type_name(error: BaseException) -> str:
    try:
        return clean_text(type(error).__name__, 200)
    except BaseException:  # a metaclass may do anything
        return "Exception"


def _message(error: BaseException) -> str:
    try:
        return clean_text(str(error), MESSAGE_LIMIT)
    except BaseException:  # `__str__` is code of the job
        return "<unprintable>"


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:  # formatting runs `__str__` and `__cause__` of the job's exceptions
        return "".join(traceback.format_tb(error.__traceback__)) + f"{_type_name(error)}: <unprintable>\n"
