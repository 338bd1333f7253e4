"""The molecules of one assignment: standardised, counted, scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.artifacts import MoleculeRecord
from bench.datasets.selectbench.cases import Assignment
from bench.tasks.selectbench.artifact import Handed
from bench.tasks.selectbench.plan import CasePlan
from bench.tasks.selectbench.properties import Properties, properties
from bench.tasks.selectbench.scorer import Scored, Scorer
from bench.tasks.selectbench.standardize import Ligand, Rejection, standardize

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Molecule:
    """One molecule asked for: what was handed in and what became of it."""

    record: MoleculeRecord | None  # None: fewer were handed in
    ligand: Ligand | None
    rejection: str  # "missing", "parse", ...; "" for a ligand
    detail: str
    first: bool  # whether it is the first with its InChIKey
    scored: Scored | None
    known: Properties | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """The molecules of one assignment; as many rows as were asked for, NaN where there is no score."""

    assignment: Assignment
    output: str
    molecules: tuple[Molecule, ...]

    def scores(self, targets: Sequence[str]) -> Floats:
        """Scores (n, targets) in kcal/mol."""
        table = np.full((len(self.molecules), len(targets)), np.nan)
        for row, molecule in enumerate(self.molecules):
            for column, target in enumerate(targets) if molecule.scored else ():
                value = molecule.scored.scores[target].value  # type: ignore[union-attr]
                table[row, column] = np.nan if value is None else value
        return table

    @property
    def heavy_atoms(self) -> Floats:
        """Heavy atoms (n,); NaN where there is no molecule."""
        return np.array(
            [m.ligand.heavy_atoms if m.ligand else np.nan for m in self.molecules], dtype=np.float64
        )

    @property
    def valid(self) -> Bools:
        return np.array([m.ligand is not None for m in self.molecules])

    @property
    def first(self) -> Bools:
        """Valid molecules without the repeats."""
        return np.array([m.first for m in self.molecules])

    @property
    def passes_gate(self) -> Bools:
        return np.array([m.known is not None and m.known.passes_gate for m in self.molecules])

    def failures(self) -> dict[str, int]:
        """Reason -> molecules lost for it."""
        reasons = Counter(m.rejection for m in self.molecules if m.rejection)
        for molecule in self.molecules:
            faults = [s.error for s in molecule.scored.scores.values() if s.error] if molecule.scored else []
            if faults:
                reasons[faults[0].partition(":")[0]] += 1
        return dict(sorted(reasons.items()))


def batch_of(handed: Handed, assignment: Assignment, plan: CasePlan, scorer: Scorer) -> Batch:
    """Standardise what was handed in for one on-target, score each different molecule once."""
    parsed = [_parsed(record, handed.output) for record in handed.records]
    ligands = {item.inchikey: item for item in reversed(parsed) if isinstance(item, Ligand)}
    scored = scorer.score_all(list(ligands.values()), assignment, plan.receptors)
    by_key: Mapping[str, Scored] = {item.inchikey: item for item in scored}
    seen: set[str] = set()
    molecules = []
    for place in range(plan.n):
        record = handed.records[place] if place < len(parsed) else None
        item = parsed[place] if record else Rejection(reason="parse", detail="fewer molecules were handed in")
        molecules.append(_molecule(record, item, by_key, seen))
    return Batch(assignment=assignment, output=handed.output, molecules=tuple(molecules))


def _parsed(record: MoleculeRecord, output: str) -> Ligand | Rejection:
    if record.mol is None:
        return Rejection(reason="parse", detail=record.fault)
    return standardize(record.mol, output="3d" if output == "3d" else "2d")


def _molecule(
    record: MoleculeRecord | None, item: Ligand | Rejection, by_key: Mapping[str, Scored], seen: set[str]
) -> Molecule:
    if isinstance(item, Rejection):
        reason = item.reason if record is not None else "missing"
        return Molecule(
            record=record,
            ligand=None,
            rejection=reason,
            detail=item.detail,
            first=False,
            scored=None,
            known=None,
        )
    first = item.inchikey not in seen
    seen.add(item.inchikey)
    return Molecule(
        record=record,
        ligand=item,
        rejection="",
        detail="",
        first=first,
        scored=by_key[item.inchikey],
        known=properties(item.smiles),
    )
