"""What every engine is asked and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from bench.datasets.selectbench.receptors import Receptor
from bench.tasks.selectbench.settings import DockSettings

#: Whose fault a missing score is: the molecule's (counts against the model) or the engine's (retried).
Fault = Literal["", "ligand", "engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One molecule on one target. `value` in kcal/mol, lower is stronger; None with `error` on failure."""

    value: float | None
    conformers: tuple[float, ...] = ()  # the score from each start conformer
    cpu_s: float = 0.0
    flags: tuple[str, ...] = ()
    error: str = ""
    fault: Fault = ""
    pose: str = ""  # of the best conformer, as the engine writes it; not kept in caches


class Engine(Protocol):
    """Scores molecules; an instance lives in one worker process and may keep what is costly to make."""

    name: str
    version: str

    def score(self, smiles: str, receptor: Receptor, settings: DockSettings) -> Score:
        """The score of a standardised SMILES. Deterministic in its arguments alone."""
