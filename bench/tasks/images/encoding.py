"""Features of real images, kept on disk: every model of a data set is compared with the same ones."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.tasks.images.encoders import FeatureEncoder

_LAYOUT = 1  # raised when the way features are computed or stored changes


def encode_cached(
    encoder: FeatureEncoder, images: npt.NDArray[np.uint8], *, device: str, cache_dir: Path
) -> npt.NDArray[np.float32]:
    """Features float32 (n, d) of `images`, from the cache if this very content was encoded before.

    The key covers encoder, weights, kind of device (rounding differs) and the pixels. A damaged or
    unwritable cache costs time, never a result.
    """
    path = cache_dir / "image-features" / f"{_key(encoder, images, device)}.npy"
    with suppress(OSError, ValueError, EOFError):
        stored = np.load(path, allow_pickle=False)
        if (
            isinstance(stored, np.ndarray)
            and stored.dtype == np.float32
            and stored.shape[:1] == (len(images),)
        ):
            return stored
    features = encoder.encode(images, device=device)
    with suppress(OSError):
        _write(path, features)
    return features


def _key(encoder: FeatureEncoder, images: npt.NDArray[np.uint8], device: str) -> str:
    parts = (_LAYOUT, encoder.name, encoder.weights_sha256, encoder.resize_mode, device.split(":")[0])
    digest = hashlib.sha256(f"{parts}{images.shape}".encode())
    digest.update(images.tobytes())
    return digest.hexdigest()


def _write(path: Path, features: npt.NDArray[np.float32]) -> None:
    """Write under a private name, then rename: jobs beside this one see all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as out:
            np.save(out, features, allow_pickle=False)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
