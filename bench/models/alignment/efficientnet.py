"""EfficientNet-lite0 as it was trained for ImageNet."""

from __future__ import annotations

import torch
from torch import Tensor

from bench.adapters.alignment import VisionModel
from bench.adapters.efflite import pretrained
from bench.spec import Context


class EfficientNetLite(VisionModel):
    """Takes images of any size from 64 pixels on: those of 224 as they are, small ones enlarged to 64.

    Source: M. Tan and Q. V. Le (2019), EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks.
    """

    label_space, channels, input_hw = "imagenet1k", 3, None

    def setup(self, ctx: Context) -> None:
        """Read the weights."""
        self._network = pretrained().to(ctx.device).to(memory_format=torch.channels_last)

    def logits(self, x: Tensor) -> Tensor:
        """(n, 1000)."""
        found: Tensor = self._network(self._scaled(x))
        return found

    def features(self, x: Tensor) -> Tensor:
        """(n, 1280), the mean over the last feature map."""
        return self._network.features(self._scaled(x))

    @staticmethod
    def _scaled(x: Tensor) -> Tensor:
        scaled: Tensor = (255 * x - 127) / 128
        return scaled.contiguous(memory_format=torch.channels_last)
