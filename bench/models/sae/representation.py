"""A representation that the bench has, as something whose linearity is measured."""

from __future__ import annotations

from bench.adapters.sae_representations import Representation


class NamedRepresentation(Representation):
    """The representation called `representation`."""

    def __init__(self, *, representation: str) -> None:
        self.representation = representation
