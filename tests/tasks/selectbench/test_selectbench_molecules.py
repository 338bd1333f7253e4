"""From a strange molecule to a prepared one: standardising, charges, isomers, conformers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import rdDistGeom

from bench.tasks.selectbench.conformers import EmbedFailure, rmsd, start_conformers
from bench.tasks.selectbench.engines.vina import LigandError, box_size, pdbqt
from bench.tasks.selectbench.isomers import isomers
from bench.tasks.selectbench.properties import properties
from bench.tasks.selectbench.protonate import protonate
from bench.tasks.selectbench.settings import SETTINGS
from bench.tasks.selectbench.standardize import Ligand, Rejection, standardize

IMATINIB = "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1"


@pytest.mark.parametrize(
    ("smiles", "output", "reason"),
    [
        ("", "2d", "parse"),
        ("  ", "2d", "parse"),
        ("not_a_smiles", "2d", "parse"),
        ("C1CCCCC", "2d", "parse"),
        ("CCCCCCO.CCCCCCCN", "2d", "mixture"),
        ("CCCCCCO.CCCCCCCN", "3d", "fragments"),
        ("[Cl-].CCCCCC[NH3+]", "3d", "fragments"),
        ("*c1ccccc1", "2d", "element"),
        ("OB(O)c1ccccc1", "2d", "element"),
        ("C[Si](C)(C)CCC", "2d", "element"),
        ("[Se]1CCCCC1", "2d", "element"),
        ("[CH2]CCCCCC", "2d", "radical"),
        ("[H][H]", "2d", "size"),
        ("[He]", "2d", "element"),
        ("[Na+].CC(=O)[O-]", "2d", "size"),  # desalted, but four heavy atoms are not docked
        ("C" * 40, "2d", "size"),
        ("[Na+].[Cl-]", "2d", "mixture"),
    ],
)
def test_what_is_rejected_and_why(smiles: str, output: str, reason: str) -> None:
    found = standardize(smiles, output="3d" if output == "3d" else "2d")
    assert isinstance(found, Rejection)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("smiles", "parent", "flags"),
    [
        ("[Na+].CCCCCC(=O)[O-]", "CCCCCC(=O)O", ("desalted",)),
        ("CCCCCCN.CCCCCCN.OS(=O)(=O)O", "CCCCCCN", ("desalted",)),
        ("[13CH3]CCCCC", "CCCCCC", ("isotope",)),
        ("[2H]c1ccccc1", "c1ccccc1", ("isotope",)),
        ("[NH3+]CCCCCC([O-])=O", "NCCCCCC(=O)O", ()),
        ("C[N+](C)(C)CCCCC", "CCCCC[N+](C)(C)C", ()),
    ],
)
def test_what_becomes_of_the_others(smiles: str, parent: str, flags: tuple[str, ...]) -> None:
    found = standardize(smiles)
    assert isinstance(found, Ligand)
    assert (found.smiles, found.flags) == (parent, flags)
    assert standardize(Chem.MolFromSmiles(smiles)) == found


def test_one_molecule_in_several_guises_has_one_key() -> None:
    guises = ("CC(=O)Nc1ccc(O)cc1", "CC(=O)Nc1ccc([O-])cc1", "Oc1ccc(NC(C)=O)cc1")
    keys = {ligand.inchikey for text in guises if isinstance(ligand := standardize(text), Ligand)}
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("neutral", "charged"),
    [
        ("CCC(=O)O", "CCC(=O)[O-]"),
        ("COP(=O)(O)O", "COP(=O)([O-])O"),  # one charge within three bonds
        ("CCS(=O)(=O)O", "CCS(=O)(=O)[O-]"),
        ("CCN", "CC[NH3+]"),
        ("CN1CCN(C)CC1", "CN1CC[NH+](C)CC1"),
        ("NCCCCN", "[NH3+]CCCC[NH3+]"),
        ("NC(=N)Nc1ccccc1", "NC(=[NH2+])Nc1ccccc1"),
        ("NCC(=O)O", "[NH3+]CC(=O)[O-]"),
        ("CC(N)=O", "CC(N)=O"),
        ("CS(N)(=O)=O", "CS(N)(=O)=O"),
        ("Nc1ccccc1", "Nc1ccccc1"),
        ("C=CN", "C=CN"),
        ("CNO", "CNO"),
        ("c1ccncc1", "c1ccncc1"),
        ("CC(=O)NC(=N)N", "CC(=O)NC(=N)N"),
    ],
)
def test_charges_at_neutral_ph(neutral: str, charged: str) -> None:
    expected = Chem.MolToSmiles(Chem.MolFromSmiles(charged))
    assert Chem.MolToSmiles(protonate(Chem.MolFromSmiles(neutral))) == expected


def test_of_several_isomers_those_that_exist_are_taken_in_a_fixed_order() -> None:
    bisoprolol = "CC(C)NCC(O)COc1ccc(COCCOC(C)C)cc1"
    assert isomers(bisoprolol, 4) == tuple(sorted(isomers(bisoprolol, 4)))
    assert len(isomers(bisoprolol, 4)) == 2
    assert isomers(bisoprolol, 1) == isomers(bisoprolol, 4)[:1]
    assert isomers(IMATINIB, 4) == (IMATINIB,)
    bridged = isomers("CNC1(C)C2CCC(C2)C1(C)C", 16)
    for smiles in bridged:
        assert rdDistGeom.EmbedMolecule(Chem.AddHs(Chem.MolFromSmiles(smiles)), randomSeed=1) == 0


def test_flexible_rings_get_more_conformers_and_the_choice_is_fixed() -> None:
    aspirin = start_conformers("CC(=O)Oc1ccccc1C(=O)O", SETTINGS["fast"])
    assert len(aspirin.chosen) == 2
    first, second = (start_conformers("OC1CCCCC1c1ccccc1", SETTINGS["fast"]) for _ in range(2))
    assert len(first.chosen) >= 2
    assert first.chosen == second.chosen
    positions = [m.mol.GetConformer(m.chosen[0]).GetPositions() for m in (first, second)]
    np.testing.assert_array_equal(*positions)
    a, b = (first.mol.GetConformer(i).GetPositions() for i in first.chosen[:2])
    assert rmsd(a, b) > 0.3


@given(st.integers(0, 2**31))
@settings(max_examples=25)
def test_rmsd_does_not_see_where_a_molecule_lies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(7, 3))
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    rotation *= np.sign(np.linalg.det(rotation))
    assert rmsd(points, points @ rotation + rng.normal(size=3)) == pytest.approx(0.0, abs=1e-6)
    assert rmsd(points, points * [1, 1, -1]) > 0.1  # a mirror image is another thing


def test_what_cannot_be_embedded_or_typed_is_the_molecules_fault() -> None:
    with pytest.raises(EmbedFailure):
        start_conformers("OC=1N(C(O)=C2C1C3=C4C(=C2CC3O)C=CC=C4)CC5=CC=CC=C5", SETTINGS["smoke"])
    boron = Chem.AddHs(Chem.MolFromSmiles("B(O)(O)c1ccccc1"))
    rdDistGeom.EmbedMolecule(boron, randomSeed=1)
    text = ""
    try:
        text = pdbqt(boron, -1)
    except LigandError:
        return
    assert " B " in text  # meeko writes it; the standardiser has rejected it long before


def test_a_long_ligand_gets_the_large_box() -> None:
    from bench.datasets.selectbench.receptors import load_receptor

    receptor = load_receptor("DRD2")
    assert box_size(receptor, SETTINGS["fast"], 12.0) == (22.5, 22.5, 22.5)
    assert box_size(receptor, SETTINGS["fast"], 17.0) == receptor.size == (30.0, 30.0, 32.0)


def test_the_gate() -> None:
    imatinib, decane = properties(IMATINIB), properties("CCCCCCCCCC")
    assert imatinib.passes_gate
    assert imatinib.heavy_atoms == 37
    assert not decane.passes_gate
    quinone = properties("O=C1C=CC(=O)C(c2ccccc2)=C1c1ccccc1")
    assert quinone.alerts
    assert not quinone.passes_gate
    with pytest.raises(ValueError, match="can't read"):
        properties("no")
