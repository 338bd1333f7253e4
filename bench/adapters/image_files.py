"""Adapters of the family `images` for samples that exist already: a folder of pictures, an npz file, moments.

    class Mine(FolderImages):
        path = "samples"          # relative to the file in which the class stands

The bench asks for `n` images with a seed; what it gets is a random subset, drawn from the seed, without repeats.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bench.adapters.images import ImageGenerator, MomentSource
from bench.artifacts import load_npz, load_pictures
from bench.errors import InvalidOutput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Images = npt.NDArray[np.uint8]
    Labels = npt.NDArray[np.int64]

MAX_PICTURES = 1_000_000


class _Samples(ImageGenerator):
    """Draws from images that were made beforehand."""

    path: ClassVar[str] = ""

    def __init__(self, *, path: str = "") -> None:
        self._path = located(self, path or self.path)

    def fit(self, images: Images, labels: Labels | None, *, seed: int, device: str, budget_s: float) -> None:
        """Reads the samples; they must have the size of `images`."""
        self._samples = self._read(tuple(images.shape[1:]))

    def sample(self, n: int, *, seed: int, labels: Labels | None = None, nfe: int | None = None) -> Images:
        """A random subset; `InvalidOutput` if there are fewer than `n`."""
        import numpy as np

        if n > len(self._samples):
            raise InvalidOutput(f"{self._path.name} has {len(self._samples)} images, {n} are asked for")
        return self._samples[np.random.default_rng(seed).permutation(len(self._samples))[:n]]

    @abstractmethod
    def _read(self, shape: tuple[int, int, int]) -> Images:
        """The samples as uint8 (n, C, H, W), each of `shape`."""


class FolderImages(_Samples):
    """Pictures below a folder: PNG, JPEG or WebP, recursive, ordered by path."""

    def _read(self, shape: tuple[int, int, int]) -> Images:
        return load_pictures(self._path, shape=shape, max_files=MAX_PICTURES)


class NpzImages(_Samples):
    """An npz file with `images` or `arr_0`, uint8, (n, C, H, W) or (n, H, W, C)."""

    def _read(self, shape: tuple[int, int, int]) -> Images:
        return read_npz_images(self._path, shape)


class StatisticsFile(MomentSource):
    """An npz file with `mu` (d,) and `sigma` (d, d), as published for Frechet distances."""

    path: ClassVar[str] = ""

    def __init__(self, *, path: str = "") -> None:
        self._path = located(self, path or self.path)

    def moments(self, encoder: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Mean and covariance in the space of the data set's default encoder, whichever that is."""
        arrays = load_npz(self._path, ["mu", "sigma"])
        return arrays["mu"], arrays["sigma"]


def read_npz_images(path: Path, shape: tuple[int, int, int]) -> Images:
    """`images` or `arr_0` of an npz file as uint8 (n, C, H, W); channels may also come last.

    `InvalidOutput` if it is not exactly that. What could be either is taken to have its channels first.
    """
    arrays = load_npz(path, [], optional=["images", "arr_0"])
    if len(arrays) != 1:
        raise InvalidOutput(
            f"{path.name} must have one of the arrays 'images' and 'arr_0'; it has {len(arrays)}"
        )
    (name, images), *_ = arrays.items()
    channels, height, width = shape
    if images.dtype == "uint8" and images.shape[1:] == shape:
        return images
    if images.dtype == "uint8" and images.shape[1:] == (height, width, channels):
        return images.transpose(0, 3, 1, 2)
    raise InvalidOutput(
        f"{path.name}[{name}]: expected uint8 (n, {channels}, {height}, {width}) or "
        f"(n, {height}, {width}, {channels}), got {images.dtype} {images.shape}"
    )


def located(adapter: object, path: str) -> Path:
    """`path`, or where it lies beside the file of the adapter's class."""
    if not path:
        raise InvalidOutput(f"{type(adapter).__name__} names no file; give it `path`")
    return Path(inspect.getfile(type(adapter))).parent / Path(path).expanduser()
