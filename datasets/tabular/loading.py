"""All tables by name: `load("penguins")`.

The catalogue names one entry a data set, `bench.datasets.tabular.loading:penguins`, and for its presence
`...:locate_penguins`; both are made on demand here instead of being written out seventy times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.datasets.tabular import embedded, generated, openml, wheels
from bench.datasets.tabular.cards import CARDS
from bench.datasets.tabular.dataset import Card, TabularDataset
from bench.datasets.tabular.files import Recipe
from bench.errors import UsageError

_LOCATE = "locate_"


def names() -> tuple[str, ...]:
    """Names of all tables."""
    return (*CARDS, *openml.TABLES)


def card(name: str) -> Card:
    """The card of the table `name`."""
    if name not in names():
        raise UsageError(f"no table {name!r}; there are {', '.join(names())}")
    return CARDS[name] if name in CARDS else openml.card(name)


def load(name: str) -> TabularDataset:
    """The table `name`, verified; `MissingRequirement`, with a remedy, if it cannot be had."""
    about = card(name)
    if name in openml.TABLES:
        return openml.load(name)
    if name in generated.NAMES:
        return generated.load(about)
    return _recipe(name).load(about)


def absence(name: str) -> str | None:
    """None if `load` has somewhere to take the table from, else the reason and the remedy."""
    card(name)
    if name in openml.TABLES:
        return openml.absence(name)
    return generated.absence(name) if name in generated.NAMES else _recipe(name).absence()


def _recipe(name: str) -> Recipe:
    return embedded.RECIPES[name] if name in embedded.RECIPES else wheels.RECIPES[name]


def __getattr__(attribute: str) -> Callable[[], Any]:
    wanted = attribute.removeprefix(_LOCATE)
    if wanted not in names():
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    return partial(absence if attribute.startswith(_LOCATE) else load, wanted)
