"""`inception-fid` and `inception-fid-clean`: the network of the Frechet Inception Distance (Heusel et al. 2017).

It is the Inception v3 of TensorFlow's model of 2015-12-05, which differs from the one torchvision ships: 1,008
outputs, average pooling that leaves out the border, a maximum in the pooling branch of the last block. The two
names differ in how images come to 299 x 299 pixels; their values can't be compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.datasets import cache
from bench.errors import MissingRequirement
from bench.tasks.images.encoders import _weights
from bench.tasks.images.encoders._batches import encode_in_batches
from bench.tasks.images.encoders._inception import FidInception
from bench.tasks.images.encoders._resizing import as_rgb, pillow_float_bicubic, tensorflow_bilinear

FILE = cache.RemoteFile(
    name="pt_inception-2015-12-05-6726825d.pth",
    group="encoders",
    url="https://github.com/mseitzer/pytorch-fid/releases/download/fid_weights/"
    "pt_inception-2015-12-05-6726825d.pth",
    sha256="6726825d0af5f729cebd5821db510b11b1cfad8faad88a03f1befd49fb9129b2",
    size=95_628_359,
)
_SIZE = 299
Resize = Callable[[npt.NDArray[np.uint8], int], Tensor]


class InceptionEncoder:
    """Features float32 (n, 2048): the mean of the last feature map."""

    def __init__(self, name: str, resize_mode: str, resize: Resize) -> None:
        self.name = name
        self.resize_mode = resize_mode
        self._resize = resize
        path, self.weights_sha256 = _weights.fetch(FILE, name)
        state = _weights.read_state(path, name)
        _refuse_torchvision(state, name)
        self.network = _weights.fill(FidInception, state, name)
        self.network.to(memory_format=torch.channels_last)

    def width(self, image_shape: tuple[int, int, int]) -> int:
        """2048, whatever the images."""
        return FidInception.dim

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 25
    ) -> npt.NDArray[np.float32]:
        """float32 (n, 2048) of images uint8 (n, C, H, W)."""
        return encode_in_batches(
            images,
            prepare=self.prepared,
            network=self.network.to(device).features,
            dim=FidInception.dim,
            device=device,
            batch_size=batch_size,
            layout=torch.channels_last,
        )

    def prepared(self, images: npt.NDArray[np.uint8]) -> Tensor:
        """float32 (n, 3, 299, 299) in [-1, 1]."""
        return (self._resize(as_rgb(images), _SIZE) - 128.0) / 128.0

    def logits(
        self, features: npt.NDArray[np.float32], *, with_bias: bool = False
    ) -> npt.NDArray[np.float32]:
        """float32 (n, 1008) of features (n, 2048); the Inception Score is defined without the bias."""
        last = self.network.fc
        with torch.inference_mode():
            result = torch.from_numpy(features) @ last.weight.cpu().T
            return (result + last.bias.cpu() if with_bias else result).numpy()

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights (1008, 2048) and bias of the last layer as the Inception Score takes it: without bias."""
        weights = self.network.fc.weight.detach().cpu().numpy()
        return weights, np.zeros(len(weights), dtype=np.float32)


def inception_fid() -> InceptionEncoder:
    """As the FID was published: bilinear without antialiasing, as TensorFlow 1 resized."""
    return InceptionEncoder("inception-fid", "legacy: TensorFlow 1 bilinear", tensorflow_bilinear)


def inception_fid_clean() -> InceptionEncoder:
    """Resized well: bicubic with antialiasing (Parmar et al. 2022)."""
    return InceptionEncoder("inception-fid-clean", "clean: Pillow float32 bicubic", pillow_float_bicubic)


def _refuse_torchvision(state: dict[str, Tensor], encoder: str) -> None:
    head = state.get("fc.weight")
    if any(name.startswith("AuxLogits.") for name in state) or (head is not None and len(head) == 1_000):
        raise MissingRequirement(
            f"these are torchvision's weights of Inception v3, a network other than that of {encoder}: a Frechet "
            f"distance from them can't be compared with any published one; take {FILE.url}"
        )
