"""The processors of this machine, and who has which share of its GPUs. Never loads CUDA."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import platform
import subprocess

_EPSILON = 1e-9


def visible_gpus() -> tuple[str, ...]:
    """The GPUs this process may use, as CUDA_VISIBLE_DEVICES names them; () on a machine without any."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        names = [name.strip() for name in listed.split(",")]
        # CUDA itself stops at the first invalid entry; "-1" is the usual way to say "none".
        return tuple(names[: next((i for i, n in enumerate(names) if n in ("", "-1")), len(names))])
    try:
        found = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in found.stdout.splitlines() if line.strip().isdigit())


def usable_cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


@functools.cache
def cpu_name() -> str:
    """The processor's name as the system tells it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class GpuPool:
    """Hands out GPUs: fractions of one device, or whole devices. Not thread-safe; its user holds a lock."""

    def __init__(self, gpus: tuple[str, ...]) -> None:
        self._free = dict.fromkeys(gpus, 1.0)

    def __len__(self) -> int:
        return len(self._free)

    def take(self, amount: float) -> tuple[str, ...] | None:
        """Devices with `amount` GPUs free, now taken; None if they are busy; () if nothing is wanted.

        More than the machine has is granted as (), since waiting would never end: the job then says
        itself that its GPU is missing.
        """
        whole = math.ceil(amount - _EPSILON)
        if amount <= 0 or whole > len(self._free):
            return ()
        share = amount if whole == 1 else 1.0
        # The fullest device that still fits, so that whole devices stay free for those who need them.
        fitting = sorted((free, name) for name, free in self._free.items() if free >= share - _EPSILON)
        if len(fitting) < whole:
            return None
        taken = tuple(name for _, name in fitting[:whole])
        for name in taken:
            self._free[name] -= share
        return taken

    def give_back(self, amount: float, taken: tuple[str, ...]) -> None:
        """Return what `take(amount)` gave."""
        for name in taken:
            self._free[name] = min(1.0, self._free[name] + (amount if len(taken) == 1 else 1.0))
