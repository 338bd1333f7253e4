"""Work on the real data that is the same for every generator: computed once, kept where the caller wants it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

Value = TypeVar("Value")


class RealSideCache:
    """Results by key. The caller owns it, passes it to the metrics and decides how long it lives.

    Keys hold the fingerprints of the tables, so that one cache may serve any number of data sets and splits.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, object] = {}

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value kept under `key`; the first time it is computed."""
        if key not in self._kept:
            self._kept[key] = compute()
        return cast(Value, self._kept[key])
