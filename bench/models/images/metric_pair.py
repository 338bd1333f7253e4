"""A pair of metrics that the bench has, as something that takes part in the checks of metrics."""

from __future__ import annotations

from bench.adapters.images import MetricPair


class NamedPair(MetricPair):
    """The pair called `pair`."""

    def __init__(self, *, pair: str) -> None:
        self.pair = pair
