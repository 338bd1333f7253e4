"""The seam between the coordinator and whatever runs jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass

from bench.errors import EngineError as EngineError
from bench.work import Outcome, WorkOrder

#: Called with (job key, stage, done, total); total 0 means that the stage has just begun.
OnProgress = Callable[[str, str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a job is given of the machine: the GPUs it sees, and threads for its numeric libraries."""

    threads: int = 1
    gpus: str = ""  # the value of CUDA_VISIBLE_DEVICES; "" hides every GPU

    def to_json(self) -> dict[str, int | str]:
        return asdict(self)


class Engine(ABC):
    """Runs work orders. Whatever a job does, its future resolves to an `Outcome`.

    A future raises only when the infrastructure failed. Futures may be cancelled until their job starts.
    """

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many jobs run at the same time."""

    @abstractmethod
    def submit(self, order: WorkOrder) -> Future[Outcome]:
        """Queue one job. Jobs start in the order of submission, but for slot affinity and free GPUs."""

    @abstractmethod
    def shutdown(self, kill: bool = False) -> None:
        """Finish what was submitted (`kill=False`), or end running and queued jobs now as `cancelled`.

        May be called twice, and from a signal handler.
        """
