"""Measured affinities in place of docking: checks the pipeline and the metrics from end to end. For tests only."""

from __future__ import annotations

from functools import lru_cache

from rdkit import Chem

from bench.datasets.selectbench.ligands import preferences
from bench.datasets.selectbench.receptors import Receptor
from bench.tasks.selectbench.engines.base import Score
from bench.tasks.selectbench.settings import DockSettings

PER_DECADE = 1.3642  # kcal/mol, RT ln 10 at 298.15 K
_MIDDLE, _CLEAR = (
    7.0,
    3.0,
)  # -log10 K in the middle of a known difference; decades where only the direction is known


class TruthEngine:
    """-1.3642 times the measured pK of a literature ligand; no score for any other molecule."""

    name = "truth"
    version = "1"

    def score(self, smiles: str, receptor: Receptor, settings: DockSettings) -> Score:
        """The measured value whatever `settings` say; stereo that the table does not state is not compared."""
        value = affinities().get((_skeleton(smiles), receptor.target))
        if value is None:
            return Score(value=None, error="truth: nothing is known of this molecule here", fault="ligand")
        return Score(value=-PER_DECADE * value, conformers=(-PER_DECADE * value,))


@lru_cache(maxsize=1)
def affinities() -> dict[tuple[str, str], float]:
    """(connectivity of the molecule, target) -> pK."""
    found: dict[tuple[str, str], float] = {}
    for row in preferences():
        half = (row.sign * _CLEAR if row.delta is None else row.delta) / 2
        p_on = _MIDDLE + half if row.p_on is None else row.p_on
        p_off = _MIDDLE - half if row.p_off is None else row.p_off
        found[_skeleton(row.smiles), row.on] = p_on
        found[_skeleton(row.smiles), row.off] = p_off
    return found


@lru_cache(maxsize=1_000)
def _skeleton(smiles: str) -> str:
    return str(Chem.MolToInchiKey(Chem.MolFromSmiles(smiles)))[:14]  # type: ignore[no-untyped-call]
