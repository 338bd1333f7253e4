"""Jobs that wait for a slot, and which of them a free slot takes next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field

from bench.engine.base import EngineError
from bench.work import Outcome, WorkOrder

RESUBMISSIONS = 2  # of a job whose supervisor or machine died with it


@dataclass(slots=True, kw_only=True, eq=False)
class Ticket:
    """A submitted job."""

    order: WorkOrder
    gpus_wanted: float
    future: Future[Outcome] = field(default_factory=Future)
    gpus: tuple[str, ...] = ()  # what it was granted
    resubmissions: int = 0


#: Called with (slot, ticket) when that slot could take that job: its GPUs, or None if it has to wait.
GrantGpus = Callable[[Hashable, Ticket], tuple[str, ...] | None]


class WaitingLine:
    """Waiting jobs, in order of submission, handed to slots by model and by what GPUs they need.

    `grant` and `give_back` are called one at a time. Safe to use from any thread, and from a signal handler
    that interrupted one of these methods in its own thread.
    """

    def __init__(self, grant: GrantGpus, give_back: Callable[[Ticket], None] = lambda ticket: None) -> None:
        self._grant, self._give_back = grant, give_back
        self._waiting: list[Ticket] = []
        self._model_of: dict[Hashable, str] = {}
        self._gone: set[Hashable] = set()
        self._closed = self._dropped = False
        self._changed = threading.Condition(threading.RLock())

    def put(self, ticket: Ticket, *, first: bool = False) -> None:
        """Queue a job, at the head of the line if it had its turn before."""
        with self._changed:
            if self._closed and not first:
                raise EngineError("the engine was shut down; it takes no more jobs")
            self._waiting.insert(0 if first else len(self._waiting), ticket)
            self._changed.notify_all()

    def take(self, slot: Hashable) -> Ticket | None:
        """The next job for `slot`; blocks until there is one. None if none can come any more."""
        with self._changed:
            while slot not in self._gone:
                ticket = self._pick(slot)
                if ticket is not None:
                    self._model_of[slot] = ticket.order.job.model
                    return ticket
                if self._closed and not self._waiting:
                    return None
                self._changed.wait()
            return None

    def _pick(self, slot: Hashable) -> Ticket | None:
        """The first job of the slot's last model, else of a model that no other slot is at, else any."""
        last = self._model_of.get(slot)
        others = {model for other, model in self._model_of.items() if other != slot}

        def rank(ticket: Ticket) -> int:
            model = ticket.order.job.model
            return 0 if model == last else 2 if model in others else 1

        for ticket in sorted(self._waiting, key=rank):  # stable: order of submission within a rank
            gpus = () if self._dropped else self._grant(slot, ticket)
            if gpus is not None:
                ticket.gpus = gpus
                self._waiting.remove(ticket)
                return ticket
        return None

    def done(self, ticket: Ticket) -> None:
        """A job that was taken needs its GPUs no more."""
        with self._changed:
            self._give_back(ticket)
            self._changed.notify_all()

    def leave(self, slot: Hashable) -> None:
        """`slot` exists no more and takes nothing."""
        with self._changed:
            self._gone.add(slot)
            self._model_of.pop(slot, None)
            self._changed.notify_all()

    def poke(self) -> None:
        """What `grant` would say may have changed."""
        with self._changed:
            self._changed.notify_all()

    def close(self, drop: bool) -> None:
        """Take no more jobs; with `drop`, hand out what waits at once, for its takers to cancel."""
        with self._changed:
            self._closed = True
            self._dropped = self._dropped or drop
            self._changed.notify_all()

    def drain(self) -> list[Ticket]:
        """All that wait, out of the line: for when no slot is left to take them."""
        with self._changed:
            waiting, self._waiting = self._waiting, []
            self._changed.notify_all()
            return waiting
