"""Runs a plan: hands orders to an engine, stores every outcome as it comes, survives everything.

The coordinator is the only writer of results and never runs a line of a model or a task.
"""

from __future__ import annotations

import dataclasses
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.errors import EngineError, StoreError
from bench.plan import UNKNOWN_SECONDS
from bench.planned import Plan, PlannedJob
from bench.progress import Reporter
from bench.work import FAILED, Outcome, WorkOrder

if TYPE_CHECKING:
    from bench.engine import Engine
    from bench.stopping import Watcher
    from bench.store import RunWriter, Store

FLUSH_EVERY_S = 1.0


@dataclass(kw_only=True)
class Summary:
    """How a run ended; `exit_code` follows the rules of the command line."""

    counts: Counter[str] = field(default_factory=Counter)
    failed_before: int = 0
    seconds: float = 0.0
    interrupted: int = 0  # the signal that ended the run
    aborted: str = ""  # why nothing more could be stored, e.g. a full disk
    broken: str = ""  # why the engine could run nothing more
    stored: int = 0  # jobs of this run whose rows are on disk
    exit_code: int = 0

    def count_cached(self, plan: Plan) -> None:
        """Count what is left alone; jobs that failed before count as failures of this run, too."""
        for planned in plan.with_action("cached"):
            self.failed_before += planned.has_failed
            self.counts["cached"] += not planned.has_failed

    def line(self, where: Path) -> str:
        """The last line of every run."""
        failed = sum(n for status, n in self.counts.items() if status in FAILED) + self.failed_before
        words = ("cancelled", "not needed")
        rest = "".join(f"{self.counts[word]} {word}, " for word in words if self.counts[word])
        return (
            f"{self.counts['ok']} ok, {failed} failed, {self.counts['skipped']} skipped, {rest}"
            f"{self.counts['cached']} cached ({self.seconds:.1f} s) -> {where}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    planned: PlannedJob
    work_dir: Path
    lock: ExitStack


class _Estimate:
    """How long the rest will take: what is expected of each job, corrected by how the others went."""

    def __init__(self, expected: dict[str, float], slots: int) -> None:
        self._left, self._slots = expected, max(1, slots)
        self._expected = self._actual = 0.0

    def after(self, key: str, outcome: Outcome) -> float:
        """Seconds left now that job `key` has ended."""
        self._expected += self._left.pop(key, 0.0)
        self._actual += outcome.duration_s
        ratio = self._actual / self._expected if self._expected else 1.0
        return ratio * sum(self._left.values()) / self._slots


class Coordinator:
    """One run of a plan on an engine into a store."""

    def __init__(
        self,
        *,
        store: Store,
        writer: RunWriter,
        engine: Engine,
        reporter: Reporter,
        cache_dir: Path,
        expected: Mapping[tuple[str, str], float],
        device: str = "cpu",
        sandbox: bool = False,
        fail_fast: bool = False,
        on_stored: Callable[[], None] | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._store, self._writer, self._engine, self._reporter = store, writer, engine, reporter
        self._cache_dir, self._expected, self._device = cache_dir, expected, device
        self._sandbox, self._fail_fast = sandbox, fail_fast
        self._on_stored, self._watcher = on_stored, watcher
        self._signal = 0
        self._stop = False

    def run(self, plan: Plan) -> Summary:
        """Run everything in `plan` that is to be run; every outcome is stored before the next is awaited."""
        summary, started = Summary(), time.monotonic()
        summary.count_cached(plan)
        todo = plan.with_action("run", "rescore")
        if self._watcher is not None:
            todo = self._watcher.order(todo)
        try:
            self._store_skips(plan.with_action("skip"), summary)
            self._reporter.start(len(todo), self._seconds(todo) / max(1, self._engine.slots))
            with self._signals():
                self._loop(todo, summary)
        except StoreError as error:
            summary.aborted = str(error)
        finally:
            self._engine.shutdown(kill=True)
            self._reporter.close()
        summary.interrupted = self._signal
        summary.seconds = time.monotonic() - started
        summary.exit_code = _exit_code(summary)
        return summary

    def _store_skips(self, skipped: Sequence[PlannedJob], summary: Summary) -> None:
        for planned in skipped:
            if planned.is_stored:
                summary.counts["skipped"] += 1
                continue
            now = time.time()
            outcome = Outcome(
                job_key=planned.job.key,
                attempt=planned.attempt,
                status="skipped",
                error_type="MissingRequirement",
                error_message=planned.reason,
                started_at=now,
                ended_at=now,
            )
            self._record(planned, outcome, summary)

    def _loop(self, todo: Sequence[PlannedJob], summary: Summary) -> None:
        """Keep the engine's queue short, so that a stop request finds little to cancel."""
        waiting = iter(todo)
        estimate = _Estimate({p.job.key: self._seconds([p]) for p in todo}, self._engine.slots)
        running: dict[Future[Outcome], _Running] = {}
        while True:
            while not (self._stop or summary.broken) and len(running) < 2 * self._engine.slots:
                planned = next(waiting, None)
                if planned is None:
                    break
                if self._watcher is not None and not self._watcher.wants(planned):
                    summary.counts["not needed"] += 1
                    continue
                self._submit(planned, running, summary)
            if not running:
                break
            done, _ = wait(running, timeout=FLUSH_EVERY_S, return_when=FIRST_COMPLETED)
            for future in done:
                job = running.pop(future)
                self._finish(job, future, summary, estimate)
            self._writer.flush_if_due()
            if self._on_stored is not None and done:
                self._on_stored()

    def _submit(
        self, planned: PlannedJob, running: dict[Future[Outcome], _Running], summary: Summary
    ) -> None:
        """Start a job unless another run is at it."""
        lock = ExitStack()
        if not lock.enter_context(self._store.lock(planned.job.key, planned.job.resources.timeout_s)):
            self._reporter.note(f"{planned.label}: another run is at it; left to that run")
            summary.counts["cached"] += 1
            return
        work_dir = self._writer.work_dir(planned.job.key, planned.attempt)
        job = _Running(planned=planned, work_dir=work_dir, lock=lock)
        try:
            running[self._engine.submit(self._order(planned, work_dir))] = job
        except EngineError as error:
            lock.close()
            shutil.rmtree(work_dir, ignore_errors=True)
            summary.broken = str(error)

    def _finish(self, job: _Running, future: Future[Outcome], summary: Summary, estimate: _Estimate) -> None:
        outcome = self._result(future, job.planned)
        try:
            outcome = self._record(job.planned, outcome, summary, job.work_dir)
        finally:
            job.lock.close()
            shutil.rmtree(job.work_dir, ignore_errors=True)
        if self._watcher is not None and (
            news := self._watcher.stored(job.planned, outcome, self._writer.run_id)
        ):
            self._reporter.note(news)
        self._reporter.finish(job.planned, outcome, estimate.after(job.planned.job.key, outcome))
        if self._fail_fast and outcome.status in FAILED and not self._stop:
            self._reporter.note("stopping at the first failure (--fail-fast)")
            self._halt()

    def _order(self, planned: PlannedJob, work_dir: Path) -> WorkOrder:
        job, fields = planned.job, {}
        if planned.action == "rescore":
            folder = self._store.artifact_dir(job.key, planned.artifact_sha256)
            fields = {"artifact_dir": str(folder), "artifact_sha256": planned.artifact_sha256}
        return planned.order(
            device=self._device,
            work_dir=work_dir,
            cache_dir=self._cache_dir,
            log_path=self._writer.log_path(job.key, planned.attempt),
            sandbox=self._sandbox,
            **fields,
        )

    def _result(self, future: Future[Outcome], planned: PlannedJob) -> Outcome:
        """The outcome; whatever the infrastructure did wrong becomes one too."""
        try:
            outcome = future.result()
        except BaseException as error:
            outcome = Outcome(
                job_key=planned.job.key,
                attempt=planned.attempt,
                status="lost",
                error_type=type(error).__name__,
                error_message=str(error),
                started_at=time.time(),
                ended_at=time.time(),
            )
        if self._stop and outcome.status in ("lost", "crash"):
            outcome = dataclasses.replace(outcome, status="cancelled", error_message="the run was stopped")
        return outcome

    def _record(
        self, planned: PlannedJob, outcome: Outcome, summary: Summary, work_dir: Path | None = None
    ) -> Outcome:
        stored = self._writer.add(planned, outcome, work_dir)
        summary.counts[stored.status] += 1
        return stored

    def _seconds(self, jobs: Sequence[PlannedJob]) -> float:
        return sum(self._expected.get((p.job.model, p.job.task), UNKNOWN_SECONDS) for p in jobs)

    def _halt(self) -> None:
        self._stop = True
        self._engine.shutdown(kill=True)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first SIGINT or SIGTERM stops the run in order; a second one ends the process at once."""

        def handle(number: int, frame: object) -> None:
            if self._stop:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)
            self._signal = number
            with suppress(RuntimeError):  # the signal may have come in the middle of writing to that stream
                self._reporter.note(
                    "stopping: running jobs are killed, finished ones kept (again: exit at once)"
                )
            self._halt()

        old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)


def _exit_code(summary: Summary) -> int:
    if summary.aborted:
        return 3
    if summary.interrupted:
        return 128 + summary.interrupted
    failed = summary.failed_before + sum(
        n for status, n in summary.counts.items() if status in FAILED or status == "cancelled"
    )
    return 1 if failed or summary.broken else 0
