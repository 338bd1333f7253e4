"""Work on the real data that is the same for every generator: computed once, kept where the caller wants it."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Key = tuple[Hashable, ...]


class RealSideCache:
    """Arrays by key. The caller owns it, passes it to the metrics and decides how long it lives.

    Keys hold the fingerprints of the tables, so that one cache may serve any number of data sets and splits. A
    subclass may keep arrays elsewhere by overriding `load`.
    """

    def __init__(self) -> None:
        self._kept: dict[Key, Array] = {}

    def array(self, key: Key, shape: tuple[int, ...], compute: Callable[[], Array]) -> Array:
        """The float64 array of `shape` kept under `key`; the first time it is computed."""
        if key not in self._kept:
            self._kept[key] = self.load(key, shape, compute)
        return self._kept[key]

    def load(self, key: Key, shape: tuple[int, ...], compute: Callable[[], Array]) -> Array:
        """What `array` asks for the first time."""
        return np.asarray(compute(), dtype=np.float64).reshape(shape)
