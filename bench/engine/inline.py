"""An engine without processes: jobs run right here, one after the other. For debuggers and coverage."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from bench.engine.base import Engine, EngineError, OnProgress
from bench.engine.report import make_outcome
from bench.engine.stages import prepare, run_stage
from bench.work import Outcome, Stage, WorkOrder


class InlineEngine(Engine):
    """Runs each job inside `submit`, without limits. A crash of the model is a crash of the bench."""

    def __init__(self, *, on_progress: OnProgress | None = None) -> None:
        self._on_progress = on_progress
        self._closed = False

    @property
    def slots(self) -> int:
        return 1

    def submit(self, order: WorkOrder) -> Future[Outcome]:
        if self._closed:
            raise EngineError("the engine was shut down; it takes no more jobs")
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(self._run(order))
        return future

    def shutdown(self, kill: bool = False) -> None:
        self._closed = True

    def _run(self, order: WorkOrder) -> Outcome:
        started_at, started, cpu = time.time(), time.monotonic(), time.process_time()
        deadline = started + order.job.resources.timeout_s
        Path(order.log_path).parent.mkdir(parents=True, exist_ok=True)
        reports = []
        with (
            open(order.log_path, "w", encoding="utf-8", errors="backslashreplace") as log,
            contextlib.redirect_stdout(log),
            contextlib.redirect_stderr(log),
        ):
            for stage in order.stages:
                self._tell(order, stage, 0, 0)
                prepare(order, stage)
                reports.append(run_stage(order, stage, deadline, self._teller(order, stage)))
                if reports[-1].status != "ok":
                    break
        if reports[-1].error_type == "KeyboardInterrupt":
            raise KeyboardInterrupt
        duration = time.monotonic() - started
        return make_outcome(
            order,
            reports,
            started_at=started_at,
            ended_at=started_at + duration,
            duration_s=duration,
            cpu_s=time.process_time() - cpu,
            worker="inline",
        )

    def _teller(self, order: WorkOrder, stage: Stage) -> Callable[[int, int], None]:
        return lambda done, total: self._tell(order, stage, done, total)

    def _tell(self, order: WorkOrder, stage: Stage, done: int, total: int) -> None:
        if self._on_progress is not None:
            self._on_progress(order.job.key, stage, done, total)
