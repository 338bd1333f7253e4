"""`cifar10`: 60,000 colour images, 32 x 32, of ten classes.

The archive of the authors is found in the folder BENCH_CIFAR10, the mirror or the cache, or downloaded (see
`bench.datasets.cache`). It is checked by the published MD5 of each file in it, so that it may have been compressed
anew, and by the SHA-256 that the cache records the first time.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import pickle
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.datasets import cache
from bench.datasets.images.dataset import ImageDataset, ImageSplit
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FILE = cache.RemoteFile(
    name="cifar-10-python.tar",
    group="cifar10",
    url="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    sha256="",
    size=200_000_000,
)
TRAIN = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
}
TEST = {"test_batch": "40351d587109b95175f43aff81a1287e"}
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
# Of the names and checksums above: with the way they are divided, below, they fix the content.
SHA256 = "9188a832b2668b095d1bcaf53b5ca1f0c7a914b73c1a61f27e080b71b463d8c7"
_FOLDER = "cifar-10-batches-py"
_SHAPE = (3, 32, 32)


def locate() -> str | None:
    """None if the archive is in one of the folders searched (or may be downloaded), else why not."""
    return cache.locate(FILE, explicit=_explicit())


def load(folder: Path | None = None) -> ImageDataset:
    """Fit: the 50,000 training images in the order of `default_rng(0).permutation`; ref and hold: the halves of
    the 10,000 test images, in the order of a permutation by the same generator.

    Source: A. Krizhevsky (2009), Learning multiple layers of features from tiny images.
    """
    import numpy as np

    path = cache.fetch(FILE, explicit=folder or _explicit())
    rng = np.random.default_rng(0)
    train, test = (_read(path, batches) for batches in (TRAIN, TEST))
    fit_order, test_order = rng.permutation(len(train[1])), rng.permutation(len(test[1]))
    half = len(test_order) // 2
    return ImageDataset(
        name="cifar10",
        fit=ImageSplit(train[0][fit_order], train[1][fit_order]),
        ref=ImageSplit(test[0][test_order[:half]], test[1][test_order[:half]]),
        hold=ImageSplit(test[0][test_order[half:]], test[1][test_order[half:]]),
        classes=CLASSES,
    )


def _explicit() -> Path | None:
    chosen = os.environ.get("BENCH_CIFAR10")
    return Path(chosen).expanduser() if chosen else None


def _read(path: Path, batches: dict[str, str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Images uint8 (n, 3, 32, 32) and labels int64 (n,) of the named files in the archive, in order."""
    import numpy as np

    images, labels = [], []
    try:
        with tarfile.open(path, "r:") as archive:
            for name, md5 in batches.items():
                content = _member(archive, f"{_FOLDER}/{name}", md5, path)
                batch = _Arrays(io.BytesIO(content), encoding="bytes").load()
                images.append(np.asarray(batch[b"data"], dtype=np.uint8).reshape(-1, *_SHAPE))
                labels.append(np.asarray(batch[b"labels"], dtype=np.int64))
    except tarfile.TarError as error:
        raise MissingRequirement(f"{path} is no tar archive: {error}; replace it") from error
    return np.concatenate(images), np.concatenate(labels)


def _member(archive: tarfile.TarFile, name: str, md5: str, path: Path) -> bytes:
    """The content of a file in the archive, nothing of which is written to disk."""
    try:
        stream = archive.extractfile(name)
    except KeyError:
        stream = None
    if stream is None:
        raise MissingRequirement(f"{path} has no file {name}; replace it")
    content = stream.read()
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != md5:
        raise MissingRequirement(f"{path}: {name} has MD5 {found}, expected {md5}; replace the archive")
    return content


class _Arrays(pickle.Unpickler):
    """The files are pickles; of all that a pickle may name, this reads arrays only."""

    _ALLOWED = frozenset({"_reconstruct", "ndarray", "dtype"})

    def find_class(self, module: str, name: str) -> Any:
        """NumPy's constructors, and bytes as Python 3 writes them; anything else is refused."""
        if (module, name) == ("_codecs", "encode"):
            return _latin1
        if module.split(".")[0] != "numpy" or name not in self._ALLOWED:
            raise MissingRequirement(f"the archive names {module}.{name}, which an image file does not need")
        home = "numpy._core.multiarray" if name == "_reconstruct" else "numpy"
        return getattr(importlib.import_module(home), name)


def _latin1(text: str, encoding: str) -> bytes:
    return text.encode("latin-1")
