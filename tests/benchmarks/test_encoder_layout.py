"""EfficientNet-lite0 as we run it, beside the same network in the plain way: one process, one thread, CPU time.

    pytest -s tests/benchmarks/test_encoder_layout.py

The plain way is the layout that images come in and one batch of 250; ours is channels last and batches that stay in
the cache. Speeds are printed; what is asserted is that both give the same features.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
import torch

from bench.datasets import packaged
from bench.tasks.images.encoders import efflite, load_encoder
from bench.tasks.images.encoders._batches import encode_in_batches

IMAGES = np.random.default_rng(0).integers(0, 256, (500, 3, 32, 32), dtype=np.uint8)
REQUIRED = 1.8
ROUNDS = 2


def timed(encode: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """CPU seconds of one call, and the features."""
    started = time.process_time()
    found = encode()
    return time.process_time() - started, found


def test_efflite_beside_the_plain_layout() -> None:
    if reason := packaged.absence(*efflite.FILE):
        pytest.skip(reason)
    encoder = load_encoder("efflite0-64")
    assert isinstance(encoder, efflite.EfficientNetEncoder)
    plain = efflite.EfficientNetLite0()
    plain.load_state_dict(encoder.network.state_dict())  # copied, hence in the plain layout
    plain.eval()

    def ours() -> np.ndarray:
        return encoder.encode(IMAGES)

    def theirs() -> np.ndarray:
        return encode_in_batches(
            IMAGES,
            prepare=encoder.prepared,
            network=plain.features,
            dim=1280,
            device="cpu",
            batch_size=250,
        )

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rounds = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]  # in turn: the machine's mood changes
    finally:
        torch.set_num_threads(threads)
    fast, slow = (min(part[side][0] for part in rounds) for side in (0, 1))
    np.testing.assert_allclose(rounds[0][0][1], rounds[0][1][1], rtol=1e-3, atol=1e-3)
    print(
        f"\nefflite0-64: {len(IMAGES) / fast:.0f} images/s, plain {len(IMAGES) / slow:.0f}; "
        f"{slow / fast:.2f}x, at least {REQUIRED}x wanted"
    )
