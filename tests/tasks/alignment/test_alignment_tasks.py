"""The six tasks on generated stimuli: what they measure, what they refuse, artifacts from elsewhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.adapters.alignment import (
    AdapterBatchDependence,
    AdapterGradientError,
    AdapterShapeError,
    NonFiniteScores,
    VisionModel,
)
from bench.datasets.alignment import digits, stw
from bench.errors import InvalidOutput, MissingRequirement
from bench.spec import Artifact
from tests.tasks.alignment.conftest import Lab, load, model, values

pytestmark = pytest.mark.skipif(digits.locate() is not None, reason=str(digits.locate()))
TASKS = ("similarity", "gloss", "uncertainty", "robustness", "cue_conflict", "attribution")


class Means(VisionModel):
    """Features: means over blocks of 4 x 4."""

    channels, input_hw = 1, (32, 32)

    def features(self, x: Tensor) -> Tensor:
        return torch.nn.functional.avg_pool2d(x, 4).flatten(1)


class Seer(Means):
    """Knows the shape or the texture of an image by looking it up, and answers by it."""

    label_space = "stw10"

    def __init__(self, cue: str) -> None:
        world = load("stw10")
        self.table = {}
        for kind in ("conflict", "matched", "shape", "texture"):
            made = world.pictures(train=False, n=20, cue=kind)
            for image, answer in zip(made.images, getattr(made, cue), strict=True):
                self.table[image.tobytes()] = int(answer)

    def logits(self, x: Tensor) -> Tensor:
        rows = [self.table.get((255 * i).round().to(torch.uint8).numpy().tobytes(), 0) for i in x]
        return 5 * torch.nn.functional.one_hot(torch.tensor(rows), 10).float()


@pytest.mark.parametrize("task", TASKS)
def test_every_task_repeats_to_the_bit_and_reports_every_metric(task: str, lab: Lab) -> None:
    unit = lab.unit(task)
    (first, ctx), (again, _) = (lab.collect(Means(), unit) for _ in range(2))
    assert first.sha256 == again.sha256
    output = lab.score(first, unit, ctx)
    assert set(output.metrics) == {m.name for m in lab.info(task).metrics}
    headline = lab.info(task).primary.name
    value = values(output.metrics)[headline]
    assert value is not None
    kept = next((e for e in output.exhibits if e.name == "replicates"), None)
    assert kept is not None
    content = json.loads((ctx.exhibit_dir / kept.file).read_text())
    assert len(content["y"]) == 200
    assert np.mean(content["y"]) == pytest.approx(value, abs=0.35)


@pytest.mark.parametrize("task", TASKS)
def test_inputs_are_exported_and_answers_from_elsewhere_are_scored(task: str, lab: Lab) -> None:
    unit = lab.unit(task)
    artifact, ctx = lab.collect(Means(), unit)
    inputs = lab.folder / "inputs"
    inputs.mkdir()
    told = lab.task(unit).export_inputs(unit, ctx, inputs)
    assert told["n"] > 0
    assert (inputs / "images.npz").is_file()
    with np.load(artifact.path("answers.npz")) as stored:
        arrays = {name: stored[name][:, :-1] if stored[name].ndim > 1 else stored[name] for name in stored}
    elsewhere = lab.folder / "elsewhere"
    elsewhere.mkdir()
    np.savez(elsewhere / "answers.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(InvalidOutput, match=r"answers.npz\[\w+\]: expected \(trainings, "):
        lab.task(unit).check_artifact(Artifact(dir=elsewhere, sha256="", notes={}), unit, ctx)


def test_a_shape_seer_and_a_texture_seer_stand_at_the_ends(lab: Lab) -> None:
    unit = lab.unit("cue_conflict")
    found = {cue: values(lab.run(Seer(cue), unit).metrics) for cue in ("shape", "texture")}
    assert (found["shape"]["shape_bias"], found["texture"]["shape_bias"]) == (1.0, 0.0)
    assert found["shape"]["human_gap"] == pytest.approx(1 - 0.9587)
    assert found["shape"]["covered"] == found["shape"]["acc_shape"] == 1.0
    assert found["texture"]["acc_texture"] == 1.0
    assert found["shape"]["kappa"] is None


def test_contrast_follows_the_curve_of_people_but_is_not_the_best_at_gloss(lab: Lab) -> None:
    found = values(lab.run(model("rms-contrast"), lab.unit("gloss", train=60, test=40, scenes=5)).metrics)
    assert (found["curve_r"] or 0) > 0.9
    assert found["gloss"] == pytest.approx(
        ((found["curve_r"] or 0) * (2 * (found["gloss_acc"] or 0) - 1)) ** 0.5
    )


def test_observers_that_know(lab: Lab) -> None:
    unit = lab.unit("robustness")
    oracle = values(lab.run(model("label-oracle"), unit).metrics)
    assert oracle["accuracy"] == 1.0
    assert oracle["kappa"] is None
    assert (oracle["human_gap"] or 0) > 0.1
    guesser = values(lab.run(model("guesser"), unit).metrics)
    assert 0 <= (guesser["accuracy"] or 0) < 0.35
    with pytest.raises(MissingRequirement, match="nobody was asked"):
        lab.run(model("human-loo"), unit)
    with pytest.raises(InvalidOutput, match="derive LabelOracle from"):
        lab.run(model("label-oracle"), lab.unit("gloss"))


def test_the_sweep_has_three_trainings_and_a_head_that_was_never_trained(lab: Lab) -> None:
    unit = lab.unit("uncertainty")
    artifact, ctx = lab.collect(model("jem-050"), unit)
    assert artifact.notes["readout"] == "native"
    with np.load(artifact.path("answers.npz")) as stored:
        assert stored["logits"].shape == stored["probe"].shape == (3, 40, 10)
        assert not np.array_equal(stored["logits"][0], stored["logits"][1])
    assert "readout=probe" in lab.score(artifact, unit, ctx).facets
    generative, _ = lab.collect(model("jem-generative"), unit)
    assert generative.notes["readout"] == "probe"


def test_an_attack_costs_accuracy_and_training_against_it_helps(lab: Lab) -> None:
    unit = lab.unit("robustness", images=20)
    plain, robust = (values(lab.run(model(name), unit).metrics) for name in ("cnn-disc", "cnn-adv"))
    assert (plain["pgd_linf"] or 0) < (robust["pgd_linf"] or 0)
    pixels = values(lab.run(model("pixels"), unit).metrics)
    assert pixels["pgd_linf"] is None


def test_smooth_and_integrated_gradients_and_occlusion(lab: Lab) -> None:
    unit = lab.unit("attribution", images=4, methods="smoothgrad integrated_gradients")
    output = lab.run(model("cnn-disc"), unit)
    assert set(output.facets) == {"method=smoothgrad", "method=integrated_gradients"}

    class Blind(Means):
        differentiable = False

    output = lab.run(Blind(), lab.unit("attribution", images=4))
    assert output.flags == ("occlusion",)
    assert output.notes["method"] == "occlusion"


# What an adapter may do wrong


class Broken(Means):
    label_space = "stw10"

    def logits(self, x: Tensor) -> Tensor:
        return self.features(x)[:, :10]


class NotFinite(Broken):
    def logits(self, x: Tensor) -> Tensor:
        return super().logits(x) * float("nan")


class TooFew(Broken):
    def logits(self, x: Tensor) -> Tensor:
        return super().logits(x)[:, :9]


class Flat(Broken):
    def logits(self, x: Tensor) -> Tensor:
        return super().logits(x)[:, 0]


class Normalised(Means):
    def features(self, x: Tensor) -> Tensor:
        found = super().features(x)
        return found - found.mean(dim=0)


class Detached(Means):
    def features(self, x: Tensor) -> Tensor:
        return super().features(x).detach()


class Probabilities(Broken):
    def logits(self, x: Tensor) -> Tensor:
        return super().logits(x).softmax(dim=1)


@pytest.mark.parametrize(
    ("adapter", "error", "words"),
    [
        (NotFinite, NonFiniteScores, "logits: 400 values of batch 0"),
        (TooFew, AdapterShapeError, r"logits: expected \(40, 10\), got \(40, 9\)"),
        (Flat, AdapterShapeError, r"logits: expected \(40, 10\), got \(40,\)"),
        (Normalised, AdapterBatchDependence, "evaluation mode"),
    ],
)
def test_broken_outputs_are_explained(adapter: Any, error: Any, words: str, lab: Lab) -> None:
    with pytest.raises(error, match=words):
        lab.collect(adapter(), lab.unit("uncertainty"))


def test_a_gradient_that_is_not_there_is_an_error(lab: Lab) -> None:
    with pytest.raises(AdapterGradientError, match="differentiable = False"):
        lab.collect(Detached(), lab.unit("attribution"))


def test_probabilities_in_place_of_logits_are_flagged(lab: Lab) -> None:
    assert "looks-like-probabilities" in lab.run(Probabilities(), lab.unit("uncertainty")).flags


def test_a_limit_takes_fewer_items(lab: Lab) -> None:
    assert stw.CLASSES == 10
    unit = lab.unit("cue_conflict", images=7)
    artifact, _ = lab.collect(Means(), unit)
    with np.load(artifact.path("answers.npz")) as stored:
        assert stored["conflict"].shape == (1, 7)
