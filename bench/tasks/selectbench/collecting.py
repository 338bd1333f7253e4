"""Running a generator: one request for each assignment, with an oracle where the model wants one."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rdkit import Chem

from bench.adapters.selectbench import DesignRequest, OracleBudgetError, Pocket
from bench.datasets.selectbench.cases import Assignment
from bench.datasets.selectbench.drugs import approved_drugs
from bench.datasets.selectbench.ligands import ligands_of
from bench.datasets.selectbench.receptors import Receptor, as_pdb
from bench.errors import BenchError, InvalidOutput
from bench.spec import Context, JSONScalar
from bench.tasks.selectbench.artifact import write_designs, write_guidance
from bench.tasks.selectbench.isomers import isomers
from bench.tasks.selectbench.plan import CasePlan
from bench.tasks.selectbench.scorer import EngineFactory, Scorer
from bench.tasks.selectbench.standardize import Ligand, standardize
from bench.tasks.selectbench.workers import score_pairs


class CountingOracle:
    """Docking scores within a budget, from other conformers and random numbers than the evaluation's."""

    def __init__(self, plan: CasePlan, scorer: Scorer, make_engine: EngineFactory, calls: int) -> None:
        self._plan, self._scorer, self._make_engine = plan, scorer, make_engine
        self.calls_left = calls
        self.given: dict[str, dict[str, float]] = {}

    def score(self, smiles: Sequence[str], targets: Sequence[str]) -> npt.NDArray[np.float64]:
        """As `bench.adapters.selectbench.Oracle.score`."""
        self._spend(len(smiles) * len(targets))
        ligands = [standardize(text) for text in smiles]
        wanted = [(i, j) for j in range(len(targets)) for i in range(len(smiles))]
        wanted = [(i, j) for i, j in wanted if isinstance(ligands[i], Ligand)]
        pairs = [self._pair(ligands[i], targets[j]) for i, j in wanted]
        table = np.full((len(smiles), len(targets)), np.nan)
        for (i, j), score in zip(wanted, self._scorer.score(pairs), strict=True):
            if score.value is not None:
                table[i, j] = score.value
                self.given.setdefault(smiles[i], {})[targets[j]] = score.value
        return table

    def dock(self, smiles: Sequence[str], target: str) -> list[Chem.Mol | None]:
        """As `bench.adapters.selectbench.Oracle.dock`."""
        self._spend(len(smiles))
        ligands = [standardize(text) for text in smiles]
        places = [i for i, ligand in enumerate(ligands) if isinstance(ligand, Ligand)]
        poses: list[Chem.Mol | None] = [None] * len(smiles)
        pairs = [self._pair(ligands[i], target) for i in places]
        for index, score in score_pairs(pairs, self._make_engine):
            poses[places[index]] = pose_of(score.pose)
        return poses

    def _pair(self, ligand: Any, target: str) -> Any:
        if target not in self._plan.receptors:
            raise InvalidOutput(f"the oracle was asked about {target!r}, which is no target of this case")
        (smiles,) = isomers(ligand.smiles, 1)
        return self._scorer.pair(smiles, ligand.inchikey, self._plan.receptors[target])

    def _spend(self, calls: int) -> None:
        if calls > self.calls_left:
            raise OracleBudgetError(f"{calls} docking scores asked for, {self.calls_left} are left")
        self.calls_left -= calls


def pose_of(text: str) -> Chem.Mol | None:
    """The first pose of a PDBQT text as a molecule with hydrogens; None if there is none."""
    if not text:
        return None
    from meeko import PDBQTMolecule, RDKitMolCreate

    mols = RDKitMolCreate.from_pdbqt_mol(PDBQTMolecule(text, skip_typing=True, poses_to_read=1))
    return Chem.AddHs(mols[0], addCoords=True) if mols and mols[0] is not None else None


def collect_designs(
    adapter: Any, plan: CasePlan, ctx: Context, scorer: Scorer, make_engine: EngineFactory
) -> dict[str, JSONScalar]:
    """Write a file of molecules for each assignment; an assignment at which the model raises has none.

    If it raises at all of them, the first exception goes through.
    """
    if not callable(getattr(adapter, "generate", None)):
        raise InvalidOutput(
            f"{type(adapter).__name__} has no method 'generate'; derive it from "
            "bench.adapters.selectbench.MoleculeGenerator"
        )
    folder = Path(tempfile.mkdtemp(prefix="receptors-"))
    pockets = {target: _pocket(receptor, folder) for target, receptor in plan.receptors.items()}
    output = getattr(adapter, "output", "2d")
    if output not in ("2d", "3d"):
        raise InvalidOutput(f"output is {output!r}; use '2d' or '3d'")
    faults: dict[str, Exception] = {}
    guidance: dict[str, dict[str, dict[str, float]]] = {}
    calls = 0
    for done, assignment in enumerate(plan.assignments):
        ctx.progress(done, len(plan.assignments))
        budget = plan.oracle_calls // len(plan.assignments)
        oracle = (
            CountingOracle(plan, scorer, make_engine, budget)
            if getattr(adapter, "asks_oracle", False)
            else None
        )
        request = _request(adapter, plan, assignment, pockets, ctx, budget if oracle else 0)
        designs: list[Any] = []
        try:
            designs = _checked(adapter.generate(request, oracle))
        except BenchError:
            raise
        except Exception as error:  # whatever a stranger's code raises
            traceback.print_exc()
            faults[assignment.on] = error
        write_designs(ctx.artifact_dir / assignment.on, designs[: plan.n], output)
        if oracle is not None:
            calls += budget - oracle.calls_left
            guidance[assignment.on] = oracle.given
    if len(faults) == len(plan.assignments):
        raise next(iter(faults.values()))
    if guidance:
        write_guidance(ctx.artifact_dir, guidance)
    return {
        "track": str(getattr(adapter, "track", "blind")),
        "output": output,
        "sees_ligands": bool(getattr(adapter, "sees_ligands", False)),
        "oracle_calls": calls,
        "raised": "; ".join(f"{on}: {type(e).__name__}: {e}"[:200] for on, e in faults.items()),
    }


def _checked(designs: Any) -> list[Any]:
    if designs is None or isinstance(designs, (str, bytes)):
        raise InvalidOutput(f"generate returned {type(designs).__name__}; expected a sequence of Design")
    try:
        return list(designs)
    except TypeError:
        raise InvalidOutput(
            f"generate returned {type(designs).__name__}; expected a sequence of Design"
        ) from None


def _request(
    adapter: Any,
    plan: CasePlan,
    assignment: Assignment,
    pockets: dict[str, Pocket],
    ctx: Context,
    calls: int,
) -> DesignRequest:
    informed = getattr(adapter, "track", "blind") == "informed"
    shown = (assignment.on, *assignment.off) if getattr(adapter, "sees_ligands", False) else ()
    return DesignRequest(
        task=plan.card.kind,
        case=plan.case,
        on=pockets[assignment.on],
        off=tuple(pockets[t] for t in assignment.off) if informed else (),
        n=plan.n,
        seed=plan.seed_of(assignment),
        device=ctx.device,
        oracle_calls=calls,
        drugs=tuple(drug.smiles for drug in approved_drugs()),
        ligands={t: tuple(ligands_of(t).values()) for t in shown},
        cache_dir=ctx.cache_dir,
    )


def _pocket(receptor: Receptor, folder: Path) -> Pocket:
    pdb = folder / f"{receptor.target}.pdb"
    pdb.write_text(as_pdb(receptor), encoding="ascii")
    return Pocket(
        target_id=receptor.target,
        receptor_pdbqt=receptor.path,
        receptor_pdb=pdb,
        center=receptor.center,
        size=receptor.size,
        uniprot=receptor.uniprot,
        family=receptor.family,
    )
