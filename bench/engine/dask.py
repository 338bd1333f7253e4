"""The cluster engine: jobs run on Dask workers, one thread here for each of their slots.

Dask carries messages and tells who is there; which job goes where is decided here, as on one machine: a slot
gets one job at a time, of its last model if there is one. So it is known at any moment which jobs died with
a worker, and only those run again.
"""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.engine import travel, versions, worker
from bench.engine.base import Engine, EngineError, OnProgress
from bench.engine.link import Link, LinkLost, Member
from bench.engine.parcel import ParcelError, messages
from bench.engine.report import unfinished
from bench.engine.waiting import RESUBMISSIONS, Ticket, WaitingLine
from bench.errors import InvalidOutput
from bench.work import Outcome, Status, WorkOrder, outcome_from_json, to_json

LOOK_EVERY_S = 0.5
PATIENCE_S = 600.0  # without any worker
_JOIN_PATIENCE_S = 10.0
_EPSILON = 1e-9
ANY_GPU = 0.01  # what a job wants that declares no GPU but has to run on one


class _Lost(Exception):
    """The worker of a job is gone, or its supervisor died."""


class _Stopped(Exception):
    """The run was stopped."""


@dataclass(slots=True, eq=False)
class _Slot:
    """A worker, as long as it is connected."""

    address: str
    member: Member
    gone: bool = False
    wake: threading.Event = field(default_factory=threading.Event)


class DaskEngine(Engine):
    """Runs jobs on workers that were started with `bench worker`, on this machine or on others.

    `scheduler` is the address of a Dask scheduler; without one the engine starts its own, listening on
    `listen` (host:port), and says with `on_note` how workers find it. `workers` limits the slots used.
    Workers may come and go. Without any for `patience_s` seconds the engine gives up.
    """

    def __init__(
        self,
        *,
        scheduler: str = "",
        listen: str = "127.0.0.1:0",
        workers: int | None = None,
        on_progress: OnProgress | None = None,
        on_note: Callable[[str], None] = lambda text: None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._limit, self._note, self._patience = workers, on_note, patience_s
        self._slots: dict[str, _Slot] = {}  # replaced, never changed: other threads look at it
        self._refused: set[str] = set()
        self._bundles: dict[Any, travel.Bundle | None] = {}
        self._open: set[Future[Outcome]] = set()
        self._lock = threading.RLock()
        self._line = WaitingLine(grant=self._grant)
        self._closing = threading.Event()
        self._killed = self._closed = False
        self._broken = ""
        self._topic = f"bench-{secrets.token_hex(8)}"
        self._link = Link(scheduler, listen)
        if on_progress is not None:
            self._link.listen(self._topic, lambda event: on_progress(*event))
        if self._link.owns_scheduler:
            self._note(f"waiting for workers: bench worker --scheduler {self._link.address}")
        self._watcher = threading.Thread(target=self._watch, name="bench-cluster", daemon=True)
        self._watcher.start()

    @property
    def address(self) -> str:
        """Where workers find the scheduler."""
        return self._link.address

    @property
    def slots(self) -> int:
        """The slots that are connected now; 1 as long as there is none, so that jobs are waiting for them."""
        return max(1, len(self._slots))

    def submit(self, order: WorkOrder) -> Future[Outcome]:
        if self._broken:
            raise EngineError(self._broken)
        ticket = Ticket(order=order, gpus_wanted=_gpus_wanted(order))
        self._line.put(ticket)
        self._open.add(ticket.future)
        ticket.future.add_done_callback(self._open.discard)
        if self._broken:
            self._give_up_waiting()
        return ticket.future

    def shutdown(self, kill: bool = False) -> None:
        self._killed = self._killed or kill
        self._line.close(drop=kill)
        if kill:
            for slot in self._slots.values():
                slot.wake.set()
            self._give_up_waiting()
        wait(list(self._open), timeout=_JOIN_PATIENCE_S if kill else None)
        if not self._closed:
            self._closed = True
            self._closing.set()
            self._watcher.join(_JOIN_PATIENCE_S)
            self._link.close()

    # Who is there

    def _watch(self) -> None:
        """The life of the watching thread: keep `_slots` what the scheduler says."""
        last_seen = time.monotonic()
        while not self._closing.wait(LOOK_EVERY_S if self._slots else LOOK_EVERY_S / 5):
            try:
                members = self._link.members()
                self._meet(members)
            except LinkLost as error:
                if not self._closing.is_set():
                    self._break(str(error))
                return
            if self._slots:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self._patience:
                self._break(f"no worker came for {self._patience:g} s to {self._link.address}")
                return

    def _meet(self, members: dict[str, Member]) -> None:
        lost = [slot for address, slot in self._slots.items() if address not in members]
        new = [a for a in members if a not in self._slots and a not in self._refused]
        for slot in lost:
            self._drop(slot)
        met = sum(self._admit(address, members[address]) for address in new)
        if lost or met:
            self._line.poke()
            change = ", ".join(f"{n} {word}" for n, word in ((met, "joined"), (len(lost), "left")) if n)
            self._note(f"workers: {change}; {len(self._slots)} slots now")
            if not self._slots:
                self._note(f"waiting for workers: bench worker --scheduler {self._link.address}")

    def _admit(self, address: str, member: Member) -> bool:
        fault = versions.difference(there=member.facts, here=versions.facts())
        if fault:
            self._refused.add(address)
            self._note(f"worker {member.name} is not used: {fault}")
            self._dismiss(address, fault)
            return False
        if self._limit is not None and len(self._slots) >= self._limit:
            return False
        slot = _Slot(address, member)
        self._slots = {**self._slots, address: slot}
        threading.Thread(target=self._serve, args=(slot,), name=f"bench-{member.name}", daemon=True).start()
        return True

    def _dismiss(self, address: str, fault: str) -> None:
        try:
            self._link.call(worker.refuse, fault, member=address)
        except Exception:  # another bench may not even have that function
            return

    def _drop(self, slot: _Slot) -> None:
        self._slots = {address: s for address, s in self._slots.items() if s is not slot}
        slot.gone = True
        slot.wake.set()
        self._line.leave(slot.address)

    def _break(self, message: str) -> None:
        """Nothing more can run: end what runs as lost, and what waits as not started."""
        self._broken = message
        self._note(message)
        for slot in self._slots.values():
            self._drop(slot)
        self._give_up_waiting()

    def _give_up_waiting(self) -> None:
        for ticket in self._line.drain():
            self._resolve(ticket, unfinished(ticket.order, "cancelled", self._why_not(), time.time()))

    def _why_not(self) -> str:
        return self._broken or "the run was stopped"

    # What runs where

    def _grant(self, slot: Hashable, ticket: Ticket) -> tuple[str, ...] | None:
        """A job goes where its share of a GPU is; if nobody has so much, anywhere: it will say so itself."""
        shares = {address: s.member.share for address, s in self._slots.items()}
        most, own = max(shares.values(), default=0.0), shares.get(str(slot), 0.0)
        fits = ticket.gpus_wanted <= own + _EPSILON or ticket.gpus_wanted > most + _EPSILON
        return () if fits else None

    def _serve(self, slot: _Slot) -> None:
        """The life of the thread of one slot."""
        while (ticket := self._line.take(slot.address)) is not None:
            if ticket.resubmissions or ticket.future.set_running_or_notify_cancel():
                self._run(slot, ticket)
            self._line.done(ticket)

    def _run(self, slot: _Slot, ticket: Ticket) -> None:
        started = time.time()
        order = replace(ticket.order, attempt=ticket.order.attempt + ticket.resubmissions)
        try:
            self._resolve(ticket, self._ask(slot, order))
        except _Stopped:
            self._resolve(ticket, unfinished(order, "cancelled", self._why_not(), started))
        except _Lost as error:
            ticket.resubmissions += 1
            if self._broken or ticket.resubmissions > RESUBMISSIONS:
                self._resolve(ticket, unfinished(order, "lost", self._broken or str(error), started))
            elif self._killed:
                self._resolve(ticket, unfinished(order, "cancelled", self._why_not(), started))
            else:
                self._line.put(ticket, first=True)
                if self._broken:
                    self._give_up_waiting()
        except (InvalidOutput, OSError) as error:  # what should travel cannot be read
            status: Status = "invalid_output" if isinstance(error, InvalidOutput) else "error"
            self._resolve(ticket, unfinished(order, status, str(error), started))
        except BaseException as error:
            ticket.future.set_exception(error)

    @staticmethod
    def _resolve(ticket: Ticket, outcome: Outcome) -> None:
        if ticket.future.cancelled():
            return
        if not ticket.future.running() and not ticket.future.set_running_or_notify_cancel():
            return
        ticket.future.set_result(outcome)

    def _ask(self, slot: _Slot, order: WorkOrder) -> Outcome:
        """Have one job done on `slot`. Raises `_Lost`, `_Stopped`, or `EngineError`."""
        if self._killed:
            raise _Stopped
        work_dir = Path(order.work_dir)
        shutil.rmtree(work_dir, ignore_errors=True)
        work_dir.mkdir(parents=True)
        bundle = self._bundle(order)
        if bundle is not None:
            self._send_bundle(slot, bundle)
        request = {
            "order": to_json(order),
            "bundle": bundle.sha256 if bundle is not None else "",
            "topic": self._topic,
            "sign": travel.put_sign(work_dir),
        }
        key = f"bench-{order.job.key[:12]}-{order.attempt}-{secrets.token_hex(6)}"
        answer = self._await(slot, self._submit(slot, key, request))
        if "died" in answer:
            raise _Lost(f"the supervisor of the job died: {answer['died']}")
        try:
            outcome = outcome_from_json(answer["outcome"])
            return travel.unpack_result(outcome, order, answer["files"], answer["copied"])
        except (ParcelError, KeyError, TypeError, ValueError) as error:
            raise EngineError(f"worker {slot.member.name} sent no result: {error}") from error

    def _send_bundle(self, slot: _Slot, bundle: travel.Bundle) -> None:
        """Bring the files of a job to its worker, unless they are there."""
        if not self._call(slot, worker.has_bundle, bundle.sha256):
            for content, first, last in _flagged(messages(bundle.files)):
                self._call(slot, worker.add_bundle, bundle.sha256, content, first, last)

    def _bundle(self, order: WorkOrder) -> travel.Bundle | None:
        """What must travel with `order`; the sources of a model are looked through once."""
        if order.artifact_dir:
            return travel.bundle_of(order)
        source = (order.model.file, order.files)
        with self._lock:
            if source not in self._bundles:
                self._bundles[source] = travel.bundle_of(order)
            return self._bundles[source]

    def _call(self, slot: _Slot, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return self._link.call(function, *arguments, member=slot.address)
        except Exception as error:  # Dask has many ways to say that a worker is not there
            raise self._gone(slot, error) from error

    def _submit(self, slot: _Slot, key: str, request: dict[str, Any]) -> Any:
        try:
            return self._link.submit(slot.address, key, request)
        except Exception as error:
            raise self._gone(slot, error) from error

    def _gone(self, slot: _Slot, error: object) -> _Lost:
        return _Lost(f"worker {slot.member.name} could not be reached: {error}")

    def _await(self, slot: _Slot, future: Any) -> dict[str, Any]:
        """The worker's answer. Dask tells when it is there, the watcher when it will never be."""
        future.add_done_callback(lambda _: slot.wake.set())
        try:
            while True:
                slot.wake.wait()
                slot.wake.clear()
                if self._killed:
                    raise _Stopped
                if slot.gone or future.cancelled():
                    raise _Lost(f"worker {slot.member.name} died")
                if future.done():
                    answer = self._answer(slot, future)
                    if answer is not None:
                        return answer
                    slot.wake.set()
        finally:
            future.cancel(force=True)  # it is done or unwanted; a worker that is still at it stops

    def _answer(self, slot: _Slot, future: Any) -> dict[str, Any] | None:
        error = future.exception() if future.status == "error" else None
        if error is not None:
            raise EngineError(f"worker {slot.member.name} failed: {type(error).__name__}: {error}")
        return self._link.fetch(future)


def _flagged(contents: Any) -> Any:
    """(content, is the first, is the last) of each."""
    waiting: Any = None
    first = True
    for content in contents:
        if waiting is not None:
            yield waiting, first, False
            first = False
        waiting = content
    yield waiting, first, True


def _gpus_wanted(order: WorkOrder) -> float:
    if order.device == "cpu" or "collect" not in order.stages:
        return 0.0
    return order.job.resources.gpus or (ANY_GPU if order.device == "cuda" else 0.0)
