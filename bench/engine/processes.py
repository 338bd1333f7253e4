"""Looking at and ending the processes of a job. Linux; elsewhere the functions see only process groups."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PAUSE_S, _KILL_PATIENCE_S = 0.002, 10.0


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent `parent` dies, however that happens."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of all descendants that lose theirs, so that none can slip away."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


@dataclass(slots=True)
class Reaper:
    """Collects ended children of this process, adopted ones included, and what they used."""

    main: int
    status: int | None = None  # wait status of `main`, once it has ended
    cpu_s: float = 0.0
    peak_rss_mb: float = 0.0

    def reap(self) -> bool:
        """Take in whoever has ended; False if no child is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.cpu_s += usage.ru_utime + usage.ru_stime
            unit = 2**20 if sys.platform == "darwin" else 2**10
            self.peak_rss_mb = max(self.peak_rss_mb, usage.ru_maxrss / unit)
            if pid == self.main:
                self.status = status

    def kill_all(self) -> None:
        """Kill `main`, its group and every descendant of this process, until none is left."""
        give_up = time.monotonic() + _KILL_PATIENCE_S
        while True:
            # After `main` is reaped its number may be reused by a group that is not ours.
            if self.status is None:
                signal_group(self.main, signal.SIGKILL)
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not self.reap() or time.monotonic() > give_up:
                return
            time.sleep(_PAUSE_S)


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group that may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def descendants(root: int) -> list[int]:
    """All processes below `root` (itself left out); [] where there is no /proc."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = _children(waiting.pop())
        found += below
        waiting += below
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                children += [int(word) for word in file.read().split()]
    return children


def resident_bytes(pids: Iterable[int]) -> int:
    """Anonymous and shared-memory pages of `pids`, each process counted in full: cheap, never too low."""
    return sum(sum(_fields(f"/proc/{pid}/status", ("RssAnon", "RssShmem", "VmSwap"))) for pid in pids)


def proportional_bytes(pids: Iterable[int]) -> int:
    """The same pages, each page shared by n processes counted 1/n times. Costs about 10 ms per GB.

    File pages are left out: the kernel takes them back when it needs them.
    """
    return sum(
        sum(_fields(f"/proc/{pid}/smaps_rollup", ("Pss_Anon", "Pss_Shmem", "SwapPss"))) for pid in pids
    )


def _fields(path: str, names: tuple[str, ...]) -> list[int]:
    """Sizes in bytes of the `Name:  123 kB` lines called `names`; [] if the process is gone."""
    values = []
    with suppress(OSError), open(path) as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in names:
                values.append(int(rest.split()[0]) * 1024)
    return values


def marked_with(mark: str) -> list[int]:
    """Processes started with `mark` in their environment: strays of a supervisor that died."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(name))
    return found
