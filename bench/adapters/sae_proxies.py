"""Adapters of the family `sae` for what stands in for polysemanticity where concepts are not known: proxies.

Takes part in `sae.proxy_audit` only; its card needs the tag "proxy" and `only_tasks = ["sae.proxy_audit"]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bench.spec import Adapter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyCase:
    """One coder as a proxy sees it: codes of n rows, atoms, encoder, and what is known of the rows."""

    codes: Any  # scipy.sparse.csr_matrix, float (n, m)
    decoder: npt.NDArray[np.float64]  # (m, d)
    encoder: npt.NDArray[np.float64]  # (d, m)
    rows: npt.NDArray[np.float64]  # (n, d), scaled
    labels: npt.NDArray[np.int64]  # (n,): the strongest concept of each row, which stands for its token
    embeddings: npt.NDArray[np.float64]  # (n, e): an independent view of the rows


class Proxy(Adapter):
    """A number for each latent that is meant to rise, or fall, with polysemanticity."""

    #: Names a proxy that the bench has, which is then used instead of `measure`.
    proxy: str | None = None
    #: 1: more polysemantic latents have higher values; -1: lower ones.
    direction: ClassVar[Literal[1, -1]] = 1

    def measure(self, case: ProxyCase) -> npt.NDArray[np.float64]:
        """Return float (m,), NaN where a latent has no value. Same case, same values."""
        # Not abstract: a proxy that only names one of the bench needs no method.
        raise NotImplementedError(f"{type(self).__name__} measures nothing and names no proxy")
