"""Runs the command of a submission inside the process group of its job, and keeps what it says.

Time and memory are watched by the supervisor, as for every job. Here is only what it cannot see: how much
the command writes, how it ends, and the last lines of its standard error.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from bench.artifacts import MAX_FILES
from bench.engine.processes import die_with_parent
from bench.errors import BenchError, InvalidOutput, MissingRequirement

TAIL_BYTES = 4_000  # of standard error that are kept
TAIL_CHARACTERS = 1_000  # of it that go into a message
_LOOK_EVERY_S = 0.2
_PUMP_PATIENCE_S = 2.0  # for what a left-over process of the command may still hold open


class CommandFailed(BenchError):
    """The command of a submission ended with an exit code other than 0, or by a signal."""


def run_command(
    words: Sequence[str], *, folder: Path, watched: Sequence[Path], max_bytes: int, max_files: int = MAX_FILES
) -> str:
    """Run `words` in `folder`; returns the end of its standard error, ready to be put behind a message.

    Raises `CommandFailed`; `InvalidOutput` if there come to be more than `max_bytes` or `max_files` in the
    `watched` folders; `MissingRequirement` if the program cannot be started.
    """
    process = _start(words, folder, max_bytes)
    pumps = [_Pump(process.stdout, sys.stdout), _Pump(process.stderr, sys.stderr)]
    try:
        _follow(process, watched, max_bytes, max_files)
    finally:
        process.kill()
        for pump in pumps:
            pump.join(_PUMP_PATIENCE_S)
    tail = pumps[1].tail()
    if process.returncode:
        raise CommandFailed(f"the command ended {_ending(process.returncode)}{tail}")
    return tail


def _start(words: Sequence[str], folder: Path, max_bytes: int) -> subprocess.Popen[bytes]:
    sys.stdout.flush()
    try:
        return subprocess.Popen(
            list(words),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # the submission's folder stays as it is
            preexec_fn=functools.partial(_settle, os.getpid(), max_bytes),
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise MissingRequirement(f"the program {words[0]} cannot be started: {error.strerror}") from None
    except OSError as error:  # e.g. a script without its first line, a list of words that is too long
        raise CommandFailed(f"the program {words[0]} cannot be started: {error.strerror}") from None


def _settle(parent: int, max_bytes: int) -> None:
    """In the new process: end with the job, and write no file over the limit."""
    die_with_parent(parent)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limit = max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))


def _follow(
    process: subprocess.Popen[bytes], watched: Sequence[Path], max_bytes: int, max_files: int
) -> None:
    """Wait for the end of `process`, looking now and then at what it writes."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY_S)
        files, size = _written(watched, max_files)
        if size > max_bytes:
            raise InvalidOutput(f"the command wrote over {max_bytes} bytes, the limit for one artifact")
        if files > max_files:
            raise InvalidOutput(f"the command wrote more than {max_files} files, the limit for one artifact")
        if process.returncode is not None:
            return


def _written(folders: Sequence[Path], max_files: int) -> tuple[int, int]:
    """(files, bytes) below `folders`; counting stops soon after `max_files`. Links are not followed."""
    files = size = 0
    waiting = [os.fspath(folder) for folder in folders]
    while waiting and files <= max_files:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
        except OSError:  # the command is still at work there
            continue
    return files, size


def _ending(code: int) -> str:
    if code > 0:
        return f"with exit code {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal
        return f"by signal {-code}"


class _Pump(threading.Thread):
    """Copies one of the command's streams to the job's log and remembers its end."""

    def __init__(self, source: IO[bytes] | None, target: Any) -> None:
        super().__init__(daemon=True)
        self._source, self._target = source, getattr(target, "buffer", None)
        self._last = b""
        self.start()

    def run(self) -> None:
        while self._source is not None and (chunk := os.read(self._source.fileno(), 2**16)):
            self._last = (self._last + chunk)[-TAIL_BYTES:]
            if self._target is not None:
                self._target.write(chunk)
                self._target.flush()

    def tail(self) -> str:
        """The last lines as "; its last words:" and text without control characters; "" if it said nothing."""
        text = self._last.decode("utf-8", "replace").expandtabs(4)
        lines = (_plain(line) for line in text.splitlines())
        kept = "\n".join(line for line in lines if line.strip())[-TAIL_CHARACTERS:]
        return f"; it wrote last:\n{kept}" if kept else ""


def _plain(line: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
