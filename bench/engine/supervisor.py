"""The process that owns one slot: it loads the heavy libraries once and forks a child for every stage.

    python -m bench.engine.supervisor NAME OUTCOME_FD GROWTH_MB

Orders come as frames on stdin; a ready message, progress and outcomes go as frames to OUTCOME_FD. User code
never runs here. When stdin ends, everything below this process is killed and it exits.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from bench.engine import loading, sandbox
from bench.engine.base import Grant
from bench.engine.child import Assignment
from bench.engine.frames import FrameReader, write_frame
from bench.engine.joblog import CappedLog
from bench.engine.launch import launch
from bench.engine.memory import MemoryMeter
from bench.engine.processes import adopt_orphans, resident_bytes
from bench.engine.report import StageReport, make_outcome
from bench.engine.stages import prepare
from bench.engine.verdict import judge
from bench.engine.watch import Orphaned, StageEnd, Watch
from bench.errors import MissingRequirement
from bench.work import Outcome, Stage, WorkOrder, order_from_json, to_json

# What a freshly started interpreter uses after importing the libraries; forks share it, others must not pay.
FRESH_INTERPRETER_BYTES = 400 * 2**20


def may_fork() -> bool:
    """Forking is the rule; not on macOS, whose system libraries forbid it, nor with BENCH_NO_FORK=1."""
    return sys.platform != "darwin" and os.environ.get("BENCH_NO_FORK", "") in ("", "0")


class Supervisor:
    """Runs the orders of one slot, one after the other."""

    def __init__(self, name: str, outcome_fd: int, growth_mb: float) -> None:
        self._name = name
        self._out = outcome_fd
        self._growth = growth_mb * 2**20
        self._fork = may_fork()
        self._orders = FrameReader(0)
        self._size_at_start = 0

    def serve(self) -> None:
        """Work until stdin ends."""
        if self._fork:
            preload()
        self._size_at_start = resident_bytes([os.getpid()])
        self._tell({"ready": os.getpid()})
        while not self._orders.at_end:
            for frame in self._orders.read():
                order, grant = order_from_json(frame["order"]), Grant(**frame["grant"])
                outcome = self._run(order, grant)
                self._tell({"outcome": to_json(outcome), "retire": self._has_grown()})

    def _tell(self, frame: dict[str, Any]) -> None:
        try:
            write_frame(self._out, frame)
        except OSError:
            raise Orphaned from None

    def _has_grown(self) -> bool:
        return resident_bytes([os.getpid()]) - self._size_at_start > self._growth

    def _run(self, order: WorkOrder, grant: Grant) -> Outcome:
        """One job: its stages in turn, until one does not end well."""
        if self._fork:
            loading.warm_up(order)
            _assert_forkable()
        started_at, started = time.time(), time.monotonic()
        deadline = started + order.job.resources.timeout_s
        reports: list[StageReport] = []
        ends: list[StageEnd] = []
        extra: dict[str, Any] = {}
        with CappedLog(Path(order.log_path)) as log:
            for stage in order.stages:
                end = self._run_stage(order, stage, grant, deadline, log)
                report, extra = judge(end, stage, order)
                reports.append(report)
                ends.append(end)
                if report.status != "ok":
                    break
        duration = time.monotonic() - started
        return make_outcome(
            order,
            reports,
            **{
                "started_at": started_at,
                "ended_at": started_at + duration,
                "duration_s": duration,
                "cpu_s": sum(end.cpu_s for end in ends),
                "peak_rss_mb": max(end.peak_rss_mb for end in ends),
                "worker": self._name,
                **extra,
            },
        )

    def _run_stage(
        self, order: WorkOrder, stage: Stage, grant: Grant, deadline: float, log: CappedLog
    ) -> StageEnd:
        self._tell({"progress": [stage, 0, 0]})
        prepare(order, stage)
        assignment = Assignment(
            order=order,
            stage=stage,
            grant=grant,
            deadline=deadline,
            supervisor=os.getpid(),
            sandbox=_sandbox_for(order, stage),
        )
        is_forked = self._fork and assignment.sandbox != "bubblewrap"
        memory = MemoryMeter(
            order.job.resources.memory_mb * 2**20, allowance=0 if is_forked else FRESH_INTERPRETER_BYTES
        )
        return Watch(
            child=launch(assignment, fork=self._fork),
            deadline=deadline,
            memory=memory,
            log=log,
            orders=self._orders,
            on_progress=lambda done, total: self._tell({"progress": [stage, done, total]}),
        ).follow()


def _sandbox_for(order: WorkOrder, stage: Stage) -> str:
    """Only collect runs what others wrote. Where no sandbox works, its child says so instead of running it."""
    if not order.sandbox or stage != "collect":
        return ""
    try:
        return sandbox.find_way()
    except MissingRequirement as error:
        return f"-{error}"


def preload() -> None:
    """Import what nearly every job needs. No parallel operation may run here: forks would hang in the next."""
    import numpy
    import pandas
    import pyarrow
    import pyarrow.parquet
    import scipy
    import sklearn
    import torch

    import bench.engine.stages
    import bench.registry  # noqa: F401

    del numpy, pandas, pyarrow, scipy, sklearn, torch
    _assert_forkable()
    gc.collect()
    gc.freeze()  # a collection in a child must not write to, and so copy, every page it shares


def _assert_forkable() -> None:
    torch = sys.modules["torch"]
    if torch.cuda.is_initialized():
        raise RuntimeError("CUDA was initialised in a supervisor; its forks could not use a GPU")


_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def _stop(number: int, frame: object) -> NoReturn:
    for other in _STOP_SIGNALS:  # cleaning up must not be interrupted
        signal.signal(other, signal.SIG_IGN)
    raise Orphaned


def main() -> None:
    """Entry of the supervisor process."""
    name, outcome_fd, growth_mb = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    os.set_inheritable(outcome_fd, False)
    for number in _STOP_SIGNALS:
        signal.signal(number, _stop)
    adopt_orphans()
    with contextlib.suppress(Orphaned):
        Supervisor(name, outcome_fd, growth_mb).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
