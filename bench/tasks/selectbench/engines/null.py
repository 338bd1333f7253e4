"""Random scores in place of docking: what a benchmark shows when there is nothing to see. For tests only."""

from __future__ import annotations

import hashlib

import numpy as np

from bench.datasets.selectbench.receptors import Receptor
from bench.tasks.selectbench.engines.base import Score
from bench.tasks.selectbench.settings import DockSettings

_MEAN, _SD, _SLOPE = (
    -5.0,
    0.8,
    -0.1,
)  # kcal/mol; kcal/mol a character of the SMILES, as size pays in docking too


class NullEngine:
    """A normal deviate that is fixed by seed, molecule, target and docking seed."""

    name = "null"

    def __init__(self, seed: int = 0) -> None:
        self.version = f"1-{seed}"

    def score(self, smiles: str, receptor: Receptor, settings: DockSettings) -> Score:
        """Depends on its arguments alone, as a real engine's does."""
        text = f"{self.version}|{smiles}|{receptor.target}|{settings.seed}"
        bits = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        heavy = sum(c.isalpha() for c in smiles)
        value = _MEAN + _SLOPE * heavy + _SD * float(np.random.default_rng(bits).standard_normal())
        return Score(value=value, conformers=(value,))
