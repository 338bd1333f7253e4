"""Molecules of other programs: commands and folders."""

from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from bench.adapters.selectbench import Design, DesignRequest
from bench.adapters.selectbench_files import SdfCommand, SdfFolder
from bench.errors import InvalidOutput, UsageError
from tests.models.selectbench.test_selectbench_models import pocket


def block(smiles: str) -> str:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    rdDistGeom.EmbedMolecule(mol, randomSeed=1)
    return str(Chem.MolToMolBlock(mol)) + "$$$$\n"


@pytest.fixture
def request_(tmp_path: Path) -> DesignRequest:
    return DesignRequest(
        task="case_studies", case="jak2_lck", on=pocket("JAK2"), off=(), n=2, seed=5, device="cpu", oracle_calls=0,
        drugs=(), cache_dir=tmp_path,
    )  # fmt: skip


def command_of(text: str) -> SdfCommand:
    class Mine(SdfCommand):
        command = text
        timeout_s = 5.0

    return Mine()


def smiles_of(designs: list[Design]) -> list[str]:
    return [Chem.MolToSmiles(Chem.RemoveHs(d.mol3d)) if d.mol3d else d.smiles or "" for d in designs]


def test_a_command_gets_what_it_asks_for(tmp_path: Path, request_: DesignRequest) -> None:
    script, source = tmp_path / "sample.py", tmp_path / "made.sdf"
    source.write_text(block("CCO") + "broken\n$$$$\n" + block("CCN"))
    script.write_text(
        "import shutil, sys\n"
        "assert sys.argv[1:6] == ['JAK2.pdb', '0.0', '30.0', '2', '5'], sys.argv\n"
        f"shutil.copy({str(source)!r}, sys.argv[6])\n"
    )
    mine = command_of(f"{sys.executable} {script} {{receptor_pdb}} {{cx}} {{sz}} {{n}} {{seed}} {{out_sdf}}")
    assert smiles_of(list(mine.generate(request_, None))) == ["CCO", "", "CCN"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{sys.executable} -c 'import sys; sys.exit(\"no luck\")'", "exit code 1: no luck"),
        (f"{sys.executable} -c pass", "no file 'molecules.sdf'"),
        ("/no/such/program {n}", "can't be run"),
        (f"{sys.executable} -c 'import time; time.sleep(60)'", "took more than 5 s"),
    ],
)
def test_a_command_that_fails_is_named(request_: DesignRequest, text: str, words: str) -> None:
    with pytest.raises(InvalidOutput, match=words):
        command_of(text).generate(request_, None)


@pytest.mark.parametrize(("text", "words"), [("", "names no command"), ("x {nonsense}", "use receptor_pdb")])
def test_a_command_that_cannot_be_built_is_refused(request_: DesignRequest, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        command_of(text).generate(request_, None)


def test_a_folder_of_files(tmp_path: Path, request_: DesignRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    class Made(SdfFolder):
        path = "made"

    monkeypatch.setattr("inspect.getfile", lambda _: str(tmp_path / "model.py"))
    folder = tmp_path / "made" / "jak2_lck"
    with pytest.raises(InvalidOutput, match=r"none of JAK2.sdf, JAK2.sdf.gz, JAK2.smi"):
        Made().generate(request_, None)
    folder.mkdir(parents=True)
    (folder / "JAK2.smi").write_text("CCO a\nnonsense\nCCN\n")
    assert smiles_of(list(Made().generate(request_, None))) == ["CCO", "nonsense"]
    (folder / "JAK2.sdf.gz").write_bytes(gzip.compress((block("CCN") + block("CCC")).encode()))
    assert smiles_of(list(Made().generate(replace(request_, n=1), None))) == ["CCN"]
