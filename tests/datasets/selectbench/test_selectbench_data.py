"""Receptors, cases, ligands and drugs: what is there, and what is said if it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdkit import Chem

from bench.catalog.selectbench import DATASETS
from bench.datasets.selectbench import loading
from bench.datasets.selectbench.cases import CASES
from bench.datasets.selectbench.drugs import approved_drugs
from bench.datasets.selectbench.ligands import clear_preferences, library, ligands_of, preferences
from bench.datasets.selectbench.receptors import (
    ReceptorError,
    as_pdb,
    checked_receptor,
    load_receptor,
    read_box,
)
from bench.datasets.selectbench.targets import BOWES9, BOWES44, CLASSES, CYP2, UNIPROT, is_near
from bench.errors import MissingRequirement
from bench.registry import resolve

BOX = "center_x = 1\ncenter_y = 2\ncenter_z = 3\nsize_x = 20\nsize_y = 20\nsize_z = 20\n"
ATOM = "ATOM      1  N   ALA A   1       1.000   2.000   3.000  1.00  0.00    -0.100 N \n"


def test_there_are_58_receptors_of_the_stated_classes() -> None:
    assert len(UNIPROT) == 58
    assert {name: len(members) for name, members in CLASSES.items()} == {
        "kinase": 21,
        "nuclear receptor": 9,
        "protease": 8,
        "GPCR": 5,
        "cytochrome P450": 2,
        "other enzyme": 12,
        "chaperone": 1,
    }
    assert is_near("JAK2", "LCK")
    assert not is_near("JAK2", "ADRB1")
    assert not is_near("ACHE", "CA2")  # "other enzyme" is no family


def test_the_safety_panel_is_nine_of_44_and_none_of_the_targets_sought() -> None:
    assert len(BOWES44) == 44
    assert BOWES9 == ("ACHE", "ADORA2A", "ADRB1", "ADRB2", "AR", "DRD2", "LCK", "NR3C1", "PTGS2")
    assert all(BOWES44[target] == UNIPROT[target] for target in BOWES9)
    for case in CASES.values():
        if case.kind == "safety_panel":
            (assignment,) = case.assignments
            assert assignment.on not in BOWES44
            assert assignment.off == BOWES9
            assert assignment.apart == CYP2
            assert case.coverage == "9 of 44"


def test_every_case_is_in_the_catalogue_under_its_hash() -> None:
    assert [card.name for card in DATASETS] == list(CASES)
    for card in DATASETS:
        assert card.sha256 == loading.SHA256[card.name]
    small = ("jak2_lck", "panel_f10", "set4")
    for name in small:
        case = resolve(next(card.entry for card in DATASETS if card.name == name))()
        assert set(case.receptors) == set(CASES[name].targets)
    assert len(CASES["set58"].assignments) == 58
    assert all(len(a.off) == 57 for a in CASES["set58"].assignments)


def test_another_version_of_the_data_is_refused() -> None:
    with pytest.raises(MissingRequirement, match=r"case 'jak2_lck' has the content .* another version"):
        loading.load_case("jak2_lck", "0" * 64)


def test_a_receptor_and_its_pdb() -> None:
    receptor = load_receptor("DRD2")
    assert receptor.size == (30.0, 30.0, 32.0)
    assert (receptor.uniprot, receptor.family) == ("P14416", "GPCR")
    mol = Chem.MolFromPDBBlock(as_pdb(receptor), sanitize=False, proximityBonding=False)
    lines = [line for line in receptor.path.read_text().splitlines() if line.startswith(("ATOM", "HETATM"))]
    assert mol.GetNumAtoms() == len(lines)
    assert {atom.GetSymbol() for atom in mol.GetAtoms()} <= {"C", "N", "O", "S", "H"}


@pytest.mark.parametrize(
    ("content", "center", "words"),
    [
        (None, (1.0, 2.0, 3.0), "cannot be read"),
        ("REMARK nothing\n", (1.0, 2.0, 3.0), "has no atoms"),
        (ATOM, (100.0, 2.0, 3.0), "no atom lies in the box"),
        (ATOM.replace("1.000", "x.000", 1), (1.0, 2.0, 3.0), "line 1: no coordinates"),
    ],
)
def test_a_bad_receptor_is_named(
    tmp_path: Path, content: str | None, center: tuple[float, float, float], words: str
) -> None:
    path = tmp_path / "X_target.pdbqt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ReceptorError, match=rf"X_target.pdbqt.*{words}"):
        checked_receptor(path, target="X", center=center, size=(20.0, 20.0, 20.0))
    with pytest.raises(ReceptorError, match="NOSUCH"):
        load_receptor("NOSUCH")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("center_x = 1\n", "no number for 'center_y'"),
        (BOX.replace("= 2\n", "= two\n"), "no number"),
        (BOX.replace("size_z = 20", "size_z = 0"), "above 0"),
        (BOX.replace("size_z = 20", "size_z = inf"), "finite"),
    ],
)
def test_a_bad_box_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "X_conf.txt"
    path.write_text(content)
    with pytest.raises(ReceptorError, match=rf"X_conf.txt.*{words}"):
        read_box(path)
    path.write_text(BOX)
    assert read_box(path) == ((1.0, 2.0, 3.0), (20.0, 20.0, 20.0))


def test_preferences_are_consistent() -> None:
    for row in preferences():
        case = CASES[row.case]
        assert row.on == case.assignments[0].on
        assert row.off in case.assignments[0].off
        assert Chem.MolToSmiles(Chem.MolFromSmiles(row.smiles)) == row.smiles
        assert row.delta is None or (row.delta > 0) == (row.prefers == row.on)
        if row.p_on is not None and row.p_off is not None:
            assert row.delta == pytest.approx(row.p_on - row.p_off, abs=0.011)
    by_ligand = {row.ligand: row for row in preferences("jak2_lck")}
    assert (by_ligand["ruxolitinib"].p_on, by_ligand["imatinib"].p_off) == (10.44, 7.40)
    assert sum(row.is_clear for row in preferences("adrb1_adrb2")) == 7


def test_across_classes_a_drug_prefers_its_own_target() -> None:
    found = clear_preferences(("F10", "ACHE", "LCK"))
    assert {(p.ligand, p.prefers) for p in found} >= {("donepezil", "ACHE"), ("dasatinib", "LCK")}
    assert all(p.prefers == p.on and p.on != p.off for p in found)
    assert not any(
        {p.on, p.off} == {"ADRB1", "ADRB2"} and not p.case for p in clear_preferences(("ADRB1", "ADRB2"))
    )


def test_drugs_and_the_library() -> None:
    drugs = approved_drugs()
    assert len(drugs) == 1298
    assert all(12 <= drug.heavy_atoms <= 40 for drug in drugs)
    sizes = [Chem.MolFromSmiles(smiles).GetNumHeavyAtoms() for _, smiles in library()]
    assert len(sizes) == 64
    for low, high in ((12, 17), (18, 22), (23, 27), (28, 33), (34, 40)):
        assert sum(low <= size <= high for size in sizes) >= 10
        assert (
            sum(low <= size <= high for size in sizes[:20]) == 4
        )  # a prefix is a smaller library of the same make
    assert {smiles for _, smiles in library()} <= {drug.smiles for drug in drugs}
    assert list(ligands_of("JAK2")) == ["ruxolitinib", "tofacitinib", "fedratinib"]
