"""Images as arrays: conversions between bytes and numbers, seeded draws of rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Images = npt.NDArray[np.uint8]  # (n, C, H, W)
Labels = npt.NDArray[np.int64]
Features = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


def to_unit(images: Images) -> Matrix:
    """Flatten uint8 (N, C, H, W) to float32 (N, C*H*W) in [0, 1]."""
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def to_images(values: npt.NDArray[np.floating], shape: tuple[int, ...]) -> Images:
    """Turn numbers in [0, 1] into uint8 images of `shape` (C, H, W).

    Values outside [0, 1] are clipped; x becomes the integer nearest to 255 x, a tie the even one.
    """
    scaled: Images = np.rint(np.clip(values, 0.0, 1.0) * 255.0).astype(np.uint8)
    return scaled.reshape(len(values), *shape)


def draw_rows(total: int, n: int, seed: int) -> npt.NDArray[np.int64]:
    """`n` row numbers below `total` without replacement.

    More rows than there are come from further whole permutations, so that no row is returned more than
    once oftener than any other.
    """
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(total) for _ in range(-(-n // total))]
    return np.concatenate([np.empty(0, np.int64), *rounds])[:n]
