"""How molecules are docked. Every field goes into the key of a score, so a change never meets an old number."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Role = Literal["eval", "guide"]
GUIDE_SEED_STEP = 1_000_003  # seeds of the oracle that a model may ask lie far from those of the evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class DockSettings:
    """The protocol of one docking score: the minimum over start conformers of the best of `n_poses` poses."""

    exhaustiveness: int = 4  # independent Monte Carlo runs
    max_evals: int = 50_000  # evaluations of each run
    n_poses: int = 9  # the score depends on it
    conformers: int = 2  # start conformers of a molecule without flexible rings
    flexible: int = 4  # of one with them: rings stay rigid while docking
    embeddings: int = 12  # out of which the conformers are chosen
    isomers: int = 1  # of unspecified stereo centers, tried on the on-target
    edge: float = 22.5  # Å, of the cubic box; a long ligand gets the receptor's own box
    spacing: float = 0.375  # Å, of the grid
    seed: int = 1  # of docking
    embed_seed: int = 7
    role: Role = "eval"

    def as_key(self) -> dict[str, Any]:
        """JSON-ready fields."""
        return asdict(self)

    def reseeded(self, step: int) -> DockSettings:
        """The same protocol on other random numbers: to measure its noise, or after a fault."""
        return replace(self, seed=self.seed + step, embed_seed=self.embed_seed + step)

    def guiding(self) -> DockSettings:
        """What a model's oracle uses: one conformer of a molecule, and random numbers of its own."""
        guide = self.reseeded(GUIDE_SEED_STEP)
        return replace(guide, role="guide", conformers=1, flexible=1, isomers=1)


#: smoke is for tests of the machinery only; quick is what size small can pay for.
SETTINGS: dict[str, DockSettings] = {
    "smoke": DockSettings(exhaustiveness=1, max_evals=2_000, conformers=1, flexible=1, embeddings=2),
    "quick": DockSettings(exhaustiveness=2, max_evals=25_000, conformers=1, flexible=2, embeddings=4),
    "fast": DockSettings(),
    "standard": DockSettings(conformers=4, flexible=8, embeddings=24, isomers=4),
}
