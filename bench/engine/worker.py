"""The worker's side of the cluster: Dask workers that each hold one slot and one supervisor.

No code of a job runs in this process. Dask cannot interrupt what it runs, so a job that nobody wants any
more (its run was stopped, its coordinator died) is noticed here by its task being released, and killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import distributed
from distributed import WorkerPlugin

from bench.datasets.cache import cache_folder
from bench.engine import parcel, travel, versions
from bench.engine.base import Grant
from bench.engine.driver import SupervisorDied, SupervisorDriver
from bench.errors import BenchError, UsageError
from bench.work import WorkOrder, order_from_json, to_json

_distributed: Any = distributed  # mostly untyped
PLUGIN, CARD = "bench-slot", "bench"
KEPT_BUNDLES = 4
_EPSILON = 1e-9
_SETTINGS = {
    "distributed.worker.http.routes": [],
    "distributed.diagnostics.nvml": False,  # this process must not touch a GPU
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What one Dask worker offers: a name that is its own, and a share of a GPU."""

    name: str
    gpu: str = ""  # as CUDA_VISIBLE_DEVICES names it; "" for none
    share: float = 0.0


class Host(WorkerPlugin):
    """Runs the jobs of one slot, one at a time, in private folders below `root`."""

    name = PLUGIN

    def __init__(self, slot: Slot, root: Path) -> None:
        self.slot = slot
        self._root = root
        self._bundles = root / "bundles"
        self._bundles.mkdir(parents=True)
        self._lock = threading.Lock()
        self._key = ""  # of the task at work
        self._unwanted: set[str] = set()
        self._driver = SupervisorDriver(slot.name)
        self._closed = False
        self.ending = ""  # why the coordinator does not want this worker
        self._worker: Any = None

    def setup(self, worker: Any) -> None:
        self._worker = worker

    async def teardown(self, worker: Any) -> None:
        self._closed = True
        await asyncio.to_thread(self._driver.kill)

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Dask's word on each change of a task: one that is released while it runs is to be stopped."""
        if start == "executing" and finish == "released":
            threading.Thread(target=self._stop, args=(str(key),), daemon=True).start()

    def _stop(self, key: str) -> None:
        with self._lock:
            self._unwanted.add(key)
            driver = self._driver if self._key == key else None
        if driver is not None:
            driver.kill()

    def card(self) -> dict[str, Any]:
        """What the coordinator has to know before it sends anything. Plain data: it is read unchecked."""
        return {"slot": self.slot.name, "share": self.slot.share, "facts": dict(versions.facts())}

    def has_bundle(self, sha256: str) -> bool:
        with contextlib.suppress(FileNotFoundError):
            os.utime(self._bundles / sha256)  # it is about to be used, and so the last to be forgotten
            return True
        return False

    def add_bundle(self, sha256: str, content: bytes, first: bool, last: bool) -> None:
        """Take one message of a bundle."""
        part = self._bundles / f"{sha256}.part"
        if first:
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
        parcel.unpack(content, part)
        if last:
            self._forget_bundles()
            part.rename(self._bundles / sha256)

    def _forget_bundles(self) -> None:
        """Keep the latest few: another run may bring thousands."""
        found = sorted(
            (p for p in self._bundles.iterdir() if p.suffix != ".part"), key=lambda p: p.stat().st_mtime
        )
        for old in found[: max(0, len(found) - KEPT_BUNDLES + 1)]:
            shutil.rmtree(old, ignore_errors=True)

    def run(self, key: str, request: dict[str, Any]) -> dict[str, Any]:
        """Do one job; see `run_job`."""
        with self._lock:
            if key in self._unwanted or self._closed:
                return {"died": "the job was stopped before it began"}
            self._key = key
            if self._driver.is_stopped:
                self._driver = SupervisorDriver(self.slot.name)
            driver = self._driver
        try:
            return self._work(driver, request)
        except SupervisorDied as error:
            return {"died": str(error)}
        finally:
            with self._lock:
                self._key = ""
                self._unwanted.discard(key)

    def _work(self, driver: SupervisorDriver, request: dict[str, Any]) -> dict[str, Any]:
        sent = order_from_json(request["order"])
        root = self._root / "job"
        shutil.rmtree(root, ignore_errors=True)
        (root / "work").mkdir(parents=True)
        bundle = self._bundles / request["bundle"] if request["bundle"] else None
        device = device_for(sent, self.slot.share)
        order = travel.localise(sent, root=root, bundle=bundle, cache_dir=cache_folder(), device=device)
        grant = Grant(threads=max(1, order.job.resources.cpus), gpus=self.slot.gpu if device != "cpu" else "")
        topic, job_key = request["topic"], order.job.key

        def tell(stage: str, done: int, total: int) -> None:
            self._worker.log_event(topic, [job_key, stage, done, total])

        outcome = driver.run(order, grant, tell)
        out = Path(sent.work_dir)
        shared = out if travel.is_shared(out, request["sign"]) else None
        outcome, content, is_copied = travel.pack_result(outcome, order, shared)
        shutil.rmtree(root, ignore_errors=True)
        return {"outcome": to_json(outcome), "files": content, "copied": is_copied}


def device_for(order: WorkOrder, share: float) -> str:
    """The kind of device for `order` on a slot with `share` of a GPU.

    A job that needs more than the slot has is put on the CPU, where it says itself what it misses.
    """
    if order.device == "cpu":
        return "cpu"
    if share <= 0:
        return "cuda" if order.device == "cuda" and "collect" in order.stages else "cpu"
    return "cuda" if order.job.resources.gpus <= share + _EPSILON else "cpu"


# What the coordinator calls here. Dask sends functions by name, so both sides need the same bench.


def run_job(key: str, request: dict[str, Any]) -> dict[str, Any]:
    """The task of one job. `request`: order, bundle (hash or ""), topic for progress, sign of the work folder.

    Returns "outcome", "files" (a message) and "copied"; or "died", if the supervisor of the job did.
    """
    host: Host = _distributed.get_worker().plugins[PLUGIN]
    return host.run(key, request)


def has_bundle(sha256: str, dask_worker: Any) -> bool:
    """Whether the files `sha256` are here already."""
    host: Host = dask_worker.plugins[PLUGIN]
    return host.has_bundle(sha256)


def add_bundle(sha256: str, content: bytes, first: bool, last: bool, dask_worker: Any) -> None:
    """Take one of the messages that bring the files `sha256`."""
    host: Host = dask_worker.plugins[PLUGIN]
    host.add_bundle(sha256, content, first, last)


async def refuse(reason: str, dask_worker: Any) -> None:
    """End this worker, saying why its coordinator has no use for it."""
    host: Host = dask_worker.plugins[PLUGIN]
    host.ending = reason
    asyncio.get_running_loop().call_later(0.1, lambda: asyncio.ensure_future(dask_worker.close(nanny=False)))


async def serve(address: str, slots: Sequence[Slot], folder: Path, death_timeout: float) -> int:
    """Offer `slots` to the scheduler at `address` until it goes away; returns the exit code.

    Raises `BenchError` if no scheduler answers within `death_timeout` seconds.
    """
    logging.getLogger("distributed").setLevel(logging.ERROR)  # who comes and goes is told below
    hosts = [Host(slot, folder / slot.name) for slot in slots]
    with dask.config.set(_SETTINGS):
        workers = [_worker(address, host, folder, death_timeout) for host in hosts]
        stopped: list[signal.Signals] = []
        _on_signals(workers, stopped)
        try:
            await asyncio.gather(*workers)
        except (TimeoutError, OSError, RuntimeError) as error:
            if stopped:
                return 128 + stopped[0]
            raise BenchError(
                f"no scheduler answered at {address} within {death_timeout:g} s ({_innermost(error)}); "
                "start `bench run --engine dask` first, or wait longer with --death-timeout"
            ) from None
        print(f"{len(slots)} slots at {address}: {', '.join(slot.name for slot in slots)}", flush=True)
        await asyncio.gather(*(worker.finished() for worker in workers))
    return _goodbye(address, hosts, stopped)


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def _goodbye(address: str, hosts: Sequence[Host], stopped: Sequence[signal.Signals]) -> int:
    if stopped:
        return 128 + stopped[0]
    reason = next((host.ending for host in hosts if host.ending), "")
    if reason:
        raise UsageError(f"refused by the coordinator: {reason}")
    print(f"the scheduler at {address} is gone; so is this worker", file=sys.stderr, flush=True)
    return 0


def _worker(address: str, host: Host, folder: Path, death_timeout: float) -> Any:
    protocol, _, rest = address.rpartition("://")
    here = _distributed.utils.get_ip(_distributed.comm.addressing.get_address_host(f"tcp://{rest}"))
    return _distributed.Worker(
        address,
        nthreads=1,
        name=host.slot.name,
        resources={"slot": 1},
        memory_limit=0,  # jobs have limits of their own; this process stays small
        death_timeout=death_timeout,
        local_directory=str(folder),
        protocol=protocol or "tcp",
        host=here,  # not on every interface
        dashboard_address=f"{here}:0",
        plugins=(host,),
        startup_information={CARD: lambda worker: host.card()},
    )


def _on_signals(workers: Sequence[Any], stopped: list[signal.Signals]) -> None:
    loop = asyncio.get_running_loop()
    closing: list[asyncio.Future[Any]] = []

    def stop(number: signal.Signals) -> None:
        if not stopped:
            stopped.append(number)
            closing.extend(asyncio.ensure_future(w.close(nanny=False, reason="signal")) for w in workers)

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # event loops of Windows have no signal handlers
            loop.add_signal_handler(number, stop, number)
