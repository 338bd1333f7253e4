"""`dinov2-vitl14`: DINOv2, ViT-L/14, the class token of images at 224 x 224.

The published file states no checksum. The first verified download is recorded in the cache, and nothing else is
accepted from then on; results carry the hash of the file they were made with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from bench.datasets import cache
from bench.tasks.images.encoders import _weights
from bench.tasks.images.encoders._pretrained import PretrainedEncoder
from bench.tasks.images.encoders._resizing import normalised, pillow_bicubic
from bench.tasks.images.encoders._vit import DinoTransformer

_SIZE = 224
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet


@dataclass(frozen=True, slots=True, kw_only=True)
class DinoLayout:
    """Which network a file must hold."""

    name: str
    file: cache.RemoteFile
    width: int
    depth: int
    grid: int = 37  # of patches, at the size of the training, 518 pixels


VITL14 = DinoLayout(
    name="dinov2-vitl14",
    file=cache.RemoteFile(
        name="dinov2_vitl14_pretrain.pth",
        group="encoders",
        url="https://dl.fbaipublicfiles.com/dinov2/dinov2_vitl14/dinov2_vitl14_pretrain.pth",
        sha256="",
        size=1_217_586_395,
    ),
    width=1024,
    depth=24,
)


class DinoEncoder(PretrainedEncoder):
    """Features float32 (n, width): the class token after the last norm."""

    resize_mode = "Pillow bicubic, both sides"

    def __init__(self, layout: DinoLayout) -> None:
        super().__init__(layout.width)
        self.name = layout.name
        path, self.weights_sha256 = _weights.fetch(layout.file, self.name)
        self.network = _weights.fill(
            lambda: DinoTransformer(width=layout.width, depth=layout.depth, grid=layout.grid),
            _weights.read_state(path, self.name),
            self.name,
        )

    def prepared(self, images: npt.NDArray[np.uint8]) -> Tensor:
        """float32 (n, 3, 224, 224), standardised as ImageNet."""
        return normalised(pillow_bicubic(images, _SIZE, crop=False), _MEAN, _DEVIATION)


def dinov2_vitl14() -> DinoEncoder:
    """1,024 features."""
    return DinoEncoder(VITL14)
