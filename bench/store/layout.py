"""Where things lie in a results folder, and whether a folder is one.

store.json                                    {"format": 1}
runs/<run_id>/run.json                        argv, settings, plan, environment, start, end, exit code
runs/<run_id>/logs/<job_key>.<attempt>.log
runs/<run_id>/running/                        private folders of running jobs; gone when the run ends
parts/<table>/<run_id>.<seq>.parquet          table = jobs | metrics | uses
compact/<table>.<uuid>.parquet
samples/<run_id>/<job_key>.<attempt>.parquet
artifacts/<job_key>/<artifact_sha256[:16]>/
exhibits/<job_key>/<score_id[:16]>/
locks/<name>.lock
quarantine/                                   what `bench verify --quarantine` moved away
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.errors import StoreError, UsageError
from bench.schema import STORE_FORMAT
from bench.store import atomic

SHORT = 16  # characters of a hash in folder names
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths below `root`. Names that come out of rows are checked: none can point outside the store."""

    root: Path

    @property
    def format_file(self) -> Path:
        return self.root / "store.json"

    @property
    def compact(self) -> Path:
        return self.root / "compact"

    @property
    def locks(self) -> Path:
        return self.root / "locks"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    def parts(self, table: str) -> Path:
        return self.root / "parts" / _word(table)

    def run(self, run_id: str) -> Path:
        return self.runs / _word(run_id)

    def work(self, run_id: str) -> Path:
        return self.run(run_id) / "running"

    def run_lock(self, run_id: str) -> Path:
        return self.locks / f"run.{_word(run_id)}.lock"

    def job_lock(self, job_key: str) -> Path:
        return self.locks / f"{_word(job_key)}.lock"

    def log(self, run_id: str, job_key: str, attempt: int) -> Path:
        return self.run(run_id) / "logs" / f"{_word(job_key)}.{attempt}.log"

    def samples(self, run_id: str, job_key: str, attempt: int) -> Path:
        return self.root / "samples" / _word(run_id) / f"{_word(job_key)}.{attempt}.parquet"

    def artifact(self, job_key: str, artifact_sha256: str) -> Path:
        return self.root / "artifacts" / _word(job_key) / _word(artifact_sha256)[:SHORT]

    def exhibits(self, job_key: str, score_id: str) -> Path:
        return self.root / "exhibits" / _word(job_key) / _word(score_id)[:SHORT]


def _word(name: str) -> str:
    if _WORD.match(name):
        return name
    raise StoreError(f"{name!r} cannot be part of a path in the store: expected letters, digits, '_' and '-'")


def check_folder(root: Path, *, create: bool) -> None:
    """Make sure `root` is a results folder of this format; with `create`, make an empty one into it.

    Raises `UsageError` if there is none or it is of a newer format, `StoreError` if it is something else.
    """
    layout = Layout(root)
    if root.exists() and not root.is_dir():
        raise StoreError(f"{root} is a file; the results folder must be a folder")
    if layout.format_file.is_file():
        _check_format(layout.format_file)
    elif not create:
        raise UsageError(f"no results in {root}: it has no store.json; `bench run --out {root}` makes it")
    else:
        _create(layout)


def _check_format(file: Path) -> None:
    try:
        found = json.loads(file.read_text("utf-8"))["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f'cannot read {file}: {error}; expected {{"format": {STORE_FORMAT}}}') from error
    if not isinstance(found, int) or found < 1:
        raise StoreError(f"{file} has format {found!r}; expected a number from 1 to {STORE_FORMAT}")
    if found > STORE_FORMAT:
        raise UsageError(
            f"{file.parent} has store format {found}, this bench knows formats up to {STORE_FORMAT}; "
            "upgrade the bench or choose another results folder"
        )


def _create(layout: Layout) -> None:
    root = layout.root
    with atomic.storing(root):
        root.mkdir(parents=True, exist_ok=True)
        strangers = sorted(p.name for p in root.iterdir() if not p.name.startswith("."))
    if strangers and not layout.format_file.is_file():
        raise StoreError(
            f"{root} is not empty and has no store.json (it holds {', '.join(strangers[:3])}); "
            "choose an empty or new folder for results"
        )
    content = json.dumps({"format": STORE_FORMAT}).encode() + b"\n"
    atomic.write_file(layout.format_file, lambda file: file.write(content))


def probe(root: Path, min_free_mb: float) -> None:
    """Write, sync and remove a file in `root` and look at the free space, before anything is computed."""
    probe_file = atomic.temporary_name(root / "probe")
    with atomic.storing(root):
        try:
            with probe_file.open("xb") as file:
                file.write(b"probe")
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe_file.unlink(missing_ok=True)
        free_mb = shutil.disk_usage(root).free / 2**20
    if free_mb < min_free_mb:
        raise StoreError(
            f"only {free_mb:.0f} MB free for {root}; at least {min_free_mb:.0f} MB are needed to start"
        )
