"""`clip-vitb32` and `clip-vitl14-336`: image embeddings of CLIP (Radford et al. 2021).

The published files are TorchScript archives. They are opened only after their hash was found right, and only the
tensors of the image tower are taken from them; the network is ours, in float32.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.datasets import cache
from bench.errors import MissingRequirement
from bench.tasks.images.encoders import _weights
from bench.tasks.images.encoders._pretrained import PretrainedEncoder
from bench.tasks.images.encoders._resizing import normalised, pillow_bicubic
from bench.tasks.images.encoders._vit import ClipTransformer

_MEAN = (0.48145466, 0.4578275, 0.40821073)
_DEVIATION = (0.26862954, 0.26130258, 0.27577711)
_TOWER = "visual."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipLayout:
    """Which network an archive must hold."""

    name: str
    file: cache.RemoteFile
    width: int
    depth: int
    patch: int
    grid: int
    outputs: int


def _file(name: str, sha256: str, size: int) -> cache.RemoteFile:
    url = f"https://openaipublic.azureedge.net/clip/models/{sha256}/{name}"
    return cache.RemoteFile(name=name, group="encoders", url=url, sha256=sha256, size=size)


VITB32 = ClipLayout(
    name="clip-vitb32",
    file=_file(
        "ViT-B-32.pt", "40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af", 353_976_522
    ),
    width=768,
    depth=12,
    patch=32,
    grid=7,
    outputs=512,
)
VITL14_336 = ClipLayout(
    name="clip-vitl14-336",
    file=_file(
        "ViT-L-14-336px.pt", "3035c92b350959924f9f00213499208652fc7ea050643e8b385c2dac08641f02", 934_088_680
    ),
    width=1024,
    depth=24,
    patch=14,
    grid=24,
    outputs=768,
)


class ClipEncoder(PretrainedEncoder):
    """Features float32 (n, outputs): the image embedding, not normalised."""

    resize_mode = "Pillow bicubic, shorter side, middle cut out"

    def __init__(self, layout: ClipLayout) -> None:
        super().__init__(layout.outputs)
        self.name = layout.name
        self._size = layout.patch * layout.grid
        path, self.weights_sha256 = _weights.fetch(layout.file, self.name)
        self.network = _weights.fill(
            lambda: ClipTransformer(
                width=layout.width,
                depth=layout.depth,
                patch=layout.patch,
                grid=layout.grid,
                outputs=layout.outputs,
            ),
            _tower(path, self.name),
            self.name,
        )

    def prepared(self, images: npt.NDArray[np.uint8]) -> Tensor:
        """float32 (n, 3, S, S), standardised as CLIP's training images."""
        return normalised(pillow_bicubic(images, self._size, crop=True), _MEAN, _DEVIATION)


def clip_vitb32() -> ClipEncoder:
    """512 features of images at 224 x 224."""
    return ClipEncoder(VITB32)


def clip_vitl14_336() -> ClipEncoder:
    """768 features of images at 336 x 336."""
    return ClipEncoder(VITL14_336)


def _tower(path: Path, encoder: str) -> dict[str, Tensor]:
    """The tensors of the image tower in a verified TorchScript archive, as float32."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # TorchScript is deprecated; these archives are not going to change
            state = torch.jit.load(str(path), map_location="cpu").state_dict()  # type: ignore[no-untyped-call]
    except Exception as error:
        message = f"the weights of {encoder} are no TorchScript archive: {type(error).__name__}: {error}"
        raise MissingRequirement(message) from error
    return {
        name.removeprefix(_TOWER): tensor.float() for name, tensor in state.items() if name.startswith(_TOWER)
    }
