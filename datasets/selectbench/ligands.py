"""Ligands of known preference from the literature, and drugs of known target."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from bench.datasets.selectbench.targets import CLASS_OF

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What is known of one ligand on two targets.

    `delta` is log10(affinity for on / affinity for off), positive if it prefers `on`; None where only the
    direction is known, which then is a difference of more than tenfold. `p_on` and `p_off` are -log10 of the
    dissociation constants in mol/l where those were measured (5 stands for "weaker than 10 µM"), else None.
    """

    case: str
    ligand: str
    smiles: str
    on: str
    off: str
    prefers: str  # the target
    delta: float | None
    p_on: float | None
    p_off: float | None
    source: str

    @property
    def is_clear(self) -> bool:
        """Whether the affinities differ at least tenfold."""
        return self.delta is None or abs(self.delta) >= 1.0

    @property
    def sign(self) -> int:
        """1 if `on` is preferred, -1 if `off`."""
        return 1 if self.prefers == self.on else -1


def preferences(case: str = "") -> list[Preference]:
    """The table, or its rows of one case."""
    with (_DATA / "preferences.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            Preference(**{**row, **{name: _number(row[name]) for name in ("delta", "p_on", "p_off")}})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]
    return [row for row in rows if case in ("", row.case)]


def _number(text: str) -> float | None:
    return float(text) if text else None


def ligands_of(target: str) -> dict[str, str]:
    """Name -> SMILES of literature ligands of `target`, those that prefer it in a case first."""
    found = {row.ligand: row.smiles for row in preferences() if row.prefers == target}
    with (_DATA / "ligands.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["target"] == target:
                found.setdefault(row["ligand"], row["smiles"])
    return found


def library() -> list[tuple[str, str]]:
    """(name, SMILES) of the 64 reference drugs; every prefix covers the five bands of size evenly."""
    with (_DATA / "library.csv").open(encoding="utf-8", newline="") as file:
        return [(row["name"], row["smiles"]) for row in csv.DictReader(file)]


def clear_preferences(targets: tuple[str, ...]) -> list[Preference]:
    """What is known of ligands on any two of `targets`.

    The rows of the cases, and for every drug with one known target that it prefers it to each target of another
    class: selectivity within a class is claimed only where it was measured.
    """
    found = {
        (row.ligand, row.on, row.off): row
        for row in preferences()
        if row.on in targets and row.off in targets
    }
    for own in targets:
        for ligand, smiles in single_target_drugs(own).items():
            for other in targets:
                if other != own and CLASS_OF[other] != CLASS_OF[own]:
                    found.setdefault(
                        (ligand, own, other),
                        Preference(
                            case="", ligand=ligand, smiles=smiles, on=own, off=other, prefers=own, delta=None,
                            p_on=None, p_off=None, source="drug of this target",
                        ),
                    )  # fmt: skip
    return list(found.values())


def single_target_drugs(target: str, limit: int = 1) -> dict[str, str]:
    """Name -> SMILES of the first drugs listed for `target` in ligands.csv."""
    with (_DATA / "ligands.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["target"] == target]
    return {row["ligand"]: row["smiles"] for row in rows[:limit]}
