"""What went wrong, in groups: jobs of one model and task that ended alike are told once."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.leaderboard import text
from bench.leaderboard.records import JobRecord

EXCERPT_BYTES, EXCERPT_LINES = 6_000, 40
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Jobs of one model and task that ended with the same words; texts are of the first of them."""

    id: str
    status: str
    failed: bool  # False: skipped
    model: str
    model_slug: str
    task: str
    task_slug: str
    stage: str
    error_type: str
    message: str
    traceback: str
    log: str
    ended: str  # exit code or signal in words
    units: tuple[str, ...]  # "digits, repeat 0"


def group(jobs: Iterable[JobRecord]) -> tuple[list[Failure], dict[str, str]]:
    """All jobs that are not ok as groups, failures before skips; and job key -> id of its group."""
    groups: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        if not job.ok:
            groups[_group_id(job)].append(job)
    ids = {job.job_key: gid for gid, members in groups.items() for job in members}
    found = [_failure(gid, members) for gid, members in groups.items()]
    found.sort(key=lambda f: (not f.failed, f.task, f.model, f.status, f.id))
    return found, ids


def counts(failures: Sequence[Failure]) -> Mapping[str, int]:
    """Jobs by status."""
    total: dict[str, int] = defaultdict(int)
    for failure in failures:
        total[failure.status] += len(failure.units)
    return dict(sorted(total.items()))


def excerpt(store: Path, log_path: str) -> str:
    """The end of a job's log; "" where there is none or it lies outside the store."""
    if not log_path:
        return ""
    root = store.resolve()
    path = (root / log_path).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        return ""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - EXCERPT_BYTES))
        tail = file.read().decode("utf-8", "replace")
    lines = _ANSI.sub("", tail).replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    cut = size > EXCERPT_BYTES or len(lines) > EXCERPT_LINES
    shown = text.visible("\n".join(lines[-EXCERPT_LINES:]))
    return f"… (earlier lines left out)\n{shown}" if cut else shown


def _group_id(job: JobRecord) -> str:
    same = [job.model, job.limit, job.task, job.status, job.stage, job.error_type, job.error_message]
    return "f-" + hashlib.sha256(json.dumps(same).encode()).hexdigest()[:12]


def _failure(gid: str, jobs: Sequence[JobRecord]) -> Failure:
    first = jobs[0]
    return Failure(
        id=gid,
        status=text.visible(first.status, 24),
        failed=first.failed,
        model=text.visible(first.model, 80),
        model_slug=text.slug(first.model),
        task=text.visible(first.task, 80),
        task_slug=text.slug(first.task),
        stage=text.visible(first.stage, 24),
        error_type=text.visible(first.error_type, 120),
        message=text.visible(first.error_message, 2_000),
        traceback=text.visible(first.traceback, 8_000),
        log=excerpt(first.store, first.log_path),
        ended=_ended(first),
        units=tuple(_unit(j) for j in jobs),
    )


def _ended(job: JobRecord) -> str:
    if job.signal:
        return f"killed by {text.visible(job.signal, 24)}"
    return f"exit code {job.exit_code}" if job.exit_code is not None else ""


def _unit(job: JobRecord) -> str:
    limit = "" if job.limit is None else f", limit {job.limit}"
    return f"{text.visible(job.dataset, 64)}, repeat {job.repeat}{limit}"
