"""The coordinator's connection to a Dask scheduler, its own or another: the only module that talks to Dask here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import dask
import distributed

from bench.engine import worker
from bench.engine.base import EngineError
from bench.errors import UsageError

_distributed: Any = distributed  # mostly untyped
_CONNECT_S, _CLOSE_S, _FETCH_S = 15.0, 5.0, 30.0
_SETTINGS = {
    "distributed.scheduler.http.routes": [],
    "distributed.comm.timeouts.connect": f"{_CONNECT_S:g}s",
    "distributed.admin.large-graph-warning-threshold": "1GB",
}


class LinkLost(EngineError):
    """The scheduler is gone."""


@dataclass(frozen=True, slots=True)
class Member:
    """A worker of ours that the scheduler knows."""

    name: str
    share: float
    facts: dict[str, str]


class Link:
    """A client of the scheduler at `address`; without one, a scheduler is started that listens on `listen`."""

    def __init__(self, address: str, listen: str) -> None:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is told by the engine
        dask.config.set(_SETTINGS)
        self._cluster: Any = None
        if not address:
            self._cluster = _start_scheduler(listen)
            address = self._cluster.scheduler_address
        self.address = address
        try:
            self._client = _distributed.Client(self.address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(
                f"no scheduler answered at {address} ({error}); start one with `dask scheduler`, or leave out "
                "--scheduler to have the run start its own"
            ) from None

    @property
    def owns_scheduler(self) -> bool:
        return self._cluster is not None

    def members(self) -> dict[str, Member]:
        """Workers of ours by address; others on the same scheduler are passed over. Raises `LinkLost`."""
        self._check()
        try:
            found = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:  # whatever it is, nothing more can be learnt from the scheduler
            raise self._lost(error) from None
        return {address: member for address, card in found.items() if (member := _member(card))}

    def _check(self) -> None:
        if self._client.status != "running":
            raise self._lost("the connection broke")

    def _lost(self, why: object) -> LinkLost:
        return LinkLost(f"the scheduler at {self.address} is gone ({why})")

    def call(self, function: Callable[..., Any], *arguments: Any, member: str) -> Any:
        """Have `function` called in the worker at `member`, outside of its queue of tasks."""
        return self._client.run(function, *arguments, workers=[member], on_error="raise")[member]

    def submit(self, member: str, key: str, request: dict[str, Any]) -> Any:
        """Start a job there; a Dask future."""
        return self._client.submit(
            worker.run_job, key, request,
            key=key, workers=[member], allow_other_workers=False, resources={"slot": 1}, pure=False, retries=0,
        )  # fmt: skip

    def fetch(self, future: Any) -> dict[str, Any] | None:
        """The answer of a future that is done, or None if it does not come (call it again)."""
        try:
            answer: dict[str, Any] = future.result(timeout=_FETCH_S)
        except (TimeoutError, _distributed.TimeoutError):
            return None
        return answer

    def listen(self, topic: str, handler: Callable[[Any], None]) -> None:
        """Have `handler` called, in another thread, with what workers log under `topic`."""
        self._client.subscribe_topic(topic, lambda event: handler(event[1]))

    def close(self) -> None:
        """Leave; a scheduler of our own ends, and its workers with it."""
        with suppress(Exception):
            self._client.close(timeout=_CLOSE_S)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=_CLOSE_S)


def _start_scheduler(listen: str) -> Any:
    host, _, port = listen.rpartition(":")
    try:
        return _distributed.LocalCluster(
            n_workers=0,
            processes=False,
            host=host,
            scheduler_port=int(port),
            protocol="tcp",
            dashboard_address=f"{host}:0",
            silence_logs=logging.CRITICAL,
        )
    except Exception as error:
        raise UsageError(f"cannot start a scheduler on {listen}: {_first_cause(error)}") from None


def _first_cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def _member(card: dict[str, Any]) -> Member | None:
    """What a worker says of itself, if it is one of ours."""
    mine: Any = card.get(worker.CARD)
    try:
        facts = {str(name): str(value) for name, value in mine["facts"].items()}
        return Member(str(mine["slot"]), float(mine["share"]), facts)
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
