"""What every model is compared with in a case: reference drugs, ligands of known preference, the scorer's noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.datasets.selectbench.ligands import Preference, clear_preferences, library
from bench.tasks.selectbench.engines.base import Score
from bench.tasks.selectbench.isomers import isomers
from bench.tasks.selectbench.plan import CasePlan
from bench.tasks.selectbench.scorecache import Pair
from bench.tasks.selectbench.scorer import Scored, Scorer, order_of
from bench.tasks.selectbench.standardize import Ligand, standardize

NOISE_DRUGS = 3  # of the library, docked again with other seeds
_NOISE_STEP = 1  # to evaluation seed 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPair:
    """A ligand of known preference and what the scorer says of it."""

    preference: Preference
    on: float | None  # kcal/mol on `preference.on`
    off: float | None


@lru_cache(maxsize=4)
def reference_ligands(size: int) -> tuple[Ligand, ...]:
    """The first `size` drugs of the reference library."""
    found = [standardize(smiles) for _, smiles in library()[:size]]
    return tuple(ligand for ligand in found if isinstance(ligand, Ligand))


def reference_scores(plan: CasePlan, scorer: Scorer) -> list[list[Scored]]:
    """The library on each assignment of a case."""
    ligands = reference_ligands(plan.library)
    return [scorer.score_all(ligands, assignment, plan.receptors) for assignment in plan.assignments]


def known_pairs(plan: CasePlan, scorer: Scorer) -> list[KnownPair]:
    """Every ligand of known preference between an on-target of the case and an off-target of it, scored on both.

    As for generated molecules, of several isomers the one that is best on the first target counts.
    """
    decided = {frozenset((a.on, t)) for a in plan.assignments for t in a.off}
    targets = tuple(sorted({t for pair in decided for t in pair}))
    wanted = [p for p in clear_preferences(targets) if frozenset((p.on, p.off)) in decided]
    wanted = wanted[: plan.known or None]
    known = [(p, standardize(p.smiles)) for p in wanted]
    pairs: dict[tuple[str, str], Pair] = {}
    for preference, ligand in known:
        if isinstance(ligand, Ligand):
            for smiles in isomers(ligand.smiles, scorer.settings.isomers):
                for target in (preference.on, preference.off):
                    pairs[smiles, target] = scorer.pair(smiles, ligand.inchikey, plan.receptors[target])
    scores = dict(zip(pairs, scorer.score(list(pairs.values())), strict=True))
    return [_known(p, ligand, scores, scorer) for p, ligand in known]


def _known(
    preference: Preference, ligand: object, scores: Mapping[tuple[str, str], Score], scorer: Scorer
) -> KnownPair:
    if not isinstance(ligand, Ligand):
        return KnownPair(preference=preference, on=None, off=None)
    options = isomers(ligand.smiles, scorer.settings.isomers)
    best = min(options, key=lambda smiles: order_of(scores[smiles, preference.on]))
    on, off = (scores[best, target].value for target in (preference.on, preference.off))
    return KnownPair(preference=preference, on=on, off=off)


def noise_samples(
    plan: CasePlan, scorer: Scorer, reference: Sequence[Sequence[Scored]]
) -> list[tuple[float, float]]:
    """Scores of the first drugs of the library with evaluation seeds 1 and 2, on every target of the case."""
    again = scorer.settings.reseeded(_NOISE_STEP)
    pairs: dict[tuple[str, str], Pair] = {}
    first: dict[tuple[str, str], Score] = {}
    for assignment, scores in zip(plan.assignments, reference, strict=True):
        for scored in scores[:NOISE_DRUGS]:
            for target in (assignment.on, *assignment.off):
                key = (scored.smiles, target)
                first[key] = scored.scores[target]
                pairs[key] = scorer.pair(scored.smiles, scored.inchikey, plan.receptors[target], again)
    second = dict(zip(pairs, scorer.score(list(pairs.values())), strict=True))
    both = ((first[key].value, second[key].value) for key in first)
    return [(a, b) for a, b in both if a is not None and b is not None]
