"""`fashion`: Fashion-MNIST, 70,000 gray 28 x 28 images of clothes.

Found in the folder BENCH_FASHION, the mirror, the cache, the folder of the Debian package, or downloaded
(see `bench.datasets.cache`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets import cache
from bench.datasets.images import idx
from bench.datasets.images.dataset import ImageDataset, ImageSplit, verified

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SHA256 = "da95b2d58ec295e8dbc63bb6a479f06c52e6f93eb4b618b4d96a95e168c6c1e4"
CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
_URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
_DEBIAN = Path("/usr/share/datasets/fashion-mnist")


def _file(name: str, sha256: str, size: int) -> cache.RemoteFile:
    return cache.RemoteFile(
        name=name,
        group="fashion",
        url=f"{_URL}{name}.gz",
        sha256=sha256,
        size=size,
        remedy="apt install dataset-fashion-mnist",
    )


FILES = {
    "train-images": _file(
        "train-images-idx3-ubyte",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        47_040_016,
    ),
    "train-labels": _file(
        "train-labels-idx1-ubyte",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        60_008,
    ),
    "test-images": _file(
        "t10k-images-idx3-ubyte",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        7_840_016,
    ),
    "test-labels": _file(
        "t10k-labels-idx1-ubyte",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        10_008,
    ),
}


def locate() -> str | None:
    """None if all four files are in one of the folders searched (or may be downloaded), else why not."""
    absences = (cache.locate(file, explicit=_explicit(), system=(_DEBIAN,)) for file in FILES.values())
    return next((reason for reason in absences if reason is not None), None)


def load(folder: Path | None = None) -> ImageDataset:
    """Fit: the 60,000 training images in the order of `default_rng(0).permutation(60000)`; ref and hold:
    the halves of the 10,000 test images, in the order of `permutation(10000)` of the same generator.

    Tasks take a prefix of `fit`. Source: H. Xiao, K. Rasul and R. Vollgraf (2017), Fashion-MNIST.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    fit = _read("train", rng.permutation(60_000), folder)
    test_order = rng.permutation(10_000)
    ref = _read("test", test_order[:5_000], folder)
    hold = _read("test", test_order[5_000:], folder)
    dataset = ImageDataset(name="fashion", fit=fit, ref=ref, hold=hold, classes=CLASSES)
    return verified(dataset, SHA256)


def _explicit() -> Path | None:
    chosen = os.environ.get("BENCH_FASHION")
    return Path(chosen).expanduser() if chosen else None


def _read(part: str, rows: npt.NDArray[np.int64], folder: Path | None) -> ImageSplit:
    import numpy as np

    images = _array(f"{part}-images", 3, folder)[rows]
    labels = _array(f"{part}-labels", 1, folder)[rows]
    return ImageSplit(images[:, None], labels.astype(np.int64))


def _array(key: str, dimensions: int, folder: Path | None) -> npt.NDArray[np.uint8]:
    path = cache.fetch(FILES[key], explicit=folder or _explicit(), system=(_DEBIAN,))
    return idx.parse(path.read_bytes(), dimensions=dimensions, source=str(path))
