"""The script that made the shipped weights: one plan for all, hashes that agree, files that it writes."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load

from bench.catalog.alignment_models import LAMBDAS
from bench.datasets.alignment import digits

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "train_alignment_models.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_alignment_models", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_lambdas_are_trained_alike(script: ModuleType) -> None:
    assert script.LAMBDAS == LAMBDAS
    plans = {dataclasses.replace(script.plan(lam, 1), lam=0.5) for lam in LAMBDAS}
    assert len(plans) == 1
    states = [script.fresh(2).state_dict() for _ in range(2)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_the_shipped_files_are_those_of_the_log(script: ModuleType) -> None:
    log = json.loads((script.WEIGHTS / "training.json").read_text())
    assert len(log) == 3 * len(LAMBDAS) + 2
    assert script.table(log) == script.HASHES.read_text()
    assert all(entry["restarts"] == 0 for name, entry in log.items() if name.startswith("jem"))
    assert all(
        entry["test_accuracy"] > 0.97 for name, entry in log.items() if name[:7] in ("jem-000", "jem-050")
    )


@pytest.mark.skipif(digits.locate() is not None, reason=str(digits.locate()))
def test_it_trains_and_writes(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {train: script.images(train_split=train) for train in (True, False)}
    few = {train: (x[:40], y[:40]) for train, (x, y) in few.items()}
    monkeypatch.setattr(script, "images", lambda *, train_split: few[train_split])
    monkeypatch.setattr(script, "LAMBDAS", (0.5,))
    long = script.plan(0.5, 0)
    monkeypatch.setattr(
        script, "plan", lambda lam, seed: dataclasses.replace(long, lam=lam, iterations=2, batch=8)
    )
    monkeypatch.setattr(sys, "argv", ["train", "jem", "--seeds", "1", "--out", str(tmp_path)])
    threads, exact = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    try:
        script.main()
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(exact)
    assert all(
        v.dtype == torch.float16 for v in load((tmp_path / "jem-050-0.safetensors").read_bytes()).values()
    )
    assert json.loads((tmp_path / "training.json").read_text())["jem-050-0"]["restarts"] == 0
