"""The default engine: one supervisor process per slot on this machine, one thread here for each."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from bench.engine.base import Engine, Grant, OnProgress
from bench.engine.devices import GpuPool, usable_cores
from bench.engine.driver import GROWTH_MB, SupervisorDied, SupervisorDriver
from bench.engine.report import unfinished
from bench.engine.waiting import RESUBMISSIONS, Ticket, WaitingLine
from bench.work import Outcome, WorkOrder

_JOIN_PATIENCE_S = 10.0


def make_line(gpus: Sequence[str]) -> WaitingLine:
    """A line of jobs that share the devices `gpus`."""
    pool = GpuPool(tuple(gpus))
    return WaitingLine(
        grant=lambda slot, ticket: pool.take(ticket.gpus_wanted),
        give_back=lambda ticket: pool.give_back(ticket.gpus_wanted, ticket.gpus),
    )


class LocalEngine(Engine):
    """Runs jobs in child processes on this machine, `workers` at a time.

    `gpus` names the devices that jobs may share (see `bench.engine.devices.visible_gpus`). `threads` for
    numeric libraries are what a job declares as `resources.cpus`, and not the cores that a slot could
    have: with other numbers of threads sums are taken in another order, and results would depend on the
    number of workers.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        gpus: Sequence[str] = (),
        threads: int | None = None,
        on_progress: OnProgress | None = None,
        growth_mb: float = GROWTH_MB,
    ) -> None:
        self._slots = workers or (len(gpus) if gpus else usable_cores())
        self._gpu_count = len(gpus)
        self._thread_count = threads
        self._on_progress = on_progress
        self._killed = False
        self._line = make_line(gpus)
        self._drivers = [SupervisorDriver(f"local-{i}", growth_mb=growth_mb) for i in range(self._slots)]
        self._threads = [
            threading.Thread(target=self._serve, args=(i,), name=f"bench-slot-{i}", daemon=True)
            for i in range(self._slots)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, order: WorkOrder) -> Future[Outcome]:
        ticket = Ticket(order=order, gpus_wanted=self._gpus_wanted(order))
        self._line.put(ticket)
        return ticket.future

    def shutdown(self, kill: bool = False) -> None:
        self._killed = self._killed or kill
        self._line.close(drop=kill)
        if kill:
            # Together, not one after the other: each may take its time to die.
            killers = [threading.Thread(target=driver.kill) for driver in self._drivers]
            for killer in killers:
                killer.start()
            for killer in killers:
                killer.join()
        # Bounded when killing: a signal handler may hold what a callback of a future waits for.
        for thread in self._threads:
            thread.join(_JOIN_PATIENCE_S if kill else None)

    def _gpus_wanted(self, order: WorkOrder) -> float:
        """What the job declares; one that does not say gets an even share of the machine."""
        if order.device == "cpu" or ("collect" not in order.stages and not self._gpu_count):
            return 0.0
        return order.job.resources.gpus or min(1.0, self._gpu_count / self._slots)

    def _serve(self, slot: int) -> None:
        """The life of one slot's thread."""
        driver = self._drivers[slot]
        while (ticket := self._line.take(slot)) is not None:
            if ticket.future.set_running_or_notify_cancel():
                try:
                    outcome = self._run(driver, ticket)
                except BaseException as error:
                    ticket.future.set_exception(error)
                else:
                    ticket.future.set_result(outcome)
            self._line.done(ticket)
        driver.stop()

    def _run(self, driver: SupervisorDriver, ticket: Ticket) -> Outcome:
        """Run a job; if its supervisor dies with it, try again on a new one, a few times."""
        order = ticket.order
        threads = self._thread_count or max(1, order.job.resources.cpus)
        grant = Grant(threads=threads, gpus=",".join(ticket.gpus))
        started = time.time()
        detail = ""
        for resubmission in range(RESUBMISSIONS + 1):
            if self._killed:
                break
            attempt = replace(order, attempt=order.attempt + resubmission)
            try:
                return driver.run(attempt, grant, self._progress_of(order))
            except SupervisorDied as error:
                detail = str(error)
                _empty(Path(order.work_dir))
        if self._killed:
            return unfinished(order, "cancelled", "the run was stopped", started)
        return unfinished(attempt, "lost", f"the supervisor of the job died: {detail}", started)

    def _progress_of(self, order: WorkOrder) -> Callable[[str, int, int], None] | None:
        tell, key = self._on_progress, order.job.key
        if tell is None:
            return None
        return lambda stage, done, total: tell(key, stage, done, total)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
