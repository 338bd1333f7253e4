"""Work on the real rows that outlives a job: what models trained on them score is computed once a unit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import sklearn

from bench.metrics.tabular.cache import Array, Key, RealSideCache
from bench.tasks.caching import cached_array

_FORMAT = "2"  # raised when the arrays mean something else


class StoredCache(RealSideCache):
    """Keeps arrays as files in `folder`.

    They are named by a hash of the key, which holds the fingerprints of the tables, and of the versions of the
    packages whose models they come from.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder / "tabular"

    def load(self, key: Key, shape: tuple[int, ...], compute: Callable[[], Array]) -> Array:
        """The array in the key's file, or what `compute` returns, which is then kept."""
        made_with = _FORMAT, np.__version__, scipy.__version__, sklearn.__version__
        name = hashlib.sha256(repr((made_with, key, shape)).encode()).hexdigest()[:32]
        return cached_array(
            self._folder / f"{name}.npy",
            lambda: super(StoredCache, self).load(key, shape, compute),
            fits=lambda a: a.dtype == np.float64 and a.shape == shape,
        )
