"""An encoder that the bench has, as something that takes part in the audit of metrics."""

from __future__ import annotations

from bench.adapters.images import ImageEncoder


class NamedEncoder(ImageEncoder):
    """The encoder called `encoder`; "default" is the one that the data set's fidelity is measured with."""

    def __init__(self, *, encoder: str = "default") -> None:
        self.encoder = encoder
