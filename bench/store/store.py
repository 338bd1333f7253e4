"""The store as the rest of the bench sees it."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench import provenance
from bench.errors import StoreError
from bench.planned import Past
from bench.schema import TABLES
from bench.store import atomic, checking, compacting, exporting, layout, locking, merging, reading, selection
from bench.store.checking import Problem
from bench.store.layout import Layout
from bench.store.rows import RunFacts, to_batch, use_row
from bench.store.writing import RunWriter, new_run_id, write_part

TOO_MANY_PARTS = 200


class Store:
    """A results folder. `open` checks it; everything else may be called in any order and by many processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.layout = Layout(path)
        self._reported: set[Path] = set()

    @classmethod
    def open(cls, path: str | Path, create: bool = False) -> Store:
        """The store at `path`, made if `create` is set and there is none.

        Raises `UsageError` if there is no store or one of a newer format, `StoreError` if `path` is a file,
        a folder with something else in it, or cannot be written.
        """
        root = Path(path).absolute()
        layout.check_folder(root, create=create)
        return cls(root)

    def probe(self, min_free_mb: float = 512) -> None:
        """Raise `StoreError` now if results could not be written later."""
        layout.probe(self.path, min_free_mb)

    def read(
        self, table: str, columns: Sequence[str] | None = None, where: reading.Where | None = None
    ) -> pa.Table:
        """All rows of `table` ("jobs", "metrics" or "uses"), in the types of `bench.schema`.

        `where` maps columns to a value or a collection of values. Damaged and foreign files are left out
        and named once on stderr.
        """
        schema = TABLES[table]
        wanted = schema.names if columns is None else list(columns)
        unknown = [name for name in (*wanted, *(where or {})) if name not in schema.names]
        if unknown:
            raise KeyError(f"table {table} has no column {unknown[0]!r}")
        loaded = reading.load(self.layout, table, {"record_id", *wanted, *(where or {})})
        self._report(loaded.bad)
        needed = pa.schema([f for f in schema if f.name in {"record_id", *wanted, *(where or {})}])
        rows = reading.unite(loaded.tables.values(), needed)
        return reading.select(rows, where or {}).select(wanted)

    def current(self, *, versions: selection.Versions | None = None, size: str | None = None) -> pa.Table:
        """The `jobs` rows that count now: one per (model, task, dataset, size, repeat, limit, suite_seed).

        `versions` gives (version, scoring) of tasks; for other tasks the newest version stored counts.
        """
        return selection.choose_current(self.read("jobs"), self.read("uses"), versions, size)

    def metrics(self, jobs: pa.Table) -> pa.Table:
        """The `metrics` rows of exactly the attempts in `jobs`, e.g. of `current()`."""
        return selection.metrics_of(jobs, self.read("metrics"))

    def history(self) -> list[Past]:
        """What the planner needs: the final row of every job key, oldest first."""
        return selection.history(self.read("jobs", selection.HISTORY_COLUMNS))

    def samples(self, run_id: str, job_key: str, attempt: int) -> pa.Table | None:
        """`sample_id` and one float32 column per metric of an attempt; None if it stored none."""
        return reading.read_samples(self.layout.samples(run_id, job_key, attempt))

    def start_run(
        self,
        *,
        argv: Sequence[str],
        settings: Mapping[str, Any],
        plan: Any,
        engine: str = "local",
        keep_samples: bool = True,
        anonymous: bool = False,
    ) -> RunWriter:
        """Begin a run: `argv`, `settings` and `plan` (JSON-ready) go to its run.json with the environment.

        Tidies up after killed runs first. With `anonymous`, host names are kept out of everything stored.
        """
        self._sweep()
        self.compact(min_parts=TOO_MANY_PARTS)
        facts = provenance.collect(argv)
        environment = provenance.environment(anonymous=anonymous, facts=facts)
        run = RunFacts(run_id=new_run_id(), provenance=facts, engine=engine, anonymous=anonymous)
        description = {
            "argv": list(argv),
            "settings": dict(settings),
            "plan": plan,
            "environment": environment,
        }
        return RunWriter(
            self.layout, run, description, keep_samples=keep_samples, on_close=self._compact_if_possible
        )

    def touch(self, job_keys: Iterable[str]) -> None:
        """Say that these cached keys are what was asked for, so that they count as the current ones.

        Only keys that a later one has replaced are written down (an adapter was edited and the edit
        undone): in most runs, none.
        """
        jobs = self.read("jobs", selection.COLUMNS)
        keys = selection.replaced_keys(jobs, self.read("uses"), job_keys)
        run_id = new_run_id()
        found = [use_row(run_id, key) for key in keys]
        write_part(self.layout, "uses", run_id, 0, [to_batch("uses", found)])

    def compact(self, min_parts: int = 2) -> int:
        """Merge small files if there are at least `min_parts`; returns how many were replaced."""
        return compacting.compact(self.layout) if compacting.n_parts(self.layout) >= min_parts else 0

    def verify(self, quarantine: bool = False) -> list[Problem]:
        """Everything wrong with the store; see `bench.store.checking`."""
        return checking.verify(self.layout, quarantine=quarantine)

    def merge(self, sources: Sequence[Store]) -> int:
        """Add the rows of other stores and their files; returns how many jobs rows were new.

        Raises `BenchError`, with nothing written, if two stores have one row with different content.
        """
        others = [source.layout for source in sources if source.path != self.path]
        return merging.merge(others, self.layout, _warn)

    def export(
        self,
        path: str | Path,
        file_format: exporting.Format,
        *,
        versions: selection.Versions | None = None,
        size: str | None = None,
    ) -> int:
        """Write the current results as one flat table; returns its number of rows."""
        jobs = self.current(versions=versions, size=size)
        table = exporting.joined(jobs, self.metrics(jobs))
        exporting.write(table, Path(path).absolute(), file_format)
        return int(table.num_rows)

    @contextlib.contextmanager
    def lock(self, job_key: str, timeout_s: float) -> Iterator[bool]:
        """The advisory lock of a job; yields False, without waiting, while another live run holds it."""
        with atomic.storing(self.layout.locks):
            held = locking.acquire(self.layout.job_lock(job_key), timeout_s)
        try:
            yield held is not None
        finally:
            if held is not None:
                held.release()

    def artifact_dir(self, job_key: str, artifact_sha256: str) -> Path:
        """Where an artifact lies (or would lie)."""
        return self.layout.artifact(job_key, artifact_sha256)

    def exhibit_dir(self, job_key: str, score_id: str) -> Path:
        """Where the exhibits of a score lie (or would lie)."""
        return self.layout.exhibits(job_key, score_id)

    def _sweep(self) -> None:
        """Remove the private folders and locks of runs that are no longer alive."""
        for lock in self.layout.locks.glob("run.*.lock"):
            with atomic.storing(lock):
                if not locking.is_held(lock):
                    run_id = lock.name.removeprefix("run.").removesuffix(".lock")
                    shutil.rmtree(self.layout.work(run_id), ignore_errors=True)
                    lock.unlink(missing_ok=True)  # last: while it is there, another run can finish this

    def _compact_if_possible(self) -> None:
        """Compaction is a convenience: a run whose rows are stored does not fail for want of space for it."""
        with contextlib.suppress(StoreError):
            self.compact()

    def _report(self, bad: Iterable[reading.BadFile]) -> None:
        for file in bad:
            if file.path not in self._reported:
                self._reported.add(file.path)
                _warn(f"skipped {file} (see `bench verify`)")


def _warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)
