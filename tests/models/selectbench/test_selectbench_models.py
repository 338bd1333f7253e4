"""The reference models: the same again from the same seed, within what was asked, twins at equal cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rdkit import Chem

from bench.adapters.selectbench import DesignRequest, MoleculeGenerator, OracleBudgetError, Pocket
from bench.catalog.selectbench import MODELS
from bench.datasets.selectbench.drugs import approved_drugs
from bench.datasets.selectbench.ligands import ligands_of
from bench.errors import MissingRequirement
from bench.models.selectbench import char_rnn
from bench.models.selectbench._search import goals
from bench.models.selectbench.add_carbon import EXTRA, methylated
from bench.models.selectbench.known import nearest
from bench.models.selectbench.selfies_ga import mutated
from bench.registry import resolve

DRUGS = tuple(drug.smiles for drug in approved_drugs())
N = 5


class FakeOracle:
    """Likes long SMILES on JAK2 and short ones on LCK."""

    def __init__(self, calls: int) -> None:
        self.calls_left = calls

    def score(self, smiles: Sequence[str], targets: Sequence[str]) -> np.ndarray:
        if len(smiles) * len(targets) > self.calls_left:
            raise OracleBudgetError
        self.calls_left -= len(smiles) * len(targets)
        slope = {"JAK2": -0.1, "LCK": 0.05}
        return np.array([[-6.0 + slope[t] * len(s) for t in targets] for s in smiles])

    def dock(self, smiles: Sequence[str], target: str) -> list[Any]:
        self.calls_left -= len(smiles)
        return [Chem.MolFromSmiles(s) for s in smiles]


def pocket(target: str) -> Pocket:
    return Pocket(
        target_id=target,
        receptor_pdbqt=Path(f"{target}.pdbqt"),
        receptor_pdb=Path(f"{target}.pdb"),
        center=(0.0, 0.0, 0.0),
        size=(30.0, 30.0, 30.0),
        uniprot="",
        family="kinase",
    )


def request_for(model: MoleculeGenerator, folder: Path, **changes: Any) -> DesignRequest:
    fields: dict[str, Any] = {
        "task": "case_studies",
        "case": "jak2_lck",
        "on": pocket("JAK2"),
        "off": (pocket("LCK"),) if model.track == "informed" else (),
        "n": N,
        "seed": 3,
        "device": "cpu",
        "oracle_calls": 20 if model.asks_oracle else 0,
        "drugs": DRUGS[:150],
        "ligands": {t: tuple(ligands_of(t).values()) for t in ("JAK2", "LCK")} if model.sees_ligands else {},
        "cache_dir": folder,
    }
    return DesignRequest(**{**fields, **changes})


def made(name: str) -> MoleculeGenerator:
    info = next(m for m in MODELS if m.name == name)
    model: MoleculeGenerator = resolve(info.entry)(**info.params)
    model.info = info
    return model


def generated(name: str, folder: Path, **changes: Any) -> tuple[list[str | None], int]:
    """(SMILES, oracle calls left)."""
    model = made(name)
    if name == "char_rnn":
        model._steps = 3  # type: ignore[attr-defined]
    request = request_for(model, folder, **changes)
    oracle = FakeOracle(request.oracle_calls) if model.asks_oracle else None
    designs = model.generate(request, oracle)
    return [design.smiles for design in designs], oracle.calls_left if oracle else 0


@pytest.mark.parametrize("name", [m.name for m in MODELS if m.name != "random_zinc"])
def test_the_same_seed_gives_the_same_molecules(name: str, tmp_path: Path) -> None:
    first, left = generated(name, tmp_path / "a")
    assert (first, left) == generated(name, tmp_path / "b")
    assert len(first) == N
    assert left >= 0
    if name != "char_rnn":  # which hands in what it writes
        assert all(smiles and Chem.MolFromSmiles(smiles) is not None for smiles in first)
        assert len(set(first)) == N
    if name not in ("known_on", "known_off"):
        assert generated(name, tmp_path / "a", seed=4)[0] != first


@pytest.mark.parametrize("pair", ["best_of_n", "graph_ga", "selfies_ga"])
def test_twins_spend_the_same_and_the_guided_one_reaches_a_wider_window(pair: str, tmp_path: Path) -> None:
    found = {}
    for objective in ("on", "sel"):
        smiles, left = generated(f"{pair}_{objective}", tmp_path, oracle_calls=40)
        assert left == 0
        scores = FakeOracle(100).score([s or "" for s in smiles], ["JAK2", "LCK"])
        found[objective] = scores
    assert np.median(found["on"][:, 0]) <= np.median(found["sel"][:, 0]) + 0.5  # it looks at twice as many


def test_the_objective_by_hand() -> None:
    scores = np.array([[-9.0, -8.0], [-9.0, -5.0], [-7.0, -5.0], [np.nan, -5.0], [-9.0, np.nan]])
    assert goals(scores, "on").tolist() == [-9.0, -9.0, -7.0, 1000.0, -9.0]
    assert goals(scores, "sel").tolist() == pytest.approx([-9.0 + 0.3642, -9.0, -7.0, 1000.0, 1000.0])


def test_known_ligands_come_first_and_then_their_like(tmp_path: Path) -> None:
    on, _ = generated("known_on", tmp_path, n=12)
    ligands = list(ligands_of("JAK2").values())
    assert on[: len(ligands)] == ligands
    assert len(set(on)) == 12
    off, _ = generated("known_off", tmp_path, n=2)
    assert off == list(ligands_of("LCK").values())[:2]
    with pytest.raises(MissingRequirement, match="no literature ligand"):
        generated("known_on", tmp_path, ligands={})
    assert nearest(["CCO"], ["OCC", "CCCO", "c1ccccc1"], 1) == ["CCCO"]


def test_the_attack_adds_carbons_to_the_random_drugs(tmp_path: Path) -> None:
    plain, _ = generated("random_drugs", tmp_path)
    grown, _ = generated("add_carbon", tmp_path)
    for before, after in zip(plain, grown, strict=True):
        sizes = [Chem.MolFromSmiles(s).GetNumHeavyAtoms() for s in (before, after)]
        assert sizes[1] == sizes[0] + EXTRA
    assert methylated("C(F)(F)(F)F", 3, np.random.default_rng(0)) == "FC(F)(F)F"
    assert methylated("[C@H](F)(Cl)Br", 1, np.random.default_rng(0)).count("C") > 1


def test_selfies_mutations_are_molecules_of_common_elements() -> None:
    rng, smiles = np.random.default_rng(0), DRUGS[0]
    children = [child for _ in range(60) if (child := mutated(smiles, rng))]
    assert len(set(children)) > 10
    assert all(Chem.MolFromSmiles(child) is not None and "." not in child for child in children)


def test_the_network_learns_what_it_is_shown() -> None:
    drugs = ["CCO", "CCN"] * 40
    symbols = char_rnn.alphabet(drugs)
    assert symbols == ["C", "N", "O"]
    assert char_rnn.symbols_of("C[C@@H](Br)Cl") == ["C", "[C@@H]", "(", "Br", ")", "Cl"]
    network = char_rnn._Writer(len(symbols) + 1)
    state = torch.random.get_rng_state()
    char_rnn.train(network, drugs, symbols, steps=60)
    assert torch.equal(torch.random.get_rng_state(), state)
    written = char_rnn.sample(network, symbols, 50, seed=1)
    assert written == char_rnn.sample(network, symbols, 50, seed=1)
    ethers = {"CCO", "OCC", "C(C)O", "C(O)C", "CCN", "NCC", "C(C)N", "C(N)C"}
    assert sum(text in ethers for text in written) > 40


def test_weights_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = generated("char_rnn", tmp_path)
    monkeypatch.setattr(char_rnn, "train", lambda *_, **__: pytest.fail("trained again"))
    assert generated("char_rnn", tmp_path)[0] == first
