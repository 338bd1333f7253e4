"""Loaders of the worlds, one function per data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.datasets.sae.recipes import RECIPES
from bench.datasets.sae.toy2 import TOYS, Toy2
from bench.datasets.sae.world import Recipe


def _loader(value: Any) -> Callable[[], Any]:
    return lambda: value


def __getattr__(name: str) -> Callable[[], Recipe | Toy2]:
    """`loading.pairs_95()`: the recipe of the world "pairs-95"; `loading.toy2_q10()`: a two-concept world."""
    key = name.replace("_", "-")
    if key in RECIPES:
        return _loader(RECIPES[key])
    if key in TOYS:
        return _loader(TOYS[key])
    raise AttributeError(f"there is no world {key!r}")
