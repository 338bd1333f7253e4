"""The other end of a supervisor: start it, hand it an order, wait for the outcome, end it."""

from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from bench.engine.base import EngineError, Grant
from bench.engine.child import THREAD_VARIABLES
from bench.engine.frames import FrameError, FrameReader, write_frame
from bench.engine.processes import marked_with
from bench.work import Outcome, WorkOrder, outcome_from_json, to_json

START_PATIENCE_S = 180.0  # a cold file system may take a minute to give us torch
STOP_PATIENCE_S = 2.0
OVERTIME_S = 60.0  # beyond a job's own limit, which the supervisor enforces
GROWTH_MB = 256.0
_MARK = "BENCH_SUPERVISOR"


class SupervisorDied(Exception):
    """The supervisor ended, or went silent, in the middle of a job."""


class SupervisorDriver:
    """One supervisor process, started when first needed and replaced when it has grown too large.

    `run` and `stop` are for one thread; `kill` may be called from any other.
    """

    def __init__(self, name: str, *, growth_mb: float = GROWTH_MB) -> None:
        self.name = name
        self._growth_mb = growth_mb
        self._process: subprocess.Popen[bytes] | None = None
        self._frames: FrameReader | None = None
        self._errors: IO[bytes] | None = None
        self._mark = ""
        self._stopped = False
        self._lock = threading.RLock()

    @property
    def pid(self) -> int | None:
        """The process id of the running supervisor."""
        return self._process.pid if self._process else None

    @property
    def is_stopped(self) -> bool:
        """Whether it was killed or stopped, and so runs no job any more."""
        return self._stopped

    def run(
        self, order: WorkOrder, grant: Grant, on_progress: Callable[[str, int, int], None] | None = None
    ) -> Outcome:
        """Run one job. Raises `SupervisorDied`, or `EngineError` if no supervisor can be started."""
        if self._process is None or self._process.poll() is not None:
            self._discard()
            self._start()
        frame = {"order": to_json(order), "grant": grant.to_json()}
        give_up = time.monotonic() + order.job.resources.timeout_s + OVERTIME_S
        try:
            process = self._process
            if process is None or process.stdin is None:
                raise SupervisorDied("it was stopped")
            write_frame(process.stdin.fileno(), frame)
            answer = self._await("outcome", give_up, on_progress)
        except (OSError, ValueError, SupervisorDied) as error:
            detail = f"{error} {self._last_words()}".strip()
            self._discard()
            raise SupervisorDied(detail) from None
        if answer["retire"]:
            self._discard()
        return outcome_from_json(answer["outcome"])

    def kill(self) -> None:
        """End the supervisor and everything below it, now. From any thread; `run` raises `SupervisorDied`."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is not None:
            self._end(process)

    def stop(self) -> None:
        """End the supervisor and free what belongs to it. From the thread that calls `run`."""
        self._stopped = True
        self._discard()

    def _start(self) -> None:
        read_end, write_end = os.pipe()
        self._mark = f"{_MARK}={secrets.token_hex(16)}"
        name, _, value = self._mark.partition("=")
        # One hash seed everywhere, so that sets iterate alike; one thread each until a job is granted more.
        environment = {**os.environ, "PYTHONHASHSEED": "0", name: value}
        environment.update(dict.fromkeys(THREAD_VARIABLES, "1"))
        # Huge pages for the libraries' heap: a fork copies page tables, and so takes a third less time.
        environment.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
        errors = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-P", "-m", "bench.engine.supervisor", self.name]
        with self._lock:
            if self._stopped:
                raise SupervisorDied("it was stopped")
            self._process = subprocess.Popen(
                [*command, str(write_end), str(self._growth_mb)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment,
                pass_fds=(write_end,),
                start_new_session=True,  # Ctrl-C is the coordinator's to handle
            )
            self._errors, self._frames = errors, FrameReader(read_end)
        os.close(write_end)
        try:
            self._await("ready", time.monotonic() + START_PATIENCE_S, None)
        except SupervisorDied as error:
            detail = self._last_words()
            process = self._process
            if process is not None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1.0)  # its own exit code tells why
            self._discard()
            if self._stopped or process is None or (process.returncode or 0) < 0:
                raise  # someone ended it: that says nothing about the next one
            raise EngineError(f"supervisor {self.name} did not start: {error} {detail}") from None

    def _await(
        self, kind: str, give_up: float, on_progress: Callable[[str, int, int], None] | None
    ) -> dict[str, Any]:
        frames = self._frames
        if frames is None:
            raise SupervisorDied("it was stopped")
        while True:
            left = give_up - time.monotonic()
            if left <= 0 or not select.select([frames.fd], [], [], left)[0]:
                raise SupervisorDied("it did not answer in time")
            try:
                messages = frames.read()
            except FrameError as error:
                raise SupervisorDied(str(error)) from None
            for message in messages:
                if kind in message:
                    return message  # type: ignore[no-any-return]
                if on_progress is not None and "progress" in message:
                    on_progress(*message["progress"])
            if frames.at_end:
                raise SupervisorDied("it ended unexpectedly")

    def _last_words(self) -> str:
        if self._errors is None:
            return ""
        with suppress(OSError, ValueError):
            self._errors.seek(0)
            return self._errors.read()[-2000:].decode(errors="replace").strip()
        return ""

    def _discard(self) -> None:
        """End the current supervisor, if any, and sweep up whatever outlived it."""
        with self._lock:
            process, self._process = self._process, None
            frames, self._frames = self._frames, None
            errors, self._errors = self._errors, None
        if process is None:
            return
        self._end(process)
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        if frames is not None:
            os.close(frames.fd)
        if errors is not None:
            errors.close()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """SIGTERM makes a supervisor kill its children and exit; if it can't, do both for it."""
        process.terminate()
        try:
            clean = process.wait(STOP_PATIENCE_S) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            clean = False
        if not clean:
            for pid in marked_with(self._mark):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
