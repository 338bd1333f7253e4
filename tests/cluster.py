"""A real cluster on this machine: a Dask scheduler and workers started with the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.engine.processes import marked_with

WAIT_S = 120.0


def until(condition: Callable[[], object], seconds: float = WAIT_S) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.05)


class Cluster:
    """Processes in `folder`, all with `mark` in their environment, so that none can be overlooked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = f"{folder.name}-{os.getpid()}"
        self.address = ""
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def start_scheduler(self) -> str:
        """A `dask scheduler` of its own process; returns its address."""
        file = self.folder / "scheduler.json"
        self.scheduler = self._start(
            *("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
            *("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)),
            name="scheduler",
        )
        until(file.is_file)
        address: list[str] = []

        def read() -> bool:
            text = self.output("scheduler")
            address.extend(word for word in text.split() if word.startswith("tcp://"))
            return bool(address)

        until(read)
        self.address = address[0]
        return self.address

    def start_worker(self, address: str = "", *options: object, **environ: str) -> subprocess.Popen[bytes]:
        """One `bench worker`; with two slots unless `options` say otherwise."""
        command = ("-m", "bench", "worker", "--scheduler", address or self.address)
        given = [str(option) for option in options] or ["--workers", "2"]
        name = f"worker-{len(self.workers)}"
        process = self._start(*command, *given, "--death-timeout", "30", name=name, **environ)
        self.workers.append(process)
        return process

    def wait_for_workers(self, count: int | None = None) -> None:
        """Until the first `count` workers (default: all) have said that they are connected."""
        names = [f"worker-{i}" for i in range(len(self.workers) if count is None else count)]
        until(lambda: all(" slots at " in self.output(name) for name in names))

    def output(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text(errors="replace")

    def _start(self, *command: str, name: str, **environ: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.out").open("wb") as out:
            return subprocess.Popen(
                [sys.executable, *command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "BENCH_TEST_MARK": self.mark, **environ},
            )

    def strays(self) -> list[int]:
        """Living processes of this cluster that are neither scheduler, worker nor supervisor."""
        return [pid for pid in marked_with(f"BENCH_TEST_MARK={self.mark}") if not _is_ours(pid)]

    def everyone(self) -> list[int]:
        """All living processes of this cluster."""
        return marked_with(f"BENCH_TEST_MARK={self.mark}")

    def stop(self) -> None:
        processes = [p for p in (*self.workers, self.scheduler) if p is not None]
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.everyone():
            os.kill(pid, signal.SIGKILL)


def _is_ours(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return True  # it has just ended
    modules = {b"bench", b"bench.engine.supervisor", b"distributed.cli.dask_scheduler"}
    # A job is a fork of its supervisor and has its command line; only the supervisor itself has no such parent.
    is_module = b"-m" in words and words[words.index(b"-m") + 1] in modules
    return is_module and not (b"bench.engine.supervisor" in words and _parent_is_supervisor(pid))


def _parent_is_supervisor(pid: int) -> bool:
    try:
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return b"bench.engine.supervisor" in Path(f"/proc/{parent}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False
