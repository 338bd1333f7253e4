"""Drug-likeness of a molecule: QED, synthetic accessibility, PAINS alerts, and the gate made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rdkit import Chem
from rdkit.Chem import QED, FilterCatalog
from rdkit.Contrib.SA_Score import sascorer

MIN_QED, MAX_SA = 0.35, 5.0
MIN_HEAVY, MAX_HEAVY = 15, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """Of one molecule. `qed` in 0..1, high is good; `sa` in 1..10, low is easy to make."""

    heavy_atoms: int
    qed: float
    sa: float
    alerts: tuple[str, ...]  # PAINS filters that it trips

    @property
    def passes_gate(self) -> bool:
        """QED at least 0.35, SA at most 5, no PAINS alert, 15 to 50 heavy atoms."""
        return (
            self.qed >= MIN_QED
            and self.sa <= MAX_SA
            and not self.alerts
            and MIN_HEAVY <= self.heavy_atoms <= MAX_HEAVY
        )


@lru_cache(maxsize=100_000)
def properties(smiles: str) -> Properties:
    """Properties of a SMILES that RDKit can read; `ValueError` if it can't."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError(f"RDKit can't read {smiles!r}")
    return Properties(
        heavy_atoms=mol.GetNumHeavyAtoms(),
        qed=float(QED.qed(mol)),  # type: ignore[no-untyped-call]
        sa=float(sascorer.calculateScore(mol)),
        alerts=tuple(entry.GetDescription() for entry in _pains().GetMatches(mol)),
    )


@lru_cache(maxsize=1)
def _pains() -> Any:
    options = FilterCatalog.FilterCatalogParams()
    options.AddCatalog(FilterCatalog.FilterCatalogParams.FilterCatalogs.PAINS)
    return FilterCatalog.FilterCatalog(options)
