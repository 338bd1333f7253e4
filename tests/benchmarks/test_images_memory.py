"""Neighbour metrics of large sets: memory beyond the features, and on a GPU the rate beside that of a plain product.

    pytest -s tests/benchmarks/test_images_memory.py                                  4,000 x 256, with every run
    BENCH_IMAGES_LARGE=50000x2048 BENCH_IMAGES_QUERIES=2048 pytest -s ...             one block of queries, a minute
    BENCH_IMAGES_LARGE=50000x2048 pytest -s ...                                       everything, about 10 minutes

With fewer queries the same tiles are computed, only fewer of them: all that grows with the number of queries is the
result, a few numbers for each.
"""

from __future__ import annotations

import os
import time

import pytest
import torch

from bench.metrics.neighbors import Balls, nearest_between, nearest_others, nearest_to
from tests.benchmarks.test_images_peers import peak_extra_bytes

SIZE = os.environ.get("BENCH_IMAGES_LARGE", "4000x256")
QUERIES = int(os.environ.get("BENCH_IMAGES_QUERIES", "0"))
LIMIT = 2 << 30
K = 5


def features(seed: int, device: str = "cpu") -> torch.Tensor:
    """relu of a random layer on 16 dimensions, float32 (n, d), made block by block: nothing else stays in memory."""
    n, d = (int(part) for part in SIZE.split("x"))
    weights = torch.randn(16, d, generator=torch.Generator().manual_seed(1)) / 4
    rng = torch.Generator().manual_seed(seed)
    made = torch.empty(n, d)
    for rows in made.split(1_000):
        torch.clamp(torch.randn(len(rows), 16, generator=rng) @ weights + 0.1, min=0, out=rows)
        rows += 0.1 * torch.randn(len(rows), d, generator=rng)
    return made.to(device)


def measure(real: torch.Tensor, generated: torch.Tensor) -> None:
    """What all neighbour metrics of the family are made of."""
    if QUERIES:
        generated = generated[:QUERIES]
        own = nearest_to(points=real, queries=real[:QUERIES], k=K + 1)  # the nearest is the point itself
        reach = own.distances[:, K].mean().expand(len(real))
    else:
        reach = nearest_others(points=real, k=K).distances[:, K - 1]
    found = nearest_between(real=real, generated=generated, k=K, real_balls=Balls(reach[:, None]))
    assert bool((found.generated_to_real.distances > 0).all())
    assert found.real_to_generated.distances.shape == (len(real), K)


def test_large_sets_need_little_more_than_their_features() -> None:
    real, generated = features(7), features(8)
    measure(real[:512], generated[:512])  # what libraries take once
    started = time.process_time()
    extra = peak_extra_bytes(lambda: measure(real, generated))
    seconds = time.process_time() - started
    held = (real.nbytes + generated.nbytes) >> 20
    print(
        f"\n{SIZE}, {QUERIES or 'all'} queries: +{extra >> 20} MiB beyond {held} MiB of features, {seconds:.0f} CPU s"
    )
    assert extra <= LIMIT


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_rate_on_a_gpu_beside_a_plain_product() -> None:
    """Pairs times 2 d operations a second, relative to a float32 product without TF32 in the same run; printed."""
    torch.backends.cuda.matmul.allow_tf32 = False
    real, generated = features(7, "cuda"), features(8, "cuda")
    square = torch.randn(8192, 8192, device="cuda")
    seconds = [
        timed(lambda: square @ square),
        timed(lambda: nearest_between(real=real, generated=generated, k=K)),
    ]
    rates = [2 * 8192**3 / seconds[0], 2 * len(real) * len(generated) * real.shape[1] / seconds[1]]
    print(
        f"\n{SIZE}: {rates[1] / 1e12:.1f} of {rates[0] / 1e12:.1f} TFLOP/s, {rates[1] / rates[0]:.0%} (required 60 %)"
    )
    assert rates[1] > 0


def timed(call: object) -> float:
    """Seconds of the second call, on an idle device."""
    assert callable(call)
    for _ in range(2):
        torch.cuda.synchronize()
        started = time.perf_counter()
        call()
        torch.cuda.synchronize()
    return time.perf_counter() - started
