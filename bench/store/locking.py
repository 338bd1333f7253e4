"""Advisory locks, so that two runs on one store do not do the same work twice when that is avoidable.

A lock is a file created with O_EXCL that names process, host and time. It is stale when the process is
gone (seen from the same host) or when it is older than its timeout plus a minute.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GRACE_S = 60.0


@dataclass
class Lock:
    """A held lock; `release` (or leaving the `with` block) gives it back, more than once if need be."""

    path: Path
    token: str

    def release(self) -> None:
        with _guard(self.path.parent):
            if _read(self.path).get("token") == self.token:  # else it went stale and someone took it over
                self.path.unlink(missing_ok=True)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def acquire(path: Path, timeout_s: float) -> Lock | None:
    """The lock at `path`, or None while another live process holds it. Never waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Under the guard, so that of two processes that find a lock stale only one removes and takes it.
    with _guard(path.parent):
        if path.exists():
            if not _is_stale(path):
                return None
            path.unlink(missing_ok=True)
        return _create(path, timeout_s)


def is_held(path: Path) -> bool:
    """Whether somebody may still be working under the lock."""
    if not path.exists():
        return False
    with _guard(path.parent):
        return not _is_stale(path)


def _is_stale(path: Path) -> bool:
    content = _read(path)
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return True
    if not isinstance(content.get("pid"), int):
        return True  # its writer died over it: locks are written under the guard
    is_local = content.get("host") == socket.gethostname()
    if is_local and content.get("process") != _process_mark(content["pid"]):
        return True
    timeout = content.get("timeout_s")
    return isinstance(timeout, (int, float)) and age > timeout + GRACE_S


def _create(path: Path, timeout_s: float) -> Lock | None:
    token = uuid.uuid4().hex
    content = {
        "pid": os.getpid(),
        "process": _process_mark(os.getpid()),
        "host": socket.gethostname(),
        "time": time.time(),
        "timeout_s": timeout_s,
        "token": token,
    }
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return Lock(path, token)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _process_mark(pid: int) -> str:
    """Something that tells a process from a later one with the same number; "" if it does not run."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]  # start time since boot; a zombie does not run
    except (OSError, IndexError):
        pass
    if Path("/proc/self/stat").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"


@contextlib.contextmanager
def _guard(folder: Path) -> Iterator[None]:
    """Serialises changes to the locks of a store; held for microseconds, freed by the system at exit."""
    descriptor = os.open(folder / ".guard", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
