"""The default engine: one supervisor process per slot on this machine, one thread here for each."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.engine.base import Engine, EngineError, Grant, OnProgress
from bench.engine.devices import GpuPool, usable_cores
from bench.engine.driver import GROWTH_MB, SupervisorDied, SupervisorDriver
from bench.work import Outcome, Status, WorkOrder

RESUBMISSIONS = 2
_JOIN_PATIENCE_S = 10.0


@dataclass(slots=True, kw_only=True)
class _Ticket:
    order: WorkOrder
    gpus_wanted: float
    future: Future[Outcome] = field(default_factory=Future)
    gpus: tuple[str, ...] = ()


class _Queue:
    """Waiting jobs, in order of submission, handed to slots by model and by free GPUs."""

    def __init__(self, gpus: Sequence[str]) -> None:
        self._pool = GpuPool(tuple(gpus))
        self._waiting: list[_Ticket] = []
        self._model_of: dict[int, str] = {}
        self._closed = self._dropped = False
        # Re-entrant: `close` may be called by a signal handler that interrupted `put` in the same thread.
        self._changed = threading.Condition(threading.RLock())

    def put(self, ticket: _Ticket) -> None:
        with self._changed:
            if self._closed:
                raise EngineError("the engine was shut down; it takes no more jobs")
            self._waiting.append(ticket)
            self._changed.notify()

    def take(self, slot: int) -> _Ticket | None:
        """The next job for `slot`; blocks until there is one. None when the queue is closed and empty."""
        with self._changed:
            while True:
                ticket = self._pick(slot)
                if ticket is not None:
                    self._model_of[slot] = ticket.order.job.model
                    return ticket
                if self._closed and not self._waiting:
                    return None
                self._changed.wait()

    def _pick(self, slot: int) -> _Ticket | None:
        """The first job of the slot's last model, else of a model that no other slot is at, else any."""
        last = self._model_of.get(slot)
        others = {model for other, model in self._model_of.items() if other != slot}

        def rank(ticket: _Ticket) -> int:
            model = ticket.order.job.model
            return 0 if model == last else 2 if model in others else 1

        for ticket in sorted(self._waiting, key=rank):  # stable: order of submission within a rank
            gpus = () if self._dropped else self._pool.take(ticket.gpus_wanted)
            if gpus is not None:
                ticket.gpus = gpus
                self._waiting.remove(ticket)
                return ticket
        return None

    def done(self, ticket: _Ticket) -> None:
        with self._changed:
            self._pool.give_back(ticket.gpus_wanted, ticket.gpus)
            self._changed.notify_all()

    def close(self, drop: bool) -> None:
        """Take no more jobs; with `drop`, hand out what waits at once, for its takers to cancel."""
        with self._changed:
            self._closed = True
            self._dropped = self._dropped or drop
            self._changed.notify_all()


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
        self._queue = _Queue(gpus)
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
        ticket = _Ticket(order=order, gpus_wanted=self._gpus_wanted(order))
        self._queue.put(ticket)
        return ticket.future

    def shutdown(self, kill: bool = False) -> None:
        self._killed = self._killed or kill
        self._queue.close(drop=kill)
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
        while (ticket := self._queue.take(slot)) is not None:
            if ticket.future.set_running_or_notify_cancel():
                try:
                    outcome = self._run(driver, ticket)
                except BaseException as error:
                    ticket.future.set_exception(error)
                else:
                    ticket.future.set_result(outcome)
            self._queue.done(ticket)
        driver.stop()

    def _run(self, driver: SupervisorDriver, ticket: _Ticket) -> Outcome:
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
            return _unfinished(order, "cancelled", "the run was stopped", started)
        return _unfinished(attempt, "lost", f"the supervisor of the job died: {detail}", started)

    def _progress_of(self, order: WorkOrder) -> Callable[[str, int, int], None] | None:
        tell, key = self._on_progress, order.job.key
        if tell is None:
            return None
        return lambda stage, done, total: tell(key, stage, done, total)


def _unfinished(order: WorkOrder, status: Status, message: str, started: float) -> Outcome:
    return Outcome(
        job_key=order.job.key,
        attempt=order.attempt,
        status=status,
        error_type="SupervisorDied" if status == "lost" else "",
        error_message=message[:2000],
        started_at=started,
        ended_at=max(started, time.time()),
        device=order.device,
        log_path=order.log_path,
    )


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
