"""The type every table is loaded into, and its identity.

Nothing heavy is imported here: cards are read while listing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from bench.datasets.tabular.schema import Kind, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Where a table comes from and what may be done with it. `sha256` is that of `content_sha256`."""

    name: str
    title: str
    summary: str
    source: str  # an address, or the file and the package that carries it
    licence: str
    citation: str
    rows: int
    columns: int
    target: str
    sha256: str = ""  # "": not fixed here, the loader checks against the publisher's checksum
    data: Literal["real", "generated", "subset"] = "real"
    url: str = ""
    notes: str = ""
    requires: tuple[str, ...] = ()  # importable modules


class Dag(NamedTuple):
    """A directed acyclic graph: `nodes` in file order and the parents of each."""

    nodes: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(parent, child) in the order of children."""
        return [(parent, node) for node in self.nodes for parent in self.parents[node]]

    def order(self) -> list[str]:
        """A topological order: scan the nodes in file order again and again, taking those whose parents are in."""
        placed: dict[str, None] = {}
        while len(placed) < len(self.nodes):
            before = len(placed)
            for node in self.nodes:
                if node not in placed and all(parent in placed for parent in self.parents[node]):
                    placed[node] = None
            if len(placed) == before:
                left = [node for node in self.nodes if node not in placed]
                raise ValueError(f"the graph has a cycle, or parents that are not there, among {left}")
        return list(placed)


class Cpt(NamedTuple):
    """P(node | parents): `table` (|pa 1|, ..., |pa k|, |node|) with levels in the order of `states`."""

    node: str
    parents: tuple[str, ...]
    table: npt.NDArray[np.float64]


class Truth(Protocol):
    """What is known about data that were generated."""

    @property
    def dag(self) -> Dag:
        """The graph the data were drawn from."""

    def sample(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """`n` rows."""

    def residuals(self, df: pd.DataFrame) -> pd.DataFrame:
        """Noise that explains each value given its parents, scaled to variance 1 under the truth.

        NaN where a value or a parent of it is missing or impossible.
        """

    def noise_cdf(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Distribution function of the residuals under the truth."""

    def cpt(self, node: str) -> Cpt | None:
        """The probability table of a discrete node with discrete parents, else None."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TabularDataset:
    """A table, its schema and card; `truth` if the data were generated. Treat `frame` as read-only."""

    frame: pd.DataFrame
    schema: TableSchema
    card: Card
    truth: Truth | None = None

    @property
    def name(self) -> str:
        """The name of the card."""
        return self.card.name


def make_dataset(
    card: Card,
    frame: pd.DataFrame,
    *,
    kinds: Mapping[Hashable, Kind] | None = None,
    truth: Truth | None = None,
) -> TabularDataset:
    """The data set of `frame`, its schema inferred with the given `kinds`; checked against the card."""
    from bench.datasets.tabular.schema import TableSchema

    target: Any = card.target
    frame = frame.reset_index(drop=True)
    schema = TableSchema.infer(frame, target, kinds=kinds)
    return verified(TabularDataset(frame=frame, schema=schema, card=card, truth=truth))


def content_sha256(dataset: TabularDataset) -> str:
    """SHA-256 over the schema and all values as the canonical encoder reads them: the identity of a table.

    Generated numbers count to six decimals, because the last bits of exp and tanh differ between processors.
    """
    from bench.datasets.tabular.codec import TableCodec

    encoded = TableCodec(dataset.schema).encode(dataset.frame)
    numbers = encoded.numbers.round(6) if dataset.card.data == "generated" else encoded.numbers
    digest = hashlib.sha256(dataset.schema.to_json().encode())
    digest.update(f"{encoded.numbers.shape}{encoded.codes.shape}".encode())
    digest.update((numbers + 0.0).astype("<f8").tobytes())  # -0.0 is 0.0
    digest.update(encoded.codes.astype("<i4").tobytes())
    return digest.hexdigest()


def verified(dataset: TabularDataset) -> TabularDataset:
    """Return `dataset` if its content is the one its card promises."""
    card = dataset.card
    shape = (card.rows, card.columns)
    if dataset.frame.shape != shape:
        raise MissingRequirement(f"data set {card.name!r} has shape {dataset.frame.shape}, expected {shape}")
    found = content_sha256(dataset) if card.sha256 else ""
    if found != card.sha256:
        raise MissingRequirement(
            f"data set {card.name!r} has content {found}, expected {card.sha256}: the copy of "
            f"{card.source} is another version or damaged; install it again"
        )
    return dataset
