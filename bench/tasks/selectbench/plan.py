"""A unit worked out: which assignments, how many molecules, which protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench.datasets.selectbench.cases import Assignment, CaseCard
from bench.datasets.selectbench.loading import DesignCase
from bench.datasets.selectbench.receptors import Receptor
from bench.errors import MissingRequirement, UsageError
from bench.spec import Unit, derived_seed
from bench.tasks.selectbench.settings import SETTINGS, DockSettings

HEAVY = "heavy"  # tag of models that dock while they search, and of controls that need no second case


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlan:
    """What every model sees identically in a unit."""

    case: str
    card: CaseCard
    receptors: Mapping[str, Receptor]
    n: int  # molecules asked for with each assignment
    docking: DockSettings
    library: int
    known: int  # ligands of known preference that the oracle card uses; 0: all
    oracle_calls: int  # in the unit, shared evenly by its assignments
    poses: int
    seed: int

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        return self.card.assignments

    def seed_of(self, assignment: Assignment) -> int:
        """The seed that a model gets for one assignment."""
        return derived_seed(self.seed, f"generate|{assignment.on}")


def case_plan(case: DesignCase, unit: Unit) -> CasePlan:
    """Work out `unit`; the meaning of its settings is in the catalogue. `--limit` lowers n."""
    n = int(unit.setting("n"))
    if unit.limit is not None:
        n = min(n, unit.limit)
    if n < 1:
        raise UsageError(f"selectbench needs at least one molecule, --limit {unit.limit} leaves none")
    docking = str(unit.setting("docking"))
    if docking not in SETTINGS:
        raise UsageError(f"there is no docking protocol {docking!r}; there are {', '.join(SETTINGS)}")
    card = _reduced(case.card, int(unit.setting("off")), bool(unit.setting("apart")))
    return CasePlan(
        case=unit.dataset,
        card=card,
        receptors={target: case.receptors[target] for target in card.targets},
        n=n,
        docking=SETTINGS[docking],
        library=int(unit.setting("library")),
        known=int(unit.setting("known")),
        oracle_calls=int(unit.setting("oracle_calls")),
        poses=int(unit.setting("poses")),
        seed=unit.seed,
    )


def _reduced(card: CaseCard, off: int, apart: bool) -> CaseCard:
    """The case with the first `off` off-targets (0: all), and with or without those that are not counted."""
    assignments = tuple(replace(a, off=a.off[:off] if off else a.off) for a in card.assignments)
    card = replace(card, assignments=assignments)
    return card if apart else card.without_apart()


def require_affordable(tags: tuple[str, ...], unit: Unit) -> None:
    """Raise `MissingRequirement` if this size has no time for a heavy model on this unit."""
    only = str(unit.settings.get("heavy_datasets") or "")
    if HEAVY in tags and only and unit.dataset not in only.split(","):
        raise MissingRequirement(
            f"models with the tag {HEAVY!r} run on {only} only at size {unit.size}: every molecule that they look at "
            "is docked (size full runs them everywhere)"
        )
