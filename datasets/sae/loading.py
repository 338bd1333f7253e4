"""Loaders of the worlds and hooks, one function per data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.datasets.sae import packages, texts
from bench.datasets.sae.hooks import HOOKS, Hook
from bench.datasets.sae.recipes import RECIPES
from bench.datasets.sae.toy2 import TOYS, Toy2
from bench.datasets.sae.world import Recipe


def probe_texts() -> tuple[str, ...]:
    """The sets of labelled texts, by name."""
    return texts.PROBES


def locate_probe_texts() -> str | None:
    """None if the texts can be had, else the reason and the remedy."""
    return packages.PROBES.absence()


def _loader(value: Any) -> Callable[[], Any]:
    return lambda: value


def __getattr__(name: str) -> Callable[[], Recipe | Toy2 | Hook | str | None]:
    """`loading.pairs_95()`: the recipe of the world "pairs-95"; `loading.locate_minilm_l3()`: why it is not here."""
    key = name.replace("_", "-")
    for table in (RECIPES, TOYS, HOOKS):
        if key in table:
            return _loader(table[key])
    if (hook := HOOKS.get(key.removeprefix("locate-"))) is not None:
        return hook.absence
    raise AttributeError(f"there is no world or hook {key!r}")
