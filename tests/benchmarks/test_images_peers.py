"""Image metrics beside public packages: the same arrays, one run, one thread, CPU time.

    python tests/benchmarks/test_images_peers.py              10,000 x 2,048 float32, about 3 minutes
    pytest -s tests/benchmarks/test_images_peers.py           a small size for every run of the tests
    BENCH_IMAGES_SIZE=10000x2048 pytest -s tests/benchmarks/test_images_peers.py

Timings depend on the machine and are printed, not asserted; agreement of the values is asserted. Peers are the
extra `peers`: prdc 0.2, torch-fidelity 0.4.0.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from threadpoolctl import threadpool_limits

from bench.metrics.images import (
    Subsets,
    feature_statistics,
    frechet_distance,
    frechet_from_statistics,
    kernel_distance,
    neighbor_metrics,
    precision_recall,
)

Array = npt.NDArray[Any]
SMALL, FULL = "1000x256", "10000x2048"
TORCH_FIDELITY = "torch-fidelity"
FID = "frechet_inception_distance"


Values = dict[str, float]
Calls = tuple[Callable[[], Values], Callable[[], Values]]


@dataclass(frozen=True)
class Loop:
    """One thing that both sides compute; `calls` prepares what is not timed and returns our call and theirs."""

    name: str
    peer: str
    module: str
    calls: Callable[[Any, Array, Array], Calls]
    required: float
    rounds: int = 1
    tolerance: float = 1e-6
    samples: int | None = None
    features: int | None = None


@dataclass(frozen=True)
class Outcome:
    ours: float
    theirs: float
    extra_bytes: int
    values: Values
    peer_values: Values

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def synthetic(size: str, loop: Loop) -> tuple[Array, Array]:
    """relu(z W + b + e) with a 64-dimensional z (narrower for generated), 32-bit, the same for everybody."""
    n, d = (int(part) for part in size.split("x"))
    n, d = loop.samples or n, loop.features or d
    weights = np.random.default_rng(1).standard_normal((64, d), dtype=np.float32) / 8
    bias = np.random.default_rng(2).standard_normal(d, dtype=np.float32)

    def features(seed: int, spread: float) -> Array:
        rng = np.random.default_rng(seed)
        latent = spread * rng.standard_normal((n, 64), dtype=np.float32)
        noise = 0.1 * rng.standard_normal((n, d), dtype=np.float32)
        activations: Array = np.maximum(latent @ weights + bias + noise, 0, dtype=np.float32)
        return activations

    return features(7, 1.0), features(8, 0.9)


def all_neighbours(prdc: Any, x: Array, y: Array) -> Calls:
    def ours() -> Values:
        result = neighbor_metrics(real=x, generated=y, ks=(1, 5), ball_ks=(5,), ball="open")
        balls, depth, distances = result.precision_recall[5], result.density_coverage[5], result.chamfer[1]
        return {
            "precision": balls.precision,
            "recall": balls.recall,
            "density": depth.density,
            "coverage": depth.coverage,
            "r2g": distances.r2g,
            "g2r": distances.g2r,
        }

    def theirs() -> Values:
        # From float32 features prdc makes distances rounded to float32, which can move single pairs.
        found: Values = prdc.compute_prdc(real_features=x, fake_features=y, nearest_k=5)
        return found

    return ours, theirs


def balls_only(metric_prc: Any, x: Array, y: Array) -> Calls:
    def ours() -> Values:
        result = precision_recall(real=x, generated=y, k=3)
        return {"precision": result.precision, "recall": result.recall}

    def theirs() -> Values:
        found = metric_prc.prc_features_to_metric(
            torch.from_numpy(y),
            torch.from_numpy(x),
            prc_neighborhood=3,
            prc_batch_size=10_000,
            verbose=False,
        )
        return {name: float(found[name]) for name in ("precision", "recall")}

    return ours, theirs


def frechet(metric_fid: Any, x: Array, y: Array) -> Calls:
    def theirs() -> Values:
        statistics = [metric_fid.fid_features_to_statistics(torch.from_numpy(points)) for points in (x, y)]
        return {"fd": metric_fid.fid_statistics_to_metric(*statistics, verbose=False)[FID]}

    return lambda: {"fd": frechet_distance(real=x, generated=y).distance}, theirs


def frechet_after_statistics(metric_fid: Any, x: Array, y: Array) -> Calls:
    ours = feature_statistics(x), feature_statistics(y)
    assert (
        len(ours[0].factor.matrix) == x.shape[1]
    )  # computed here and kept, as for a reference of many models
    theirs = [metric_fid.fid_features_to_statistics(torch.from_numpy(points)) for points in (x, y)]
    return (
        lambda: {"fd": frechet_from_statistics(real=ours[0], generated=ours[1]).distance},
        lambda: {"fd": metric_fid.fid_statistics_to_metric(*theirs, verbose=False)[FID]},
    )


def kernel(metric_kid: Any, x: Array, y: Array) -> Calls:
    settings = Subsets(size=min(1000, len(x) // 2))

    def theirs() -> Values:
        found = metric_kid.kid_features_to_metric(
            torch.from_numpy(x),
            torch.from_numpy(y),
            kid_subsets=settings.count,
            kid_subset_size=settings.size,
            rng_seed=settings.seed,
            verbose=False,
        )
        return {"kid": float(found["kernel_inception_distance_mean"])}

    return lambda: {"kid": kernel_distance(real=x, generated=y).mmd2}, theirs


LOOPS = [
    Loop("P, R, D, C and all Chamfer", "prdc 0.2", "prdc", all_neighbours, 0.4, tolerance=1e-4),
    Loop("P, R", TORCH_FIDELITY, "torch_fidelity.metric_prc", balls_only, 1 / 1.5),
    Loop("fd from features", TORCH_FIDELITY, "torch_fidelity.metric_fid", frechet, 1 / 2, rounds=3),
    Loop(
        "fd after statistics",
        TORCH_FIDELITY,
        "torch_fidelity.metric_fid",
        frechet_after_statistics,
        1 / 3,
        rounds=3,
    ),
    Loop(
        "fd, n=100, d=2048",
        TORCH_FIDELITY,
        "torch_fidelity.metric_fid",
        frechet,
        1 / 100,
        tolerance=1e-4,
        samples=100,
        features=2048,
    ),
    Loop(
        "kid (theirs: 100 subsets)",
        TORCH_FIDELITY,
        "torch_fidelity.metric_kid",
        kernel,
        1.0,
        tolerance=0.2,
    ),
]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def cpu_seconds(call: Callable[[], Values], rounds: int) -> tuple[float, Values]:
    """Median CPU time and the values of the last round."""
    times, values = [], {}
    for _ in range(rounds):
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            values = call()
        times.append(time.process_time() - start)
    return float(np.median(times)), values


def peak_extra_bytes(call: Callable[[], object]) -> int:
    """How far the resident memory rises above where it is now (Linux; 0 elsewhere)."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return 0
    before = _status_bytes("VmRSS")
    reset.write_text("5")
    call()
    return _status_bytes("VmHWM") - before


def _status_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def compare(loop: Loop, module: Any, size: str) -> Outcome:
    x, y = synthetic(size, loop)
    with one_thread():
        loop.calls(module, x[:512, :128], y[:512, :128])[0]()
        ours, theirs = loop.calls(module, x, y)
        measured: list[tuple[float, Values]] = []
        extra = peak_extra_bytes(lambda: measured.append(cpu_seconds(ours, loop.rounds)))
        peer_seconds, peer_values = cpu_seconds(theirs, loop.rounds)
    seconds, values = measured[0]
    return Outcome(seconds, peer_seconds, extra, values, peer_values)


def line(loop: Loop, outcome: Outcome) -> str:
    values = ", ".join(f"{name} {value:.8g}" for name, value in outcome.values.items())
    return (
        f"{loop.name:<28} {outcome.ours:8.3f} s  {loop.peer:<15} {outcome.theirs:8.3f} s  "
        f"ratio {outcome.ratio:.3f} (required {loop.required:.3f})  +{outcome.extra_bytes >> 20} MiB  {values}"
    )


def differences(loop: Loop, outcome: Outcome) -> dict[str, tuple[float, float]]:
    """Values that both sides give and that are apart by more than the tolerance."""
    return {
        name: (outcome.values[name], theirs)
        for name, theirs in outcome.peer_values.items()
        if abs(outcome.values[name] - theirs) > loop.tolerance * max(1, abs(theirs))
    }


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_ratio_to_peer(benchmark: Any, loop: Loop) -> None:
    module = pytest.importorskip(loop.module, reason="install the extra 'peers'")
    size = os.environ.get("BENCH_IMAGES_SIZE", SMALL)
    outcome = benchmark.pedantic(compare, (loop, module, size), rounds=1)
    benchmark.extra_info.update(
        ratio=outcome.ratio, cpu_seconds=outcome.ours, extra_bytes=outcome.extra_bytes
    )
    print("\n" + line(loop, outcome))
    assert differences(loop, outcome) == {}


def main(size: str) -> None:
    """Print every comparison at the given size."""
    import importlib

    print(f"{size} float32, one thread, CPU time; torch {torch.__version__}, numpy {np.__version__}")
    for loop in LOOPS:
        outcome = compare(loop, importlib.import_module(loop.module), size)
        print(line(loop, outcome), flush=True)
        for name, pair in differences(loop, outcome).items():
            print(f"  {name} differs: ours {pair[0]!r}, theirs {pair[1]!r}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else FULL)
