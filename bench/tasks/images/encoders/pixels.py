"""`pixels`: gray values as they are, the baseline encoder without weights."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


class Pixels:
    """Features value / 255 in [0, 1], flattened in the order C, H, W."""

    name = "pixels"
    weights_sha256 = ""
    resize_mode = "none"

    def width(self, image_shape: tuple[int, int, int]) -> int:
        """C * H * W."""
        return math.prod(image_shape)

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 250
    ) -> npt.NDArray[np.float32]:
        """float32 (n, C * H * W) of images uint8 (n, C, H, W)."""
        return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
