"""Where results came from: one entry per run of the bench."""

from __future__ import annotations

import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench.leaderboard import text
from bench.leaderboard.records import JobRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The current results that one run contributed."""

    id: str
    command: str
    started: datetime | None
    ended: datetime | None
    statuses: Mapping[str, int]
    sizes: tuple[str, ...]
    bench: str
    commit: str
    python: str
    torch: str
    platform: str
    device: str
    host: str


def collect(jobs: Iterable[JobRecord]) -> list[Run]:
    """Runs, newest first."""
    groups: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        groups[job.run_id].append(job)
    return [_run(run_id, groups[run_id]) for run_id in sorted(groups, reverse=True)]


def _run(run_id: str, jobs: list[JobRecord]) -> Run:
    first = jobs[0]
    dirty = " (with local changes)" if any(j.git_dirty for j in jobs) else ""
    return Run(
        id=text.visible(run_id, 64),
        command=_command(first.store, run_id),
        started=min((j.started_at for j in jobs if j.started_at), default=None),
        ended=max((j.ended_at for j in jobs if j.ended_at), default=None),
        statuses=dict(sorted(Counter(text.visible(j.status, 24) for j in jobs).items())),
        sizes=tuple(sorted({text.visible(j.size, 24) for j in jobs})),
        bench=text.visible(first.bench_version, 64),
        commit=text.visible(first.git_sha[:12], 64) + dirty if first.git_sha else "",
        python=text.visible(first.python_version, 64),
        torch=text.visible(first.torch_version, 64),
        platform=text.visible(first.platform, 200),
        device=text.visible(first.device_name or first.device, 100),
        host=text.visible(first.hostname, 100),
    )


def _command(store: Path, run_id: str) -> str:
    """The command line of the run as it was recorded; "" if it was not."""
    if not run_id.replace("-", "").isalnum():
        return ""
    try:
        argv = json.loads((store / "runs" / run_id / "run.json").read_text("utf-8"))["argv"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return text.visible(shlex.join(str(a) for a in argv), 2_000) if isinstance(argv, list) else ""
