"""The cases: which target is wanted and which are not. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bench.datasets.selectbench.targets import BOWES9, CYP2, UNIPROT

Kind = Literal["case_studies", "safety_panel", "structure_set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One request for molecules: bind `on`, do not bind `off`; `apart` are looked at but not counted."""

    on: str
    off: tuple[str, ...]
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCard:
    """A data set of the family: one assignment, or one for each receptor of a set."""

    name: str
    kind: Kind
    assignments: tuple[Assignment, ...]
    coverage: str = ""  # of a panel: how much of it there are receptors for

    @property
    def targets(self) -> tuple[str, ...]:
        """Every target that occurs, sorted."""
        return tuple(sorted({t for a in self.assignments for t in (a.on, *a.off, *a.apart)}))

    def without_apart(self) -> CaseCard:
        """The same case without the targets that are only looked at."""
        return replace(self, assignments=tuple(replace(a, apart=()) for a in self.assignments))


def _study(name: str, on: str, *off: str) -> CaseCard:
    return CaseCard(name=name, kind="case_studies", assignments=(Assignment(on=on, off=off),))


def _panel(on: str) -> CaseCard:
    return CaseCard(
        name=f"panel_{on.lower()}",
        kind="safety_panel",
        assignments=(Assignment(on=on, off=BOWES9, apart=CYP2),),
        coverage=f"{len(BOWES9)} of 44",
    )


def _all_against_all(name: str, *targets: str) -> CaseCard:
    assignments = tuple(Assignment(on=t, off=tuple(o for o in targets if o != t)) for t in targets)
    return CaseCard(name=name, kind="structure_set", assignments=assignments)


#: set4 has two kinases and two beta-adrenoceptors, so that near and far off-targets can be told apart at small.
_CARDS = (
    _study("jak2_lck", "JAK2", "LCK"),
    _study("egfr_kdr", "EGFR", "KDR"),
    _study("abl1_src", "ABL1", "SRC"),
    _study("met_kdr", "MET", "KDR"),
    _study("adrb1_adrb2", "ADRB1", "ADRB2"),
    _study("f10_f2", "F10", "F2"),
    _study("ppard_pparg", "PPARD", "PPARG", "PPARA"),
    _study("esr2_esr1", "ESR2", "ESR1"),
    *(_panel(on) for on in ("F10", "PARP1", "EGFR", "DPP4")),
    _all_against_all("set4", "ADRB1", "ADRB2", "JAK2", "LCK"),
    _all_against_all("set5", "ACHE", "F10", "HSP90AA1", "LCK", "PTGS2"),
    _all_against_all(
        "set16", "ABL1", "ACHE", "ADORA2A", "AR", "BACE1", "CA2", "DPP4", "DRD2", "EGFR", "F10", "F2",
        "HSP90AA1", "JAK2", "LCK", "PPARG", "PTGS2",
    ),
    _all_against_all("set58", *sorted(UNIPROT)),
)  # fmt: skip
CASES: dict[str, CaseCard] = {card.name: card for card in _CARDS}
