"""Features of real images, kept on disk: every model of a data set is compared with the same ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.tasks.caching import cached_array
from bench.tasks.images.encoders import FeatureEncoder

_LAYOUT = 1  # raised when the way features are computed or stored changes


def encode_cached(
    encoder: FeatureEncoder, images: npt.NDArray[np.uint8], *, device: str, cache_dir: Path
) -> npt.NDArray[np.float32]:
    """Features float32 (n, d) of `images`, from the cache if this very content was encoded before.

    The key covers encoder, weights, kind of device (rounding differs) and the pixels.
    """
    return cached_array(
        cache_dir / "image-features" / f"{_key(encoder, images, device)}.npy",
        lambda: encoder.encode(images, device=device),
        fits=lambda stored: stored.dtype == np.float32 and stored.shape[:1] == (len(images),),
    )


def _key(encoder: FeatureEncoder, images: npt.NDArray[np.uint8], device: str) -> str:
    parts = (_LAYOUT, encoder.name, encoder.weights_sha256, encoder.resize_mode, device.split(":")[0])
    digest = hashlib.sha256(f"{parts}{images.shape}".encode())
    digest.update(images.tobytes())
    return digest.hexdigest()
