"""How much memory a job adds to the machine, and whether that is too much."""

from __future__ import annotations

import os
import time

from bench.engine.processes import proportional_bytes, resident_bytes

_RECHECK_S = 1.0


class MemoryMeter:
    """Watches the group of one job.

    What a job uses is (proportional size of its processes + that of the supervisor) minus the
    supervisor's size before the fork. A page shared between supervisor and child counts once in this
    sum, so a fresh fork uses nothing and each page that it writes adds exactly one page.

    The exact sum walks page tables. It is taken only when the cheap upper bound allows a breach: resident
    sizes can't have grown by less than the use has.
    """

    def __init__(self, limit: int, allowance: int = 0) -> None:
        self.limit = limit
        # Nothing shares the supervisor's pages while it has no child: its resident size is exact.
        self._baseline = resident_bytes([os.getpid()]) + allowance
        self._used = 0
        self._resident = 0
        self._next_check = 0.0

    def over(self, pids: list[int], factor: float = 1.0) -> bool:
        """Whether the processes `pids` use more than `factor` times the limit."""
        resident = resident_bytes(pids)
        limit = self.limit * factor
        if resident <= limit:
            return False
        now = time.monotonic()
        if now < self._next_check and self._used + max(0, resident - self._resident) <= limit:
            return False
        self._used = proportional_bytes([*pids, os.getpid()]) - self._baseline
        self._resident = resident
        # A large process takes long to measure: spend at most a tenth of the time on it.
        self._next_check = time.monotonic() + max(_RECHECK_S, 10 * (time.monotonic() - now))
        return self._used > limit

    @property
    def used_mb(self) -> float:
        """The last exact measurement."""
        return self._used / 2**20
