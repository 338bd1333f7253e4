"""`digits`: 1,797 gray 8 x 8 images, shipped with scikit-learn; always present.

The origin has 17 gray levels, 0..16. They are stored as round(level * 255 / 16), so that images span the
full range as models expect; the `pixels` encoder (value / 255) then equals level / 16 to within 1/510.
"""

from __future__ import annotations

from bench.datasets import packaged
from bench.datasets.images.dataset import ImageDataset, ImageSplit, verified

SHA256 = "15278d7b7dc9af8d6ca93d6f1805baa5283af24c87c2ed8f1796b7440bc29cc7"
_FILE = ("sklearn", "datasets/data/digits.csv.gz", "scikit-learn")
_SPLIT = 598  # three times; the last 3 images of the permutation are left out


def locate() -> str | None:
    """None if the data are here, else the reason and the remedy."""
    return packaged.absence(*_FILE)


def load() -> ImageDataset:
    """598 images for each of fit, ref and hold, in the order of `default_rng(0).permutation(1797)`.

    Source: E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, UCI (test part).
    """
    import numpy as np

    table = np.loadtxt(packaged.path(*_FILE), delimiter=",", dtype=np.uint8)
    table = table[np.random.default_rng(0).permutation(len(table))]
    images = np.rint(table[:, :64] * (255 / 16)).astype(np.uint8).reshape(-1, 1, 8, 8)
    labels = table[:, 64].astype(np.int64)
    roles = [
        ImageSplit(images[start : start + _SPLIT].copy(), labels[start : start + _SPLIT].copy())
        for start in (0, _SPLIT, 2 * _SPLIT)
    ]
    dataset = ImageDataset(
        name="digits",
        fit=roles[0],
        ref=roles[1],
        hold=roles[2],
        classes=tuple("0123456789"),
    )
    return verified(dataset, SHA256)
