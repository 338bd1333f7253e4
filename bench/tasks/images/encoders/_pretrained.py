"""What encoders with published weights share: a network of fixed width, fed in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from bench.tasks.images.encoders._batches import encode_in_batches


class PretrainedEncoder(ABC):
    """Its subclasses set `network` and say how images are prepared for it."""

    network: nn.Module

    def __init__(self, features: int) -> None:
        self._features = features

    def width(self, image_shape: tuple[int, int, int]) -> int:
        """That of the network's output, whatever the images."""
        return self._features

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 32
    ) -> npt.NDArray[np.float32]:
        """float32 (n, width) of images uint8 (n, C, H, W)."""
        return encode_in_batches(
            images,
            prepare=self.prepared,
            network=self.network.to(device),
            dim=self._features,
            device=device,
            batch_size=batch_size,
        )

    @abstractmethod
    def prepared(self, images: npt.NDArray[np.uint8]) -> Tensor:
        """float32 (n, 3, S, S) as the network was trained on, of images uint8 (n, C, H, W)."""
