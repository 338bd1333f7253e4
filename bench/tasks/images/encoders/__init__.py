"""Feature encoders: images in, one feature vector an image out.

To add one, write a module with a class that has what `FeatureEncoder` asks for, and add its line to
`ENCODERS`. Features of an image may not depend on the other images of its batch.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from bench.errors import MissingRequirement, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_HERE = "bench.tasks.images.encoders"
ENCODERS = {
    "pixels": f"{_HERE}.pixels:Pixels",
    "fashion-cnn": f"{_HERE}.small_cnn:fashion_cnn",
    "mnist-cnn": f"{_HERE}.small_cnn:mnist_cnn",
    "efflite0-64": f"{_HERE}.efflite:efflite0_64",
    "efflite0-96": f"{_HERE}.efflite:efflite0_96",
    "efflite0-224": f"{_HERE}.efflite:efflite0_224",
    "inception-fid": f"{_HERE}.inception:inception_fid",
    "inception-fid-clean": f"{_HERE}.inception:inception_fid_clean",
    "dinov2-vitl14": f"{_HERE}.dinov2:dinov2_vitl14",
    "clip-vitb32": f"{_HERE}.clip:clip_vitb32",
    "clip-vitl14-336": f"{_HERE}.clip:clip_vitl14_336",
}
# Seconds, not milliseconds, an image on a CPU core: a facet of these is worth its time on a GPU only.
FOR_GPUS = frozenset(
    {"inception-fid", "inception-fid-clean", "dinov2-vitl14", "clip-vitb32", "clip-vitl14-336"}
)


class FeatureEncoder(Protocol):
    """What an encoder offers; `weights_sha256` is "" where nothing was learned."""

    name: str
    weights_sha256: str
    resize_mode: str

    def width(self, image_shape: tuple[int, int, int]) -> int:
        """Number of features of an image (C, H, W)."""
        ...

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 250
    ) -> npt.NDArray[np.float32]:
        """Features float32 (n, d) of images uint8 (n, C, H, W)."""
        ...


@functools.cache
def load_encoder(name: str) -> FeatureEncoder:
    """The encoder called `name`; its weights are read and checked the first time.

    `MissingRequirement` naming the remedy if its weights are not here.
    """
    try:
        module, _, factory = ENCODERS[name].partition(":")
    except KeyError:
        raise UsageError(f"no image encoder {name!r}; there are {', '.join(ENCODERS)}") from None
    encoder: FeatureEncoder = getattr(importlib.import_module(module), factory)()
    return encoder


def usable(names: Iterable[str], *, device: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Those of `names` that can be used here, and for each other one why not.

    The first is the one everything rests on: if it is missing, so is what the job needs (`MissingRequirement`).
    """
    default, *others = names
    load_encoder(default)
    found, gaps = [default], {}
    for name in others:
        if name in FOR_GPUS and device == "cpu":
            gaps[name] = f"encoder {name} is used on GPUs only; on a CPU it would take hours"
            continue
        try:
            load_encoder(name)
        except MissingRequirement as error:
            gaps[name] = str(error)
        else:
            found.append(name)
    return tuple(found), gaps
