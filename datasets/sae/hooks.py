"""Where activations are taken: a model, a place in it, and the tokens that stand for no text."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

from bench.datasets.sae import packages

LENGTH = 128  # tokens of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """The activations `model`/L`layer`. The model is loaded on first use, once per process."""

    name: str
    model: Literal["smollm2", "minilm"]
    layer: int
    dim: int

    def sha256(self) -> str:
        """Identity: of model file, place and texts."""
        parts = {
            "format": 1,
            "texts": packages.PROBES.sha256,
            "model": self._package().sha256,
            **asdict(self),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def absence(self) -> str | None:
        """None if model and texts can be had, else the reason and the remedy."""
        return self._package().absence() or packages.PROBES.absence()

    def load(self) -> Any:
        """The model: `SmolLM2` or `MiniLM`."""
        return _load(self.model)

    @property
    def first_token(self) -> int | None:
        """What every row starts with, if anything."""
        return int(self.load().tokenizer.start) if self.model == "minilm" else None

    @property
    def separator(self) -> int:
        """The token between documents packed into one row."""
        return int(self.load().tokenizer.end) if self.model == "minilm" else 0

    def _package(self) -> packages.Package:
        return packages.SMOLLM2 if self.model == "smollm2" else packages.MINILM


@lru_cache(maxsize=2)
def _load(model: str) -> Any:
    if model == "smollm2":
        from bench.datasets.sae.smollm2 import SmolLM2

        return SmolLM2()
    from bench.datasets.sae.minilm import MiniLM

    return MiniLM()


HOOKS: dict[str, Hook] = {
    hook.name: hook
    for hook in (
        Hook(name="minilm-l3", model="minilm", layer=3, dim=384),
        Hook(name="smollm2-l9", model="smollm2", layer=9, dim=576),
    )
}
