"""Watching one child from its start to the last of its descendants: pipes, clock, memory, end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bench.engine.frames import FrameError, FrameReader
from bench.engine.joblog import CappedLog
from bench.engine.launch import Launched
from bench.engine.memory import MemoryMeter
from bench.engine.processes import Reaper, descendants, signal_group

TICK_S, GRACE_S = 0.05, 2.0
RUNAWAY = 1.1  # a job that goes on filling memory after SIGTERM gets no grace
_CHUNK = 2**18
Breach = Literal["", "timeout", "oom"]


class Orphaned(BaseException):
    """The coordinator is gone, or has told the supervisor to stop. Not for `except Exception` to catch."""


@dataclass(slots=True, kw_only=True)
class StageEnd:
    """What the supervisor saw of a child."""

    report: dict[str, Any] | None  # as the child sent it, unchecked; None if it sent none
    artifact: tuple[str, int] | None  # hash and size, if the child came as far as that
    breach: Breach
    garbled: str  # why its channel couldn't be read; "" normally
    exit_code: int | None
    signal: str
    cpu_s: float
    peak_rss_mb: float
    used_mb: float


@dataclass(slots=True, kw_only=True)
class Watch:
    """Follows one child. `orders` is the supervisor's stdin: its end means that nobody waits any more."""

    child: Launched
    deadline: float
    memory: MemoryMeter
    log: CappedLog
    orders: FrameReader
    on_progress: Callable[[int, int], None]
    _reaper: Reaper = field(init=False)
    _frames: FrameReader = field(init=False)
    _report: dict[str, Any] | None = None
    _artifact: tuple[str, int] | None = None
    _breach: Breach = ""
    _garbled: str = ""
    _kill_at: float = float("inf")

    def __post_init__(self) -> None:
        self._reaper = Reaper(main=self.child.pid)
        self._frames = FrameReader(self.child.channel)

    def follow(self) -> StageEnd:
        """Return when the child and all its descendants are gone. Raises `Orphaned`."""
        try:
            self._loop()
        finally:
            self._reaper.kill_all()
            self._drain()
            self.child.close()
        status = self._reaper.status
        code = None if status is None else os.waitstatus_to_exitcode(status)
        if self.child.hides_signals and code is not None and code > 128:
            code = 128 - code
        died_of = "" if code is None or code >= 0 else _signal_name(-code)
        return StageEnd(
            report=self._report,
            artifact=self._artifact,
            breach=self._breach,
            garbled=self._garbled,
            exit_code=code if code is not None and code >= 0 else None,
            signal=died_of,
            cpu_s=self._reaper.cpu_s,
            peak_rss_mb=max(self._reaper.peak_rss_mb, self.memory.used_mb),
            used_mb=self.memory.used_mb,
        )

    def _loop(self) -> None:
        poll = select.poll()
        watched = (self.orders.fd, self.child.channel, self.child.log, self.child.pidfd)
        for fd in watched:
            if fd is not None:
                poll.register(fd, select.POLLIN)
        next_check = 0.0
        while self._reaper.status is None:
            for fd, _ in poll.poll(TICK_S * 1000):
                if not self._serve(fd):
                    poll.unregister(fd)
            self._reaper.reap()
            if time.monotonic() >= next_check and self._reaper.status is None:
                self._check_limits()
                next_check = time.monotonic() + TICK_S

    def _serve(self, fd: int) -> bool:
        """Read from a descriptor that has something; False if nothing more will come from it."""
        if fd == self.orders.fd:
            self.orders.read()  # one order at a time: all that can come now is the end
            if self.orders.at_end:
                raise Orphaned
            return True
        if fd == self.child.log:
            return self._pump_log()
        if fd == self.child.channel:
            return self._pump_channel()
        return False  # the pidfd: the child has ended, the loop sees it

    def _pump_log(self) -> bool:
        try:
            data = os.read(self.child.log, _CHUNK)
        except BlockingIOError:
            return True
        self.log.write(data)
        return bool(data)

    def _pump_channel(self) -> bool:
        if self._garbled:
            return False
        try:
            for frame in self._frames.read():
                self._take(frame)
        except (FrameError, TypeError, ValueError, KeyError) as error:
            self._garbled = str(error)
            return False
        return not self._frames.at_end

    def _take(self, frame: Any) -> None:
        if "progress" in frame:
            done, total = frame["progress"]
            self.on_progress(int(done), int(total))
        elif "artifact" in frame:
            sha256, size = frame["artifact"]
            self._artifact = str(sha256), int(size)
        else:
            self._report = dict(frame["report"])

    def _drain(self) -> None:
        """All writers are dead: take what they left in the pipes."""
        for fd, pump in ((self.child.log, self._pump_log), (self.child.channel, self._pump_channel)):
            ready = select.poll()
            ready.register(fd, select.POLLIN)
            while ready.poll(0) and pump():
                pass

    def _check_limits(self) -> None:
        now = time.monotonic()
        pids = descendants(os.getpid())
        if not self._breach:
            if now >= self.deadline:
                self._begin_end("timeout", now)
            elif self.memory.over(pids):
                self._begin_end("oom", now)
        elif now >= self._kill_at or (self._breach == "oom" and self.memory.over(pids, RUNAWAY)):
            self._reaper.kill_all()

    def _begin_end(self, breach: Breach, now: float) -> None:
        self._breach = breach
        self._kill_at = now + GRACE_S
        signal_group(self.child.pid, signal.SIGTERM)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"SIG{number}"
