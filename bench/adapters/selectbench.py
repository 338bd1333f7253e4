"""Adapters of the family `selectbench`: a generator that gets a pocket and returns molecules for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from bench.spec import Adapter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rdkit import Chem

Triple = tuple[float, float, float]


class OracleBudgetError(Exception):
    """A model asked for more docking scores than the unit allows; what it has is all it gets."""


class Oracle(Protocol):
    """Docking scores for a model to search with. Its random numbers are not those of the evaluation."""

    @property
    def calls_left(self) -> int:
        """How many (molecule, target) pairs may still be asked for."""

    def score(self, smiles: Sequence[str], targets: Sequence[str]) -> npt.NDArray[np.float64]:
        """Scores float64 (n, t) in kcal/mol, lower is stronger; NaN for what cannot be docked.

        Every pair counts as a call, asked before or not. `OracleBudgetError`, before anything is docked, if
        there are not that many left.
        """

    def dock(self, smiles: Sequence[str], target: str) -> list[Chem.Mol | None]:
        """The best pose of each molecule in the pocket of `target`, with hydrogens; counts as `score`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pocket:
    """Where to bind. Coordinates in Å, in the frame of the receptor files."""

    target_id: str  # e.g. "JAK2"
    receptor_pdbqt: Path  # rigid, with polar hydrogens
    receptor_pdb: Path  # the same atoms with the element column
    center: Triple
    size: Triple  # edges of the box
    uniprot: str
    family: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRequest:
    """One assignment: molecules that bind `on` and not `off`."""

    task: str
    case: str
    on: Pocket
    off: tuple[Pocket, ...]  # empty for models of the blind track
    n: int  # molecules wanted; what is missing counts as invalid, what is more is not read
    seed: int
    device: str  # "cpu", "cuda:0"
    oracle_calls: int  # docking scores the model may ask for; 0: none
    drugs: tuple[str, ...]  # SMILES of approved drugs, to learn from
    ligands: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # literature ligands, see `sees_ligands`
    cache_dir: Path = Path()  # kept between jobs, for weights that take long to make


@dataclass(slots=True, kw_only=True)
class Design:
    """One molecule: a SMILES, or a conformer in the frame of the on-target's receptor, or both."""

    smiles: str | None = None
    mol3d: Chem.Mol | None = None
    model_score: float | None = None  # the model's own confidence on any scale, high is good


class MoleculeGenerator(Adapter):
    """Makes molecules for a pocket. The bench calls `setup`, then `generate` for each assignment, then `close`.

    `self.info` is set before `setup` is called. Molecules are scored by the bench, never by the model.
    """

    #: Whether `generate` is shown the off-targets.
    track: ClassVar[Literal["blind", "informed"]] = "blind"
    #: "3d" models hand in poses, which are judged, too.
    output: ClassVar[Literal["2d", "3d"]] = "2d"
    #: Controls that are shown the literature ligands of the case; they are marked as such.
    sees_ligands: ClassVar[bool] = False
    #: Whether the model asks for docking scores while it searches.
    asks_oracle: ClassVar[bool] = False

    @abstractmethod
    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """At most `request.n` designs. Same seed, same designs. `oracle` is None if `asks_oracle` is False."""
