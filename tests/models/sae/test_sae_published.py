"""Twelve published layouts: codes and reconstructions are those of the libraries that wrote them."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.adapters.sae import Activations, TrainBudget
from bench.adapters.sae_published import PublishedCoder, read_published
from bench.errors import InvalidOutput

FORMATS = Path(__file__).resolve().parents[4] / "shared" / "data" / "sae" / "formats"
here = pytest.mark.skipif(
    not (FORMATS / "expected.json").is_file(), reason="no weights in ../shared/data/sae/formats"
)
LAYOUTS = (
    "saelens_topk", "saelens_jumprelu", "saelens_standard", "saelens_gated", "dictlearn_AutoEncoder",
    "dictlearn_GatedAutoEncoder", "dictlearn_JumpReluAutoEncoder", "dictlearn_AutoEncoderTopK",
    "dictlearn_BatchTopKSAE", "dictlearn_MatryoshkaBatchTopKSAE", "sparsify", "gemmascope",
)  # fmt: skip


def folder(name: str) -> Path:
    return FORMATS / name / "layers.9" if name == "sparsify" else FORMATS / name


@here
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_codes_and_reconstructions(name: str, scale: float) -> None:
    expected = json.loads((FORMATS / "expected.json").read_text())
    rows = torch.tensor(expected["x"])
    coder = PublishedCoder(path=str(folder(name)))
    coder.setup(None)
    data = Activations(rows=rows * scale, mean=rows.mean(dim=0), scale=scale)
    budget = TrainBudget(train_rows=0, seconds=1.0)
    coder.fit(data, n_latents=16, target_l0=3, budget=budget, seed=0, device="cpu")
    codes = coder.encode(rows * scale)
    assert codes.numpy() == pytest.approx(np.array(expected[name]["f"]), abs=1e-4)
    rebuilt = coder.decode(codes) / scale
    assert rebuilt.numpy() == pytest.approx(np.array(expected[name]["x_hat"]), abs=1e-4)
    atoms, bias = coder.decoder()
    assert (codes @ atoms + bias).numpy() == pytest.approx(coder.decode(codes).numpy(), abs=1e-5)


@here
def test_the_activation_function_of_old_saelens_files_counts(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "saelens_topk", tmp_path / "old")
    config = {"architecture": "standard", "activation_fn_str": "topk", "activation_fn_kwargs": {"k": 2}}
    (tmp_path / "old" / "cfg.json").chmod(0o644)
    (tmp_path / "old").chmod(0o755)
    (tmp_path / "old" / "cfg.json").write_text(json.dumps({**config, "hook_point": "x"}))
    assert read_published(tmp_path / "old").k == 2


@here
def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match="no known layout"):
        read_published(tmp_path)
    shutil.copytree(FORMATS / "saelens_standard", tmp_path / "a")
    (tmp_path / "a").chmod(0o755)
    (tmp_path / "a" / "cfg.json").chmod(0o644)
    (tmp_path / "a" / "cfg.json").write_text(json.dumps({"normalize_activations": "layer_norm"}))
    with pytest.raises(InvalidOutput, match="normalize_activations is 'layer_norm'"):
        read_published(tmp_path / "a")
    (tmp_path / "a" / "cfg.json").write_text(json.dumps({"architecture": "gated"}))
    with pytest.raises(InvalidOutput, match="lack the tensor 'b_gate'"):
        read_published(tmp_path / "a")
    coder = PublishedCoder(path=str(FORMATS / "gemmascope"))
    coder.setup(None)
    rows = torch.ones(3, 5)
    data = Activations(rows=rows, mean=rows[0], scale=1.0)
    budget = TrainBudget(train_rows=0, seconds=1.0)
    with pytest.raises(InvalidOutput, match="are for 6 dimensions"):
        coder.fit(data, n_latents=16, target_l0=3, budget=budget, seed=0, device="cpu")


class Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("code in a pickle ran",)


def test_code_in_pickles_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ae.pt").write_bytes(pickle.dumps({"W_enc": Harm()}))
    (tmp_path / "config.json").write_text(json.dumps({"trainer": {"dict_class": "AutoEncoder"}}))
    with pytest.raises(InvalidOutput, match="more than tensors"):
        read_published(tmp_path)
    assert capsys.readouterr().out == ""
