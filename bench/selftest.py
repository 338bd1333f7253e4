"""A tiny task, and adapters that do everything wrong that a model can do. The harness is tested with them.

The task `selftest.echo` asks an adapter for numbers in [0, 1] and reports their mean. An adapter may also
hand over `claims`: values that the task then returns in place of its own, right or wrong.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from bench.artifacts import load_npz
from bench.errors import InvalidOutput
from bench.spec import (
    Adapter,
    Artifact,
    Context,
    Exhibit,
    JSONScalar,
    Measure,
    Task,
    TaskOutput,
    Unit,
)

if TYPE_CHECKING:
    import numpy as np


def ramp() -> np.ndarray:
    """The dataset `selftest-ramp`: 100 evenly spaced numbers from 0 to 1, float64 (100,)."""
    import numpy as np

    return np.linspace(0.0, 1.0, 100)


class EchoTask(Task):
    """Artifact: `values.npz` with `values`, float64 (n,), and `claims.json`."""

    def collect(self, adapter: EchoModel, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        import numpy as np

        reference = ctx.load_dataset(unit.dataset)
        values = np.asarray(
            adapter.produce(int(unit.setting("n")), reference, seed=unit.seed), dtype=np.float64
        )
        np.savez(ctx.artifact_dir / "values.npz", values=values)
        (ctx.artifact_dir / "claims.json").write_text(json.dumps(adapter.claims()))
        ctx.progress(1, 1)
        return {"n_values": int(values.size)}

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        import numpy as np

        values = load_npz(artifact.path("values.npz"), ["values"])["values"]
        if values.ndim != 1 or not values.size:
            raise InvalidOutput(
                f"values.npz[values] has the shape {values.shape}; (n,) with n > 0 is expected"
            )
        metrics: dict[str, Any] = {
            "mean": Measure(value=float(values.astype(np.float32).mean(dtype=np.float64)), n=values.size),
            "spread": float(np.ptp(values)),
        }
        for name, value in json.loads(artifact.path("claims.json").read_text()).items():
            if value == "crash":
                os.abort()  # an artifact that brings down the library that reads it
            metrics.pop(name) if value == "missing" else metrics.update({name: value})
        curve = {"x": list(range(min(values.size, 100))), "y": values[:100].tolist()}
        (ctx.exhibit_dir / "values.json").write_text(json.dumps(curve))
        return TaskOutput(
            metrics=metrics,
            facets={"half=first": {"mean": float(values[: max(1, values.size // 2)].mean())}},
            samples={"mean": values.astype(np.float32)},
            sample_ids=np.arange(values.size),
            exhibits=(Exhibit(name="values", kind="series", file="values.json", caption="The first values"),),
            notes={"reference": unit.dataset},
        )


class EchoModel(Adapter):
    """What `selftest.echo` measures."""

    @abstractmethod
    def produce(self, n: int, reference: np.ndarray, *, seed: int) -> Any:
        """Return `n` numbers in [0, 1]."""

    def claims(self) -> Mapping[str, Any]:
        """Metrics that the task shall return instead of what it finds; "missing" leaves one out."""
        return {}


class Uniform(EchoModel):
    """Behaves: uniform numbers that depend on the seed alone."""

    def __init__(self, scale: float = 1.0, n: int = 0, seconds: float = 0.0) -> None:
        self._scale, self._n, self._seconds = scale, n, seconds

    def produce(self, n: int, reference: np.ndarray, *, seed: int) -> Any:
        import numpy as np

        time.sleep(self._seconds)
        return np.random.default_rng(seed).uniform(0.0, self._scale, self._n or n)


class Claims(Uniform):
    """Makes the task return `value` as `metric`."""

    def __init__(self, metric: str, value: float | str) -> None:
        super().__init__()
        self._claims = {metric: float("nan") if value == "nan" else value}

    def claims(self) -> Mapping[str, Any]:
        return self._claims


class Does(Uniform):
    """Does one of the deeds below before it behaves."""

    def __init__(self, deed: str) -> None:
        super().__init__()
        self._deed = deed

    def produce(self, n: int, reference: np.ndarray, *, seed: int) -> Any:
        DEEDS[self._deed]()
        return super().produce(n, reference, seed=seed)


class Polluter(Uniform):
    """Changes whatever global state it can reach; then checks that it found none of it changed before."""

    def produce(self, n: int, reference: np.ndarray, *, seed: int) -> Any:
        import numpy as np
        import torch

        if (
            "BENCH_POLLUTED" in os.environ
            or torch.get_default_dtype() != torch.float32
            or reference[0] != 0.0
        ):
            raise RuntimeError("state of an earlier job is visible")
        drawn = [random.random(), float(np.random.random()), float(torch.rand(()))]  # noqa: NPY002
        os.environ["BENCH_POLLUTED"] = "1"
        os.chdir("/")
        torch.set_default_dtype(torch.float64)
        random.seed(seed ^ os.getpid())
        np.random.seed(os.getpid() % 2**32)  # noqa: NPY002
        sys.path.insert(0, "/nonexistent")
        reference[:] = 7.0
        EchoTask.score = None  # type: ignore[assignment, method-assign]
        return drawn


class FailingSetup(Uniform):
    """Imports a library that isn't installed and that it didn't declare."""

    def setup(self, ctx: Context) -> None:
        import module_that_does_not_exist  # type: ignore[import-not-found]  # noqa: F401


class Trapper(Uniform):
    """Leaves a link where the bench will write later."""

    def setup(self, ctx: Context) -> None:
        elsewhere = ctx.artifact_dir.parent / "elsewhere"
        elsewhere.mkdir()
        for name in ("exhibits", "scratch"):
            path = ctx.artifact_dir.parent / name
            if path.exists():
                path.rmdir()
            path.symlink_to(elsewhere)


class Smuggler(Uniform):
    """Leaves a link in its artifact."""

    def setup(self, ctx: Context) -> None:
        (ctx.artifact_dir / "link").symlink_to("/etc/hostname")


class Writer(Uniform):
    """Writes a file beside the folders that it was given, and one where it may."""

    def setup(self, ctx: Context) -> None:
        (ctx.artifact_dir.parent / "stray.txt").write_text("stray")
        (ctx.cache_dir / "kept.txt").write_text("kept")


class CudaHog(Uniform):
    """Asks its GPU for more memory than any has."""

    def produce(self, n: int, reference: np.ndarray, *, seed: int) -> Any:
        import torch

        return torch.empty(2**44, device="cuda").cpu()[:n].numpy()


class CudaUser(Uniform):
    """Computes on its GPU."""

    def setup(self, ctx: Context) -> None:
        self._device = ctx.device

    def produce(self, n: int, reference: np.ndarray, *, seed: int) -> Any:
        import torch

        generator = torch.Generator(self._device).manual_seed(seed)
        work = torch.rand(2**22, generator=generator, device=self._device)
        return work[:n].cpu().numpy()


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class _Forged(Exception):
    def __str__(self) -> str:
        return "\ud800</script>\x1b[31m" + "x" * 100_000


def _raise_value_error() -> NoReturn:
    raise ValueError("bad")


def _raise_unprintable() -> NoReturn:
    raise _Unprintable


def _raise_forged() -> NoReturn:
    raise _Forged


def _segfault() -> None:
    ctypes.string_at(0)


def _sleep_for_ever() -> None:
    while True:
        time.sleep(3600)


def _loop_for_ever() -> None:
    while True:
        pass


def _ignore_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _sleep_for_ever()


def _fill_memory() -> None:
    hoard = []
    while True:
        hoard.append(b"x" * 2**24)


def _fill_memory_in_a_grandchild() -> None:
    """The limit is on the whole group, not on the process that the bench started."""
    if os.fork() == 0:
        _fill_memory()
    _sleep_for_ever()


def _raise_memory_error() -> NoReturn:
    raise MemoryError


def _print_much() -> None:
    print("first words")
    block = "y" * 999 + "\n"
    for _ in range(100_000):
        sys.stdout.write(block)
    print("last words")


def _print_garbage() -> None:
    os.write(1, bytes(range(256)) * 64)
    os.write(2, b"\xff\xfe\x00\x1b[2J")
    os.close(1)
    os.close(0)


def _leave_grandchildren() -> None:
    """One in the job's own group and one that runs away into a session of its own."""
    command = [sys.executable, "-c", "import time; time.sleep(3600)", os.environ.get("BENCH_TEST_MARK", "")]
    subprocess.Popen(command)
    subprocess.Popen(command, start_new_session=True)


def _return_twice() -> None:
    """A fork that returns where only the job should, and before it."""
    fork = os.fork()
    if fork:
        os.waitpid(fork, 0)


def _kill_the_supervisor() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    _sleep_for_ever()


def _write_to_the_channel() -> None:
    from bench.engine.child import CHANNEL_FD

    os.write(CHANNEL_FD, b"\xff" * 1000)


def _fail_in_a_thread() -> None:
    import threading

    threading.Thread(target=_sleep_for_ever).start()
    threading.Thread(target=_raise_value_error).start()


DEEDS = {
    "nothing": lambda: None,
    "raise": _raise_value_error,
    "raise-unprintable": _raise_unprintable,
    "raise-forged": _raise_forged,
    "raise-memory-error": _raise_memory_error,
    "sys-exit": lambda: sys.exit(0),
    "exit-0": lambda: os._exit(0),
    "exit-3": lambda: os._exit(3),
    "segfault": _segfault,
    "abort": os.abort,
    "sleep": _sleep_for_ever,
    "loop": _loop_for_ever,
    "ignore-sigterm": _ignore_sigterm,
    "fill-memory": _fill_memory,
    "fill-memory-below": _fill_memory_in_a_grandchild,
    "print-much": _print_much,
    "print-garbage": _print_garbage,
    "grandchildren": _leave_grandchildren,
    "return-twice": _return_twice,
    "kill-supervisor": _kill_the_supervisor,
    "garble-channel": _write_to_the_channel,
    "threads": _fail_in_a_thread,
}
