"""Engines: where and how jobs run. `make_engine` is the way in; implementations load when asked for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from bench.engine.base import Engine, EngineError, Grant, OnProgress
from bench.errors import UsageError
from bench.registry import missing_module

if TYPE_CHECKING:
    from bench.engine.dask import DaskEngine
    from bench.engine.inline import InlineEngine
    from bench.engine.local import LocalEngine

__all__ = [
    "DaskEngine", "Engine", "EngineError", "Grant", "InlineEngine", "LocalEngine", "OnProgress", "make_engine",
]  # fmt: skip

EngineName = Literal["local", "inline", "dask"]
_LAZY = {
    "DaskEngine": "bench.engine.dask",
    "InlineEngine": "bench.engine.inline",
    "LocalEngine": "bench.engine.local",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make_engine(
    name: EngineName,
    *,
    workers: int | None = None,
    gpus: tuple[str, ...] = (),
    scheduler: str = "",
    listen: str = "127.0.0.1:0",
    on_progress: OnProgress | None = None,
    on_note: Callable[[str], None] = lambda text: None,
) -> Engine:
    """The engine called `name`.

    `workers` is the number of slots (default: one per usable core, or per GPU share where there are GPUs),
    `gpus` the devices that jobs may use, as CUDA_VISIBLE_DEVICES names them (see `bench.engine.devices`).
    For a cluster, `workers` limits the slots that are used, `scheduler` is its address (by default the engine
    starts one that listens on `listen`), and `on_note` is told who comes and goes.
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
    if name == "dask":
        return _dask_engine(scheduler, listen, workers, on_progress, on_note)
    raise UsageError(f"engine {name!r} is unknown; use local, inline or dask")


def _dask_engine(
    scheduler: str,
    listen: str,
    workers: int | None,
    on_progress: OnProgress | None,
    on_note: Callable[[str], None],
) -> Engine:
    check_cluster(scheduler, listen)
    from bench.engine.dask import DaskEngine

    return DaskEngine(
        scheduler=scheduler, listen=listen, workers=workers, on_progress=on_progress, on_note=on_note
    )


def check_cluster(scheduler: str = "", listen: str = "") -> None:
    """Raise `UsageError` if the cluster engine is not installed, or what is given is no address."""
    if importlib.util.find_spec("distributed") is None:
        raise UsageError(f"the engine dask {missing_module('distributed', 'clusters')}")
    for option, address in (("--scheduler", scheduler), ("--listen", listen)):
        if address and not is_address(address):
            raise UsageError(f"{option} {address!r} is no address; expected HOST:PORT or tcp://HOST:PORT")


def is_address(text: str) -> bool:
    """Whether `text` is HOST:PORT, perhaps with tcp:// or tls:// before it."""
    scheme, _, rest = text.rpartition("://")
    host, _, port = rest.rpartition(":")
    is_port = port.isascii() and port.isdigit() and int(port) < 2**16
    return scheme in ("", "tcp", "tls") and bool(host) and not set("/ @") & set(host) and is_port
