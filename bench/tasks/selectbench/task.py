"""The tasks `selectbench.*`: molecules for each on-target of a case, docked by the bench in all its targets."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bench.datasets import packaged
from bench.datasets.selectbench.drugs import approved_drugs
from bench.datasets.selectbench.ligands import ligands_of
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.selectbench import report, summary
from bench.tasks.selectbench.artifact import export, read_designs, read_guidance
from bench.tasks.selectbench.collecting import collect_designs
from bench.tasks.selectbench.evaluate import Result
from bench.tasks.selectbench.molecules import Batch, batch_of
from bench.tasks.selectbench.plan import CasePlan, case_plan, require_affordable
from bench.tasks.selectbench.poses import pose_results
from bench.tasks.selectbench.reference import known_pairs, noise_samples, reference_scores
from bench.tasks.selectbench.scorecache import open_cache
from bench.tasks.selectbench.scorer import Scored, Scorer, engine_factory
from bench.tasks.selectbench.standardize import Ligand, standardize

ENGINE = "vina"
SHIPPED = ("bench", "datasets/selectbench/data/scores.parquet")


def shipped_scores() -> list[Path]:
    """The file of scores that travels with the bench, where there is one."""
    found = packaged.find(*SHIPPED)
    return [found] if found else []


class SelectivityTask(Task):
    """Collects `n` molecules for each assignment of a case; `score` docks them in all targets of it.

    Artifact: for each on-target ON `ON/molecules.smi` or `ON/molecules.sdf`, and of guided models `guidance.json`.
    """

    #: The engine of the evaluation; tests put another in its place.
    engine: ClassVar[str] = ENGINE

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Ask the model for molecules."""
        require_affordable(tuple(getattr(getattr(adapter, "info", None), "tags", ())), unit)
        plan = self._plan(unit, ctx)
        make = engine_factory(self.engine)
        with open_cache(ctx.cache_dir, shipped=shipped_scores()) as cache:
            return collect_designs(adapter, plan, ctx, Scorer(make, cache, plan.docking.guiding()), make)

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """The receptors, their boxes and approved drugs; see `bench.tasks.selectbench.artifact.export`."""
        return export(self._plan(unit, ctx), [drug.smiles for drug in approved_drugs()], folder)

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """A readable file of molecules for each on-target; single bad molecules are counted, not refused."""
        read_designs(artifact, self._plan(unit, ctx))

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Dock, measure, and say how far the docking can be trusted."""
        plan = self._plan(unit, ctx)
        handed = read_designs(artifact, plan)
        with open_cache(ctx.cache_dir, shipped=shipped_scores()) as cache:
            scorer = Scorer(engine_factory(self.engine), cache, plan.docking, progress=ctx.progress)
            reference = reference_scores(plan, scorer)
            pairs = known_pairs(plan, scorer)
            noise = noise_samples(plan, scorer, reference)
            own = Scorer(engine_factory(self.engine), cache, plan.docking, progress=ctx.progress)
            batches = [batch_of(handed[a.on], a, plan, own) for a in plan.assignments]
        known = _ligand_scores(pairs)
        ligands = _known_inchikeys(plan)
        tables = summary.tables_of(batches, reference, ligands, lambda on, off: off)
        parts = summary.estimates_of(tables, known)
        found = summary.together(parts)
        card = summary.card_of(pairs)
        with tempfile.TemporaryDirectory() as folder:
            found |= pose_results(batches, plan.receptors, plan.docking, plan.poses, Path(folder))
        measures = {name: summary.measure_of(result) for name, result in found.items()}
        measures |= {"oracle_accuracy": summary.accuracy_measure(card), "noise": summary.noise_measure(noise)}
        measures |= {name: summary.measure_of(result) for name, result in self._more(batches).items()}
        return TaskOutput(
            metrics=measures,
            facets=self._facets(batches, reference, ligands, parts),
            flags=_flags(card.badge, batches, own, plan),
            exhibits=tuple(report.exhibits_of(tables, pairs, card, read_guidance(artifact), ctx.exhibit_dir)),
            notes=_notes(plan, scorer, own, batches, artifact),
        )

    def _plan(self, unit: Unit, ctx: Context) -> CasePlan:
        return case_plan(ctx.load_dataset(unit.dataset), unit)

    def _more(self, batches: Sequence[Batch]) -> Mapping[str, Result]:
        """Metrics of this task alone."""
        return {}

    def _facets(
        self,
        batches: Sequence[Batch],
        reference: Sequence[Sequence[Scored]],
        ligands: frozenset[str],
        parts: Sequence[Mapping[str, Result]],
    ) -> Mapping[str, Mapping[str, Measure]]:
        """Near and far off-targets apart, each on-target by itself, and targets that are only looked at."""
        found: dict[str, Mapping[str, Measure]] = {}
        if len(batches) > 1:
            for batch, part in zip(batches, parts, strict=True):
                found[f"on={batch.assignment.on}"] = _measures(part)
            for name, choose in (("near", summary.near), ("far", summary.far)):
                tables = summary.tables_of(batches, reference, ligands, choose)
                if tables:
                    estimates = summary.estimates_of(tables, lambda on, off: None)
                    found[f"off={name}"] = _measures(summary.together(estimates))
        apart = {a.assignment.apart for a in batches} - {()}
        if apart:
            tables = summary.tables_of(
                batches, reference, ligands, lambda on, off: next(b.assignment.apart for b in batches)
            )
            estimates = summary.estimates_of(tables, lambda on, off: None)
            found["panel=cyp2"] = _measures(summary.together(estimates))
        return found


class CaseStudies(SelectivityTask):
    """Pairs and small groups of targets with literature ligands of known preference."""


class SafetyPanel(SelectivityTask):
    """One on-target against a panel of targets known for side effects."""


class StructureSet(SelectivityTask):
    """Each receptor of a set once the on-target, all others off-targets."""

    def _more(self, batches: Sequence[Batch]) -> Mapping[str, Result]:
        return {"delta_col": summary.delta_column(batches)}


def _measures(results: Mapping[str, Result]) -> dict[str, Measure]:
    return {name: summary.measure_of(result) for name, result in results.items()}


def _ligand_scores(pairs: Sequence[Any]) -> summary.LigandOf:
    """(on-target score, window) of the first literature ligand that prefers the on-target, where it was docked."""

    def of(on: str, off: Sequence[str]) -> tuple[float, float] | None:
        for pair in pairs:
            p = pair.preference
            if p.prefers == on and pair.on is not None and pair.off is not None:
                scores = {p.on: min(pair.on, 0.0), p.off: min(pair.off, 0.0)}
                others = [scores[t] for t in off if t in scores]
                if on in scores and len(others) == len(off):
                    return scores[on], min(others) - scores[on]
        return None

    return of


def _known_inchikeys(plan: CasePlan) -> frozenset[str]:
    """Literature ligands of every target of the case; they are not novel."""
    found = (standardize(smiles) for t in plan.card.targets for smiles in ligands_of(t).values())
    return frozenset(ligand.inchikey for ligand in found if isinstance(ligand, Ligand))


def _flags(badge: str, batches: Sequence[Batch], scorer: Scorer, plan: CasePlan) -> tuple[str, ...]:
    scores = [s for b in batches for m in b.molecules if m.scored for s in m.scored.scores.values()]
    flags = [f"oracle-{badge}"]
    if plan.card.coverage:
        flags.append(f"{plan.card.coverage.replace(' ', '-')}-targets")
    if any("no_fit" in score.flags for score in scores):
        flags.append("no-fit")
    if scorer.tally.engine_faults:
        flags.append("engine-faults")
    return tuple(flags)


def _notes(
    plan: CasePlan, reference: Scorer, scorer: Scorer, batches: Sequence[Batch], artifact: Artifact
) -> dict[str, JSONScalar]:
    scores = [s for b in batches for m in b.molecules if m.scored for s in m.scored.scores.values()]
    failures: dict[str, int] = {}
    for batch in batches:
        for reason, count in batch.failures().items():
            failures[reason] = failures.get(reason, 0) + count
    return {
        "n": plan.n,
        "assignments": len(plan.assignments),
        "engine": scorer.engine.text,
        "exhaustiveness": plan.docking.exhaustiveness,
        "max_evals": plan.docking.max_evals,
        "conformers": plan.docking.conformers,
        "isomers": plan.docking.isomers,
        "library": plan.library,
        "coverage": plan.card.coverage,
        "failures": ", ".join(f"{reason}: {count}" for reason, count in failures.items()),
        "no_fit": sum("no_fit" in score.flags for score in scores),
        "pairs": scorer.tally.pairs,
        "pairs_from_cache": scorer.tally.hits,
        "docking_cpu_s": round(sum(score.cpu_s for score in scores), 1),
        "engine_faults": reference.tally.engine_faults + scorer.tally.engine_faults,
    }
