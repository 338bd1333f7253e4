"""Reference models of the alignment family: contrast and Gabor filters by hand, weights that are checked."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from bench.adapters.alignment import Known
from bench.errors import MissingRequirement
from bench.models.alignment import trained
from bench.models.alignment._hashes import SHA256
from bench.models.alignment.observers import Guesser, LabelOracle, LeaveOneOut
from bench.models.alignment.plain import GaborV1, RandomCnn, RmsContrast
from bench.models.alignment.torchvision_model import FOLDER, TorchvisionModel
from bench.models.alignment.trained import WEIGHTS, Autoencoder, SmallNetwork

HERE: Any = SimpleNamespace(device="cpu", seed=0)


def grating(frequency: float, degrees: float) -> torch.Tensor:
    at = torch.arange(32.0)
    y, x = torch.meshgrid(at, at, indexing="ij")
    angle = math.radians(degrees)
    wave = torch.cos(2 * math.pi * frequency * (x * math.cos(angle) + y * math.sin(angle)))
    return (0.5 + 0.3 * wave)[None, None]


def test_gabor_filters_answer_most_to_their_own_grating() -> None:
    model = GaborV1()
    model.setup(HERE)
    for k, frequency in enumerate((0.07, 0.12, 0.2, 0.33)):
        for i in (0, 3, 6):
            energy = model.features(grating(frequency, 22.5 * i)).reshape(4, 8, 16).sum(dim=2)
            assert np.unravel_index(int(energy.argmax()), (4, 8)) == (k, i)
    assert float(model.features(torch.full((1, 1, 32, 32), 0.7)).max()) < 0.2  # blind to brightness


def test_contrast_is_the_standard_deviation() -> None:
    x = torch.rand(3, 1, 64, 64, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(RmsContrast().features(x)[:, 0], x.flatten(1).std(dim=1, unbiased=False), atol=1e-6)


def test_the_random_network_is_always_the_same_and_leaves_the_global_stream_alone() -> None:
    first, again = RandomCnn(), RandomCnn()
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    first.setup(HERE)
    assert torch.equal(torch.rand(1), expected)
    again.setup(HERE)
    x = torch.rand(2, 1, 32, 32)
    assert torch.equal(first.features(x), again.features(x))


def test_every_shipped_file_is_pinned_small_and_trained_thrice() -> None:
    files = {path.stem: path for path in WEIGHTS.glob("*.safetensors")}
    assert files.keys() == SHA256.keys()
    assert max(path.stat().st_size for path in files.values()) < 1_000_000
    assert SmallNetwork("jem-050").runs == 3
    assert (SmallNetwork("robust").runs, Autoencoder("autoencoder").runs) == (1, 1)


def test_trainings_differ_and_changed_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, x = SmallNetwork("jem-050"), torch.rand(2, 1, 32, 32)
    model.setup(HERE)
    first = model.logits(x)
    model.use_run(1)
    assert not torch.allclose(model.logits(x), first)
    (tmp_path / "jem-050-0.safetensors").write_bytes(b"changed")
    monkeypatch.setattr(trained, "WEIGHTS", tmp_path)
    with pytest.raises(MissingRequirement, match="has SHA-256"):
        model.use_run(0)
    with pytest.raises(MissingRequirement, match="train_alignment_models"):
        model.use_run(2)


def test_observers() -> None:
    labels, responses = np.arange(6) % 3, np.array([[0, 1, 2, 0, 1, -1], [0, 0, 0, 0, 0, 0]])
    known = Known(classes=3, labels=labels, responses=responses, seed=1)
    assert LabelOracle().answers(known).decisions.tolist() == [labels.tolist()]
    people = LeaveOneOut().answers(known)
    assert (people.decisions.tolist(), people.left_out) == (responses.tolist(), (0, 1))
    guesses = Guesser().answers(known).decisions
    assert np.array_equal(guesses, Guesser().answers(known).decisions)
    assert set(guesses.ravel()) <= {0, 1, 2}


def test_torchvision_reads_weights_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision.models import get_model

    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(MissingRequirement, match=FOLDER):
        TorchvisionModel("resnet18").setup(HERE)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    torch.manual_seed(0)
    network = get_model("resnet18", weights=None).eval()
    torch.save(network.state_dict(), tmp_path / "resnet18.pth")
    model = TorchvisionModel("resnet18")
    model.setup(HERE)
    x = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        assert model.features(x).shape == (2, 512)
        assert torch.allclose(network.fc(model.features(x)), model.logits(x), atol=1e-5)
    (tmp_path / "resnet18.pth").write_bytes(b"no weights")
    with pytest.raises(MissingRequirement, match="holds no weights of resnet18"):
        model.setup(HERE)
