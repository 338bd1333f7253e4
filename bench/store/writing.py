"""The writer of one run: outcomes in, durable rows and files out."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.errors import BenchError, InvalidOutput
from bench.planned import PlannedJob
from bench.store import atomic, locking, rows
from bench.store.layout import Layout
from bench.store.samples import store_samples
from bench.work import Outcome

MAX_JOBS = 50  # rows are written when so many outcomes wait, and at once if the last write was long ago:
QUIET_S, QUIET_SHARE = 0.5, 4.0  # so many seconds, or so many times what it took
RUN_LOCK_S = 30 * 86_400.0


def new_run_id() -> str:
    """UTC time and six random hex digits, e.g. 20250131T235959Z-a1b2c3."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


class RunWriter:
    """Stores the outcomes of one run; `close` ends it. One thread at a time.

    An outcome's files are in place before its row is: a row never names a file that is not there.
    """

    def __init__(
        self,
        layout: Layout,
        run: rows.RunFacts,
        description: Mapping[str, Any],
        *,
        keep_samples: bool,
        on_close: Callable[[], object],
    ) -> None:
        self.run_id = run.run_id
        self.stored = 0  # outcomes whose rows are on disk
        self._layout, self._run = layout, run
        self._keep_samples, self._on_close = keep_samples, on_close
        self._description = {"run_id": run.run_id, **description, "start": _now(), "end": None}
        self._pending: list[tuple[pa.RecordBatch, pa.RecordBatch]] = []
        self._sequence = 0
        self._quiet_until = float("-inf")
        self._closed = False
        with atomic.storing(layout.root):
            self._lock = locking.acquire(layout.run_lock(self.run_id), RUN_LOCK_S)
        self._write_description()

    @property
    def folder(self) -> Path:
        return self._layout.run(self.run_id)

    def work_dir(self, job_key: str, attempt: int) -> Path:
        """An empty private folder for one attempt, on the store's file system so that moving is cheap.

        What a killed run leaves there is removed by the next run.
        """
        path = self._layout.work(self.run_id) / f"{job_key}.{attempt}"
        with atomic.storing(path):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir(parents=True)
        return path

    def log_path(self, job_key: str, attempt: int) -> Path:
        """Where the log of an attempt goes; its folder exists."""
        path = self._layout.log(self.run_id, job_key, attempt)
        with atomic.storing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def add(self, planned: PlannedJob, outcome: Outcome, work_dir: Path | None = None) -> Outcome:
        """Store an outcome, with the files it left in `work_dir`, and return it as stored.

        That differs from `outcome` where a file or value breaks the contract: the status is then
        `invalid_output`. Raises `StoreError` if it could not be written.
        """
        facts = rows.JobFacts(planned=planned, run=self._run, log_path=self._relative_log(outcome))
        if not self._keep_samples:
            outcome = dataclasses.replace(outcome, samples_file="")
        try:
            batches = _build(outcome, facts)
            if work_dir is not None:
                self._store_files(planned, outcome, work_dir)
        except InvalidOutput as error:
            outcome = _rejected(outcome, str(error))
            batches = _build(outcome, facts)
        self._pending.append(batches)
        if len(self._pending) >= MAX_JOBS:
            self.flush()
        else:
            self.flush_if_due()
        return outcome

    def flush_if_due(self) -> None:
        """Write pending rows unless the last write was only a moment ago; call it at least once a second.

        What is pending when the process is killed has to be run again; writing costs at most a fifth of
        the time, so that is very little.
        """
        if time.monotonic() > self._quiet_until:
            self.flush()

    def flush(self) -> None:
        """Put all pending rows on disk. The metrics come first: a job's row says that all of it is there."""
        if not self._pending:
            return
        started = time.monotonic()
        jobs, metrics = ([pair[i] for pair in self._pending] for i in (0, 1))
        write_part(self._layout, "metrics", self.run_id, self._sequence, metrics)
        write_part(self._layout, "jobs", self.run_id, self._sequence, jobs)
        self._sequence += 1
        self.stored += len(self._pending)
        self._pending.clear()
        now = time.monotonic()
        self._quiet_until = now + min(QUIET_S, QUIET_SHARE * (now - started))

    def close(self, exit_code: int) -> None:
        """Write what is pending and the end of the run; compact the store. Later calls do nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self.flush()
            self._description |= {"end": _now(), "exit_code": exit_code, "stored": self.stored}
            self._write_description()
            self._on_close()
        finally:
            shutil.rmtree(self._layout.work(self.run_id), ignore_errors=True)
            if self._lock is not None:
                with contextlib.suppress(OSError):
                    self._lock.release()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None:
            self.close(exit_code=0)
            return
        with contextlib.suppress(BenchError):  # the error on its way matters more
            self.close(
                exit_code=130 if isinstance(error, KeyboardInterrupt) else getattr(error, "exit_code", 1)
            )

    def _store_files(self, planned: PlannedJob, outcome: Outcome, work_dir: Path) -> None:
        if outcome.artifact_sha256 and "collect" in planned.stages:
            target = self._layout.artifact(outcome.job_key, outcome.artifact_sha256)
            _install(work_dir / "artifact", target, "artifact")
        if outcome.exhibits:
            target = self._layout.exhibits(outcome.job_key, rows.score_of(planned, outcome))
            _check_exhibits(work_dir / "exhibits", outcome)
            _install(work_dir / "exhibits", target, "exhibits")
        if outcome.samples_file:
            target = self._layout.samples(self.run_id, outcome.job_key, outcome.attempt)
            metadata = {"job_key": outcome.job_key, "attempt": str(outcome.attempt), "run_id": self.run_id}
            store_samples(work_dir / outcome.samples_file, target, metadata)

    def _relative_log(self, outcome: Outcome) -> str:
        """The log's place in the store; "" for a log that is elsewhere or was never written."""
        path = Path(outcome.log_path)
        if not outcome.log_path or not path.is_relative_to(self._layout.root) or not path.is_file():
            return ""
        return path.relative_to(self._layout.root).as_posix()

    def _write_description(self) -> None:
        text = json.dumps(self._description, indent=1, default=str).encode() + b"\n"
        atomic.write_file(self.folder / "run.json", lambda file: file.write(text))


def write_part(
    layout: Layout, table: str, run_id: str, sequence: int, batches: Sequence[pa.RecordBatch]
) -> None:
    """Write one part file, unless there are no rows."""
    content = rows.to_table(table, batches)
    if content.num_rows:
        path = layout.parts(table) / f"{run_id}.{sequence:06d}.parquet"
        atomic.write_file(path, lambda file: pq.write_table(content, file, compression="zstd"))


def _build(outcome: Outcome, facts: rows.JobFacts) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    metrics = rows.metric_rows(outcome, facts)
    return rows.to_batch("jobs", [rows.job_row(outcome, facts)]), rows.to_batch("metrics", metrics)


def _install(source: Path, target: Path, what: str) -> None:
    if not source.is_dir() and not target.is_dir():
        raise InvalidOutput(f"the {what} folder was removed before it could be stored")
    if not target.is_dir():
        atomic.install_tree(source, target)


def _check_exhibits(folder: Path, outcome: Outcome) -> None:
    for exhibit in outcome.exhibits:
        parts = Path(exhibit.file).parts
        if not parts or os.path.isabs(exhibit.file) or ".." in parts:
            raise InvalidOutput(f"exhibit {exhibit.name!r} names {exhibit.file!r}, not a file in its folder")
        if not (folder / exhibit.file).is_file():
            raise InvalidOutput(f"exhibit {exhibit.name!r} has no file {exhibit.file!r}")


def _rejected(outcome: Outcome, message: str) -> Outcome:
    """The outcome of a job whose result cannot be stored; nothing of that result is kept."""
    return dataclasses.replace(
        outcome,
        status="invalid_output",
        error_type="InvalidOutput",
        error_message=message,
        traceback="",
        rows=(),
        flags=(),
        exhibits=(),
        notes={},
        artifact_sha256="",
        artifact_bytes=None,
        samples_file="",
        n_samples=None,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
