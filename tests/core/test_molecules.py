"""Molecules of strangers: what is wrong is named by file, record and line; one bad record costs one record."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import AllChem

from bench.artifacts import load_sdf, load_smiles, parse_smiles
from bench.artifacts.molecules import MoleculeRecord
from bench.errors import InvalidOutput

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
ALANINE = "C[C@H](N)C(=O)O"


def block_of(smiles: str, name: str = "", v3000: bool = False) -> str:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(mol, randomSeed=1)
    mol.SetProp("_Name", name)
    return str(Chem.MolToMolBlock(mol, forceV3000=v3000))


ETHANOL_BLOCK = block_of("CCO", "ethanol")


def written(path: Path, *records: str, close: bool = True) -> Path:
    text = "$$$$\n".join(records) + ("$$$$\n" if close else "")
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def smiles_of(records: list[MoleculeRecord]) -> list[str]:
    return [Chem.MolToSmiles(Chem.RemoveHs(r.mol)) if r.mol else "" for r in records]


def test_smiles_with_names_tabs_and_windows_ends(tmp_path: Path) -> None:
    path = tmp_path / "molecules.smi"
    path.write_bytes(f"{ASPIRIN} acetyl salicylic acid\r\n{ALANINE}\tala\nCCO\n[H]C([H])[H]".encode())
    records = load_smiles(path)
    assert smiles_of(records) == [ASPIRIN, ALANINE, "CCO", "C"]
    assert [r.name for r in records] == ["acetyl salicylic acid", "ala", "", ""]
    assert [(r.number, r.line) for r in records] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert records[0].text == ASPIRIN


@pytest.mark.parametrize("name", ["molecules.sdf", "molecules.sdf.gz"])
@pytest.mark.parametrize("close", [True, False])
def test_sdf_with_fields_stereo_and_hydrogens(tmp_path: Path, name: str, close: bool) -> None:
    fielded = ETHANOL_BLOCK + ">  <score>\n-7.5\n\n> 25 <note>\ntwo\nlines\n\n"
    path = written(tmp_path / name, fielded, block_of(ALANINE, "ala", v3000=True), close=close)
    first, second = load_sdf(path)
    assert smiles_of([first, second]) == ["CCO", ALANINE]
    assert first.fields == {"score": "-7.5", "note": "two\nlines"}
    assert (first.name, second.name) == ("ethanol", "ala")
    assert second.line == len(fielded.splitlines()) + 2
    assert first.mol is not None
    assert first.mol.GetNumAtoms() == 9
    assert first.mol.GetConformer().Is3D()


BAD_SMILES = [
    ("", "the line is empty"),
    ("   ", "the line is empty"),
    ("not_a_smiles", "SMILES Parse Error"),
    ("C1CC", "unclosed ring"),
    ("C(C)(C)(C)(C)C", "Explicit valence for atom # 0 C, 5"),
    ("c1cccc1", "[Cc]an't kekulize"),
    ("[Qq]", "SMILES Parse Error"),
    ("C" * 1001, "1001 atoms; at most 1000"),
    ("C\x1b[31m", "SMILES Parse Error"),
]


@pytest.mark.parametrize(("text", "words"), BAD_SMILES)
def test_a_bad_smiles_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    path = tmp_path / "m.smi"
    path.write_text(f"CCO\n{text}\nCCN\n")
    with pytest.raises(InvalidOutput, match=rf"m.smi, record 2 \(line 2\): .*{words}"):
        load_smiles(path)
    records = load_smiles(path, strict=False)
    assert smiles_of(records) == ["CCO", "", "CCN"]
    assert records[1].fault.startswith("m.smi, record 2 (line 2): ")
    assert records[1].fault.isprintable()
    assert capfd.readouterr() == ("", "")


def counts(atoms: int, bonds: int) -> str:
    return f"x\n\n\n{atoms:3d}{bonds:3d}  0  0  0  0  0  0  0  0999 V2000\n"


ATOM = "    0.0000    0.0000    0.0000 {:<3} 0  0\n"
BAD_BLOCKS = [
    ("", "not a molecule"),
    ("no counts\n\n\n", "not a molecule"),
    (ETHANOL_BLOCK.replace("M  END", "M  EXD"), "not a molecule"),
    (ETHANOL_BLOCK[:200] + "\n", "not a molecule"),
    (counts(1, 0) + ATOM.format("Qx") + "M  END\n", "Element 'Qx' not found"),
    (counts(9, 0) + ATOM.format("C") + "M  END\n", "not a molecule"),
    (counts(0, 0) + "M  END\n", "there is no atom"),
    (counts(1, 1) + ATOM.format("C") + "  1  1  1\nM  END\n", ""),
    (counts(1, 1) + ATOM.format("C") + "  1  7  1\nM  END\n", ""),
    (
        counts(6, 15)
        + 6 * ATOM.format("C")
        + "".join(f"{a:3d}{b:3d}  1\n" for b in range(2, 7) for a in range(1, b))
        + "M  END\n",
        "15 bonds between 6 atoms",
    ),
]


@pytest.mark.parametrize(("block", "words"), BAD_BLOCKS)
def test_a_bad_sdf_record_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], block: str, words: str
) -> None:
    path = written(tmp_path / "m.sdf", ETHANOL_BLOCK, block, ETHANOL_BLOCK)
    line = len(ETHANOL_BLOCK.splitlines()) + 2
    with pytest.raises(InvalidOutput, match=rf"m.sdf, record 2 \(line {line}\): .*{words}"):
        load_sdf(path)
    records = load_sdf(path, strict=False)
    assert smiles_of(records) == ["CCO", "", "CCO"]
    assert capfd.readouterr() == ("", "")


def test_a_record_that_is_not_utf8_costs_one_record(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sdf", ETHANOL_BLOCK, ETHANOL_BLOCK)
    path.write_bytes(path.read_bytes().replace(b"ethanol", b"\xe9thanol", 1))
    first, second = load_sdf(path, strict=False)
    assert first.fault == "m.sdf, record 1 (line 1): not UTF-8 at byte 0"
    assert second.mol is not None


def test_limits_of_the_file(tmp_path: Path) -> None:
    sdf = written(tmp_path / "m.sdf", ETHANOL_BLOCK, ETHANOL_BLOCK)
    smi = tmp_path / "m.smi"
    smi.write_text("C\nCC\n")
    with pytest.raises(InvalidOutput, match=r"m.sdf has more than 1 records"):
        load_sdf(sdf, max_molecules=1)
    with pytest.raises(InvalidOutput, match=r"m.smi has more than 1 lines"):
        load_smiles(smi, max_molecules=1)
    with pytest.raises(InvalidOutput, match="bytes; at most 100"):
        load_sdf(sdf, max_bytes=100)
    smi.write_text("C" * 10_000)
    with pytest.raises(InvalidOutput, match=r"m.smi:1: the line is over"):
        load_smiles(smi)
    with pytest.raises(InvalidOutput, match=r"no file 'absent.sdf'"):
        load_sdf(tmp_path / "absent.sdf")
    (tmp_path / "link.sdf").symlink_to(sdf)
    with pytest.raises(InvalidOutput, match="plain file"):
        load_sdf(tmp_path / "link.sdf")


def test_a_bomb_is_not_unpacked_and_a_cut_archive_is_named(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.sdf.gz"
    bomb.write_bytes(gzip.compress(b"\n" * 50_000_000))
    with pytest.raises(InvalidOutput, match=r"bomb.sdf.gz:1: the record is over"):
        load_sdf(bomb)
    bomb.write_bytes(gzip.compress(b"x\n$$$$\n" * 1_000_000))
    with pytest.raises(InvalidOutput, match="unpacks to more than 100000 bytes"):
        load_sdf(bomb, max_bytes=100_000, strict=False)
    cut = written(tmp_path / "cut.sdf.gz", ETHANOL_BLOCK)
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(InvalidOutput, match=r"cut.sdf.gz can't be unpacked"):
        load_sdf(cut)
    cut.write_bytes(b"plain text")
    with pytest.raises(InvalidOutput, match=r"cut.sdf.gz can't be unpacked"):
        load_sdf(cut)


def test_one_smiles_from_a_stranger() -> None:
    mol, reason = parse_smiles(ASPIRIN)
    assert (Chem.MolToSmiles(mol), reason) == (ASPIRIN, "")
    assert parse_smiles("  ") == (None, "the SMILES is empty")
    assert parse_smiles("C" * 9000)[1] == "the SMILES has 9000 characters; at most 8192 are read"
    assert parse_smiles("CCO name")[1] == "there is white space within the SMILES"
    assert parse_smiles("[R1]C")[0] is None


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_spoilt_sdf_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    content = bytearray((ETHANOL_BLOCK + "$$$$\n").encode())
    content[at % len(content)] = byte
    path = tmp_path_factory.mktemp("spoilt") / "m.sdf"
    path.write_bytes(content)
    for record in load_sdf(path, strict=False):
        assert (record.mol is None) == bool(record.fault)
        assert not record.fault or record.fault.startswith("m.sdf, record ")


@settings(max_examples=200, deadline=None)
@given(st.text("CNOcno123()[]=#@+-.%H/\\*", max_size=40))
def test_any_text_is_a_molecule_or_has_a_reason(text: str) -> None:
    mol, reason = parse_smiles(text)
    assert (mol is None) == bool(reason)
