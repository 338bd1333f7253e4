"""Feature encoders: images in, one feature vector an image out.

To add one, write a module with a class that has what `FeatureEncoder` asks for, and add its line to
`ENCODERS`. Features of an image may not depend on the other images of its batch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from bench.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ENCODERS = {
    "pixels": "bench.tasks.images.encoders.pixels:Pixels",
    "fashion-cnn": "bench.tasks.images.encoders.small_cnn:fashion_cnn",
    "mnist-cnn": "bench.tasks.images.encoders.small_cnn:mnist_cnn",
}


class FeatureEncoder(Protocol):
    """What an encoder offers; `weights_sha256` is "" where nothing was learned."""

    name: str
    weights_sha256: str
    resize_mode: str

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 250
    ) -> npt.NDArray[np.float32]:
        """Features float32 (n, d) of images uint8 (n, C, H, W)."""
        ...


def load_encoder(name: str) -> FeatureEncoder:
    """The encoder called `name`; its weights are read and checked now."""
    try:
        module, _, factory = ENCODERS[name].partition(":")
    except KeyError:
        raise UsageError(f"no image encoder {name!r}; there are {', '.join(ENCODERS)}") from None
    encoder: FeatureEncoder = getattr(importlib.import_module(module), factory)()
    return encoder
