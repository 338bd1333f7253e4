"""Reader of the BIF format: discrete Bayesian networks as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bench.datasets.tabular.dataset import Cpt
from bench.errors import MissingRequirement

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|,)|(?P<mark>[{}()\[\];|])|"(?P<quoted>[^"]*)"|(?P<word>[^\s{}()\[\];|,"]+)""",
    re.DOTALL,
)
_ROUNDING = 0.02  # rows of published tables are rounded to two or three decimals


class BifNetwork(NamedTuple):
    """States of each variable in file order, and one table a variable."""

    states: dict[str, tuple[str, ...]]
    tables: dict[str, Cpt]


def parse_bif(text: str, source: str) -> BifNetwork:
    """The network in `text`; rows are scaled to sum to 1. `source` names the file in errors.

    `MissingRequirement` if the text is no complete BIF network or a row is off by more than rounding.
    """
    reader = _Reader(text, source)
    try:
        return reader.network()
    except (StopIteration, ValueError, KeyError, IndexError) as error:
        raise MissingRequirement(f"{source}: not a complete BIF network ({error!r})") from error


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self._tokens = _tokens(text)
        self._source = source
        self.states: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, Cpt] = {}

    def network(self) -> BifNetwork:
        for token in self._tokens:
            if token == "variable":
                self._variable()
            elif token == "probability":
                self._probability()
            elif token == "network":
                self._until("{")
                self._until("}")
            else:
                raise ValueError(f"unexpected {token!r}")
        lacking = [name for name in self.states if name not in self.tables]
        if lacking or not self.states:
            raise ValueError(f"no probabilities for {lacking or 'any variable'}")
        return BifNetwork(self.states, {name: self.tables[name] for name in self.states})

    def _until(self, mark: str) -> list[str]:
        found = []
        while (token := next(self._tokens)) != mark:
            found.append(token)
        return found

    def _variable(self) -> None:
        (name,) = self._until("{")
        while (token := next(self._tokens)) != "}":
            statement = self._until(";")
            if token == "type":
                # discrete [ n ] { a b c }
                levels = tuple(statement[statement.index("{") + 1 : -1])
                if statement[0] != "discrete" or len(levels) != int(statement[2]):
                    raise ValueError(f"{name}: {statement[:3]} with states {levels}")
                self.states[name] = levels

    def _probability(self) -> None:
        next(self._tokens)  # (
        names = [token for token in self._until(")") if token != "|"]
        node, parents = names[0], tuple(names[1:])
        shape = [len(self.states[name]) for name in (*parents, node)]
        table = np.full(shape, np.nan)
        self._until("{")
        while (token := next(self._tokens)) != "}":
            if token == "(":
                where = tuple(self._code(p, s) for p, s in zip(parents, self._until(")"), strict=True))
                table[where] = [float(value) for value in self._until(";")]
            elif token == "table":
                table = _moved(np.array([float(value) for value in self._until(";")]), shape)
            elif token == "default":
                row = np.array([float(value) for value in self._until(";")])
                table = np.where(np.isnan(table), row, table)
            else:
                self._until(";")  # a property
        self.tables[node] = Cpt(node, parents, self._scaled(node, table))

    def _code(self, name: str, state: str) -> int:
        return self.states[name].index(state)

    def _scaled(self, node: str, table: np.ndarray) -> np.ndarray:
        sums = table.sum(axis=-1, keepdims=True)
        if not (np.abs(sums - 1) <= _ROUNDING).all() or (table < 0).any():
            raise ValueError(f"probabilities of {node} are incomplete or do not sum to 1")
        return np.asarray(table / sums)


def _moved(values: np.ndarray, shape: list[int]) -> np.ndarray:
    """A flat `table` lists the node's states slowest; the node comes last here."""
    return np.moveaxis(values.reshape([shape[-1], *shape[:-1]]), 0, -1)


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position : position + 20]!r}")
        position = match.end()
        if match.lastgroup != "skip":
            yield match.group(match.lastgroup or 0)
