"""The tasks from end to end on measured and on random numbers: what must and must not look selective."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle, OracleBudgetError
from bench.errors import InvalidOutput, MissingRequirement
from bench.models.selectbench.best_of_n import BestOfN
from bench.models.selectbench.known import KnownOff, KnownOn
from bench.models.selectbench.random_drugs import RandomDrugs
from bench.spec import Artifact, ModelInfo
from tests.tasks.selectbench.conftest import Bench, value

STUDIES, PANEL, SET = "selectbench.case_studies", "selectbench.safety_panel", "selectbench.structure_set"
MakeBench = Callable[[str], Bench]


class Fixed(MoleculeGenerator):
    """Returns what it is given."""

    def __init__(self, *designs: Any) -> None:
        self.designs: Any = [Design(smiles=d) if isinstance(d, str) else d for d in designs]

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        return self.designs  # type: ignore[no-any-return]


CASES = ("jak2_lck", "egfr_kdr", "met_kdr", "adrb1_adrb2", "f10_f2", "ppard_pparg", "esr2_esr1")


@pytest.mark.parametrize("case", CASES)
def test_measured_affinities_put_known_ligands_where_they_belong(make_bench: MakeBench, case: str) -> None:
    first = make_bench("on")
    unit = first.unit(STUDIES, case, n=1, off=1)
    on = first.run(KnownOn(), unit, "truth")
    off = make_bench("off").run(KnownOff(), unit, "truth")
    assert value(on, "window") > 0 > value(off, "window")
    assert value(on, "oracle_accuracy") == 1.0
    assert value(on, "on_best") == 1.0
    assert value(off, "on_best") == 0.0


def test_molecules_that_nothing_is_known_of_are_failures_not_gaps(bench: Bench) -> None:
    unit = bench.unit(STUDIES, "jak2_lck", n=4)
    found = bench.run(RandomDrugs(), unit, "truth")
    assert value(found, "valid") == 1.0
    assert value(found, "dockable") == value(found, "ssr_10x") == 0.0
    gain = found.metrics["sel_gain"]
    assert not isinstance(gain, float)
    assert gain.value is None
    assert "no molecule has a score" in gain.reason


def test_every_declared_metric_and_nothing_else(make_bench: MakeBench) -> None:
    for task, dataset in ((STUDIES, "jak2_lck"), (PANEL, "panel_f10"), (SET, "set4")):
        bench = make_bench(dataset)
        unit = bench.unit(task, dataset, n=2)
        found = bench.run(RandomDrugs(), unit)
        assert set(found.metrics) == {metric.name for metric in bench.task(task).info.metrics}
        if task == SET:
            assert set(found.facets) == {"on=ADRB1", "on=ADRB2", "on=JAK2", "on=LCK", "off=near", "off=far"}
            assert value(found, "delta_col") is not None
        if task == PANEL:
            assert "9-of-44-targets" in found.flags
        for exhibit in found.exhibits:
            path = bench.root / "exhibits" / exhibit.file
            assert path.is_file()
            if exhibit.kind != "image":
                json.loads(path.read_text())


def test_targets_apart_are_docked_and_counted_apart(bench: Bench) -> None:
    unit = bench.unit(PANEL, "panel_f10", n=2, apart=True, off=1)
    found = bench.run(RandomDrugs(), unit)
    assert set(found.facets) == {"panel=cyp2"}
    assert found.facets["panel=cyp2"]["window"] != found.metrics["window"]


def test_a_guided_twin_beats_its_unguided_one_by_less_than_it_thought(make_bench: MakeBench) -> None:
    """Noise differs between guidance and evaluation: what was selected for is partly luck."""
    gains = {}
    for objective in ("on", "sel"):
        bench = make_bench(objective)
        unit = bench.unit(STUDIES, "jak2_lck", n=6, oracle_calls=96)
        adapter = BestOfN(objective=objective)
        artifact = bench.collect(adapter, unit)
        assert artifact.notes["oracle_calls"] == 96
        guidance = json.loads((artifact.dir / "guidance.json").read_text())["JAK2"]
        gains[objective] = bench.score(artifact, unit), guidance
    sel, guidance = gains["sel"]
    assert value(sel, "on_score") is not None
    lines = (bench.root / "artifact" / "JAK2" / "molecules.smi").read_text().splitlines()
    chosen = [line.split()[0] for line in lines]
    before = np.median([min(0.0, guidance[s]["LCK"]) - guidance[s]["JAK2"] for s in chosen])
    assert value(sel, "window") < before  # the winner's curse


BAD = ["", "not_a_smiles", "CCCCCCO.CCCCCCCN", "*c1ccccc1", "C" * 40, "CCCCCCO", "OCCCCCC", None, 3, Design()]


def test_bad_molecules_count_as_failures_of_their_kind(bench: Bench) -> None:
    unit = bench.unit(STUDIES, "jak2_lck", n=12)
    found = bench.run(Fixed(*BAD), unit)
    assert value(found, "valid") == pytest.approx(2 / 12)
    assert value(found, "unique") == pytest.approx(1 / 2)
    assert value(found, "dockable") == pytest.approx(2 / 12)
    diversity = found.metrics["diversity"]
    assert not isinstance(diversity, float)
    assert diversity.value is None
    assert found.notes["failures"] == "element: 1, missing: 2, mixture: 1, parse: 5, size: 1"


def test_more_than_asked_for_is_not_read(bench: Bench) -> None:
    unit = bench.unit(STUDIES, "jak2_lck", n=2)
    artifact = bench.collect(Fixed(*(f"{'C' * k}CCCCCO" for k in range(9))), unit)
    assert len((artifact.dir / "JAK2" / "molecules.smi").read_text().splitlines()) == 2


@pytest.mark.parametrize("returned", [None, "CCO", 3])
def test_what_is_no_sequence_is_refused(bench: Bench, returned: Any) -> None:
    adapter = Fixed()
    adapter.designs = returned
    with pytest.raises(InvalidOutput, match="expected a sequence of Design"):
        bench.collect(adapter, bench.unit(STUDIES, "jak2_lck"))


class Raises(MoleculeGenerator):
    bad: ClassVar[tuple[str, ...]] = ("LCK",)

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        if request.on.target_id in self.bad:
            raise RuntimeError("out of luck")
        assert request.off == ()
        assert request.on.receptor_pdb.read_text().startswith("ATOM")
        return [Design(smiles="CCCCCCO")]


def test_an_assignment_at_which_a_model_raises_is_lost_and_the_others_are_not(bench: Bench) -> None:
    unit = bench.unit(SET, "set4", n=1)
    artifact = bench.collect(Raises(), unit)
    assert artifact.notes["raised"] == "LCK: RuntimeError: out of luck"
    found = bench.score(artifact, unit)
    assert value(found, "valid") == pytest.approx(3 / 4)


def test_a_model_that_always_raises_fails(bench: Bench) -> None:
    adapter = Raises()
    adapter.bad = ("JAK2",)  # type: ignore[misc]
    with pytest.raises(RuntimeError, match="out of luck"):
        bench.collect(adapter, bench.unit(STUDIES, "jak2_lck"))


class Greedy(MoleculeGenerator):
    track = "informed"
    asks_oracle = True

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        assert oracle is not None
        assert [p.target_id for p in request.off] == ["LCK"]
        scores = oracle.score(["CCCCCCO", "nonsense"], ["JAK2", "LCK"])
        assert scores.shape == (2, 2)
        assert np.isnan(scores[1]).all()
        assert oracle.calls_left == request.oracle_calls - 4
        with pytest.raises(OracleBudgetError):
            oracle.score(["CCCCCCO"] * 10, ["JAK2"])
        with pytest.raises(InvalidOutput, match="no target"):
            oracle.score(["CCCCCCO"], ["EGFR"])
        return [Design(smiles="CCCCCCO", model_score=1.0)]


def test_the_oracle_counts_refuses_and_remembers(bench: Bench) -> None:
    artifact = bench.collect(Greedy(), bench.unit(STUDIES, "jak2_lck", oracle_calls=6))
    assert artifact.notes["track"] == "informed"
    guidance = json.loads((artifact.dir / "guidance.json").read_text())
    assert set(guidance["JAK2"]["CCCCCCO"]) == {"JAK2", "LCK"}
    assert (artifact.dir / "JAK2" / "molecules.smi").read_text() == "CCCCCCO 1\n"


def test_heavy_models_run_where_a_size_can_pay_for_them(bench: Bench) -> None:
    adapter = BestOfN(objective="on")
    adapter.info = ModelInfo(name="x", version="1", families=("selectbench",), tags=("heavy",))
    unit = bench.unit(STUDIES, "adrb1_adrb2", heavy_datasets="jak2_lck")
    with pytest.raises(MissingRequirement, match="run on jak2_lck only"):
        bench.collect(adapter, unit)


def test_artifacts_made_elsewhere(bench: Bench) -> None:
    unit = bench.unit(STUDIES, "jak2_lck", n=2)
    task, ctx = bench.task(STUDIES), bench.context("score")
    folder = bench.root / "artifact"
    artifact = Artifact(dir=folder, sha256="", notes={})
    with pytest.raises(InvalidOutput, match=r"no molecules for JAK2: expected JAK2/molecules.smi"):
        task.check_artifact(artifact, unit, ctx)
    (folder / "molecules.smi").write_text("CCCCCCO\n")
    task.check_artifact(artifact, unit, ctx)
    (folder / "JAK2").mkdir()
    (folder / "JAK2" / "molecules.sdf").write_text("")
    with pytest.raises(InvalidOutput, match=r"both JAK2/molecules.sdf and molecules.smi"):
        task.check_artifact(artifact, unit, ctx)
    (folder / "JAK2" / "molecules.sdf").unlink()
    (folder / "guidance.json").write_text('{"JAK2": [1, 2]}')  # a stranger's: shown nowhere, harms nothing
    found = bench.score(artifact, unit)
    assert value(found, "valid") == 0.5
    assert "guidance" not in {exhibit.name for exhibit in found.exhibits}


def test_a_command_gets_receptors_boxes_and_drugs(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "inputs"
    folder.mkdir()
    fields = bench.task(SET).export_inputs(bench.unit(SET, "set4", n=3), bench.context("collect"), folder)
    assert fields["n"] == 3
    assert [a["on"] for a in fields["assignments"]] == ["ADRB1", "ADRB2", "JAK2", "LCK"]
    json.dumps(fields)
    pdb = Chem.MolFromPDBFile(str(folder / "JAK2.pdb"), sanitize=False)
    assert pdb.GetNumAtoms() > 2000
    assert {atom.GetSymbol() for atom in pdb.GetAtoms()} <= {"C", "N", "O", "S", "H", "P", "Cl"}
    assert b"\nATOM " in (folder / "JAK2.pdbqt").read_bytes()
    assert len((folder / "drugs.smi").read_text().splitlines()) == 1298


class Poses(MoleculeGenerator):
    output = "3d"

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        inside = Chem.AddHs(Chem.MolFromSmiles("CCCCCCO"))
        rdDistGeom.EmbedMolecule(inside, randomSeed=1)
        far = Chem.Mol(inside)
        shift = np.array(request.on.center)
        for mol, more in ((inside, 0.0), (far, 100.0)):
            conformer = mol.GetConformer()
            for i, xyz in enumerate(conformer.GetPositions()):
                conformer.SetAtomPosition(i, (xyz + shift + more).tolist())
        return [Design(mol3d=inside), Design(mol3d=far), Design(mol3d=Chem.MolFromSmiles("c1ccccc1CO"))]


def test_a_pose_elsewhere_is_a_bad_pose_of_a_good_molecule(bench: Bench) -> None:
    pytest.importorskip("posebusters")
    unit = bench.unit(STUDIES, "jak2_lck", n=3, poses=3)
    found = bench.run(Poses(), unit)
    assert value(found, "valid") == 1.0
    assert value(found, "dockable") == 1.0
    valid = found.metrics["pb_valid"]
    assert not isinstance(valid, float)
    assert valid.n == 3
    assert value(found, "pb_valid") <= 1 / 3
    assert value(found, "pose_score") is not None
