"""Docking in processes of their own: Vina holds the interpreter's lock, and a crash in it must cost one pair only."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from bench.tasks.selectbench.engines.base import Engine, Score
from bench.tasks.selectbench.scorecache import Pair

PAIR_TIMEOUT_S = 900.0
_RETRY_STEP = 7_919  # added to the seeds when a pair is tried again
_CONTEXT = multiprocessing.get_context("fork")


def score_pairs(
    pairs: Sequence[Pair],
    make_engine: Callable[[], Engine],
    *,
    workers: int = 1,
    timeout_s: float = PAIR_TIMEOUT_S,
) -> Iterator[tuple[int, Score]]:
    """(index, score) of every pair as it is finished. The scores do not depend on the number of workers.

    Pairs of one receptor go to one worker one after another, so that its maps are computed once. A pair whose
    worker dies, hangs or raises is tried once more in a fresh process with other seeds, then has a score without
    value whose fault is the engine's.
    """
    waiting = _in_order(pairs)
    crew = [_Worker(make_engine) for _ in range(max(1, min(workers, len(waiting))))]
    tries: dict[int, int] = {}
    try:
        while waiting or any(worker.busy for worker in crew):
            for worker in crew:
                if not worker.busy and waiting:
                    worker.begin(*_next_for(worker, waiting, pairs), tries)
            for worker in _ready(crew, timeout_s):
                index, score = worker.finish()
                if score.fault == "engine" and tries.get(index, 0) == 0:
                    tries[index] = 1
                    waiting.insert(0, index)
                elif index in tries:
                    yield index, replace(score, flags=(*score.flags, "retried"))
                else:
                    yield index, score
    finally:
        for worker in crew:
            worker.stop()


def _in_order(pairs: Sequence[Pair]) -> list[int]:
    """By receptor, long ligands first."""
    return sorted(range(len(pairs)), key=lambda i: (pairs[i].receptor.target, -len(pairs[i].smiles), i))


def _next_for(worker: _Worker, waiting: list[int], pairs: Sequence[Pair]) -> tuple[int, Pair]:
    """The next pair on the receptor whose maps the worker has, else on any."""
    same = [i for i in waiting if pairs[i].receptor.target == worker.target]
    index = same[0] if same else waiting[0]
    waiting.remove(index)
    return index, pairs[index]


def _ready(crew: list[_Worker], timeout_s: float) -> list[_Worker]:
    busy = {worker.connection: worker for worker in crew if worker.busy and worker.connection}
    ready = wait(list(busy), timeout=timeout_s)
    return [busy[c] for c in ready] if ready else list(busy.values())  # type: ignore[index, unused-ignore]


class _Worker:
    """One child process with an engine; started when needed, replaced after a fault."""

    def __init__(self, make_engine: Callable[[], Engine]) -> None:
        self._make_engine = make_engine
        self._process: Any = None
        self._current: int | None = None
        self.connection: Connection | None = None
        self.target = ""

    @property
    def busy(self) -> bool:
        return self._current is not None

    def begin(self, index: int, pair: Pair, tries: dict[int, int]) -> None:
        if tries.get(index):
            self.stop()
        if self._process is None:
            self._start()
        settings = pair.settings.reseeded(_RETRY_STEP) if tries.get(index) else pair.settings
        assert self.connection is not None
        self._current, self.target = index, pair.receptor.target
        try:
            self.connection.send((pair.smiles, pair.receptor, settings))
        except OSError:  # the worker died while it had nothing to do; `finish` will say so
            return

    def finish(self) -> tuple[int, Score]:
        """The score of the pair at work; a fault if the worker is dead or silent."""
        assert self.connection is not None
        assert self._current is not None
        index, self._current = self._current, None
        try:
            score = self.connection.recv() if self.connection.poll(0) else None
            error = "the worker took too long"
        except (EOFError, OSError):
            score, error = None, "the worker died"
        if score is None:
            self.stop()
            score = Score(value=None, error=f"engine: {error}", fault="engine")
        return index, score

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        self.target = ""

    def _start(self) -> None:
        ours, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, ours, self._make_engine), daemon=True)
        self._process.start()
        theirs.close()
        self.connection = ours


def _serve(connection: Connection, parents: Connection, make_engine: Callable[[], Engine]) -> None:
    """The child: answers pairs until its parent is gone."""
    parents.close()
    os.environ["OMP_NUM_THREADS"] = "1"
    engine = make_engine()
    while True:
        try:
            smiles, receptor, settings = connection.recv()
        except (EOFError, OSError):
            return
        try:
            score = engine.score(smiles, receptor, settings)
        except Exception as error:  # Vina raises RuntimeError and more
            detail = traceback.format_exception_only(error)[-1].strip()
            score = Score(value=None, error=f"engine: {detail}"[:500], fault="engine")
        try:
            connection.send(score)
        except OSError:  # the parent is gone
            return
