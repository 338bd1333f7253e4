"""Starting the child of a stage, and holding its two pipes."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.engine import sandbox
from bench.engine.child import ASSIGNMENT_FD, CHANNEL_FD, FAULT_FD, Assignment, enter_fork

_PIPE_BYTES = 2**20
_F_SETPIPE_SZ = 1031


@dataclass(slots=True)
class Launched:
    """A running child: `channel` carries its frames, `log` what it prints, both non-blocking."""

    pid: int
    channel: int
    log: int
    pidfd: int | None  # becomes readable when the child ends; None where the system has no such thing
    hides_signals: bool = False  # a program in between reports a signal n as the exit code 128 + n

    def close(self) -> None:
        for fd in (self.channel, self.log, self.pidfd):
            if fd is not None:
                os.close(fd)


def launch(assignment: Assignment, *, fork: bool) -> Launched:
    """Start the child for `assignment`, as a fork of this process or as a new interpreter."""
    channel, channel_end = os.pipe()
    log, log_end = os.pipe()
    wrapped = assignment.sandbox == "bubblewrap"
    try:
        start = _fork if fork and not wrapped else _spawn
        pid = start(assignment, channel_end, log_end)
    finally:
        os.close(channel_end)
        os.close(log_end)
    for fd in (channel, log):
        os.set_blocking(fd, False)
    _enlarge(log)
    return Launched(pid=pid, channel=channel, log=log, pidfd=_pidfd(pid), hides_signals=wrapped)


def _fork(assignment: Assignment, channel: int, log: int) -> int:
    gc.collect(0)
    pid = os.fork()
    if pid == 0:
        enter_fork(assignment, channel, log)
    with suppress(PermissionError, ProcessLookupError):  # the child does the same; the first one wins
        os.setpgid(pid, pid)
    return pid


def _spawn(assignment: Assignment, channel: int, log: int) -> int:
    command = [sys.executable, "-P", "-m", "bench.engine.child"]
    if assignment.sandbox == "bubblewrap":
        assignment = replace(assignment, supervisor=0)
        command = [*sandbox.bubblewrap_words(Path(assignment.order.work_dir)), *command]
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(assignment.to_json()).encode())
        file.seek(0)
        return os.posix_spawnp(
            command[0],
            command,
            dict(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
                (os.POSIX_SPAWN_DUP2, channel, CHANNEL_FD),
                (os.POSIX_SPAWN_DUP2, log, FAULT_FD),
                (os.POSIX_SPAWN_DUP2, file.fileno(), ASSIGNMENT_FD),
            ],
            setpgroup=0,
            setsigdef=[signal.SIGINT, signal.SIGTERM],
        )


def _enlarge(pipe: int) -> None:
    """A job that prints a lot should not wait for the supervisor's next turn."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
