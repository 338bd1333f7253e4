"""Engines: where and how jobs run. `make_engine` is the way in; implementations load when asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal

from bench.engine.base import Engine, EngineError, Grant, OnProgress
from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.engine.inline import InlineEngine
    from bench.engine.local import LocalEngine

__all__ = ["Engine", "EngineError", "Grant", "InlineEngine", "LocalEngine", "OnProgress", "make_engine"]

EngineName = Literal["local", "inline"]
_LAZY = {"InlineEngine": "bench.engine.inline", "LocalEngine": "bench.engine.local"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make_engine(
    name: EngineName,
    *,
    workers: int | None = None,
    gpus: tuple[str, ...] = (),
    on_progress: OnProgress | None = None,
) -> Engine:
    """The engine called `name`.

    `workers` is the number of slots (default: one per usable core, or per GPU share where there are GPUs),
    `gpus` the devices that jobs may use, as CUDA_VISIBLE_DEVICES names them (see `bench.engine.gpus`).
    """
    if workers is not None and workers < 1:
        raise UsageError(f"the number of workers must be at least 1, not {workers}")
    if name == "inline":
        if workers not in (None, 1):
            raise UsageError(
                f"the inline engine runs one job at a time; --workers {workers} needs --engine local"
            )
        from bench.engine.inline import InlineEngine

        return InlineEngine(on_progress=on_progress)
    if name == "local":
        from bench.engine.local import LocalEngine

        return LocalEngine(workers, gpus=gpus, on_progress=on_progress)
    raise UsageError(f"engine {name!r} is unknown; use local or inline")
