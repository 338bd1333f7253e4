"""The site of a run that is still going on: rebuilt in a process of its own, out of the run's way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

EVERY_S = 60.0
LOW_PRIORITY = 10  # as `nice` counts: models go first


class LiveSite:
    """Rebuilds the site `out` now and then, and once more at the end; without `out` it does nothing.

    A rebuild that fails costs that rebuild: the run goes on, and `bench site` tells what is wrong.
    """

    def __init__(self, results: Path, out: Path | None, submissions: Path) -> None:
        self._out = out
        self._command = [
            *(sys.executable, "-m", "bench", "site"),
            *("--results", str(results), "--out", str(out), "--submissions", str(submissions)),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._last = time.monotonic()

    def __enter__(self) -> LiveSite:
        return self

    def __exit__(self, *failure: object) -> None:
        self._wait()

    def refresh(self) -> None:
        """Start a rebuild if the last one is over and a minute old."""
        busy = self._process is not None and self._process.poll() is None
        if self._out is not None and not busy and time.monotonic() - self._last > EVERY_S:
            self._start()

    def finish(self) -> None:
        """Build what the results are now, and wait for it."""
        self._wait()
        if self._out is not None:
            self._start()
            self._wait()

    def _start(self) -> None:
        self._last = time.monotonic()
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
        with suppress(OSError):  # it may be over already
            os.setpriority(os.PRIO_PROCESS, self._process.pid, LOW_PRIORITY)

    def _wait(self) -> None:
        if self._process is not None:
            self._process.wait()
