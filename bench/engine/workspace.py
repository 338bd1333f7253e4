"""A private temporary folder that does not outlive a killed process for long."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX, _LOCK = "bench-worker-", ".lock"


@contextlib.contextmanager
def private_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder in `parent` (default: the system's for temporary files), gone afterwards.

    What killed processes left there is removed first: a live one holds a lock in its folder.
    """
    base = parent or Path(tempfile.gettempdir())
    base.mkdir(parents=True, exist_ok=True)
    _sweep(base)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    lock = os.open(folder / "new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(folder / "new", folder / _LOCK)  # seen by others only when it is held
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(base: Path) -> None:
    for lock in base.glob(f"{PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError):  # someone else's, or still alive
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(descriptor)
