"""Adapters of the family `sae` for dense representations of texts, layer by layer; for `sae.target_linearity`.

Its card needs the tag "representation" and `only_tasks = ["sae.target_linearity"]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.spec import Adapter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Representation(Adapter):
    """Turns texts into vectors, one for each text and layer."""

    #: Names a representation that the bench has, which is then used instead of `represent`.
    representation: str | None = None

    def layers(self) -> Sequence[str]:
        """Names of the layers, the first one nearest to the input."""
        return ("output",)

    def represent(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """float32 (n, d) of `texts` for each of `layers()`; each text for itself."""
        # Not abstract: a representation that only names one of the bench needs no method.
        raise NotImplementedError(f"{type(self).__name__} represents nothing and names no representation")
