"""`images.fewstep`: one fit, many numbers of evaluations, paths that are followed, faults."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.adapters.images import ImageGenerator
from bench.artifacts import artifact_digest
from bench.catalog.images import MODELS
from bench.catalog.images_fewstep import FEWSTEP_TASK
from bench.datasets.images import digits
from bench.errors import InvalidOutput
from bench.models.images.exact_flow import ExactFlow
from bench.models.images.real_hold import RealHold
from bench.spec import Artifact, Context, TaskOutput, Unit
from bench.tasks.images.fewstep import FewSteps, evaluations, follow
from bench.validate import check_output


def unit(**settings: Any) -> Unit:
    return Unit(
        task=FEWSTEP_TASK.name, dataset="digits", repeat=0, size="tiny", seed=3, limit=None,
        settings={**FEWSTEP_TASK.sizes["tiny"].settings, **settings},
    )  # fmt: skip


def context(folder: Path) -> Context:
    for name in ("artifact", "exhibits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return Context(
        device="cpu", seed=3, size="tiny", limit=None, deadline=time.monotonic() + 600, cache_dir=folder / "cache",
        artifact_dir=folder / "artifact", exhibit_dir=folder / "exhibits", load_dataset=lambda _: digits.load(),
    )  # fmt: skip


def task() -> FewSteps:
    made = FewSteps()
    made.info = FEWSTEP_TASK
    return made


def collected(adapter: Any, folder: Path, asked: Unit) -> tuple[Artifact, Context]:
    ctx = context(folder)
    notes = task().collect(adapter, asked, ctx)
    return Artifact(dir=ctx.artifact_dir, sha256=artifact_digest(ctx.artifact_dir)[0], notes=notes), ctx


def run(adapter: Any, folder: Path, asked: Unit) -> TaskOutput:
    artifact, ctx = collected(adapter, folder, asked)
    task().check_artifact(artifact, asked, ctx)
    output = task().score(artifact, asked, ctx)
    check_output(output, FEWSTEP_TASK, ctx.exhibit_dir)
    return output


def value(output: TaskOutput, metric: str, facet: str = "") -> Any:
    found: Any = output.facets[facet][metric] if facet else output.metrics[metric]
    return found.value


def test_models_that_take_part() -> None:
    names = {card.name for card in MODELS if FEWSTEP_TASK.takes(card)}
    assert {"flow", "ot-cfm", "tpc", "exact-fm-64", "ddpm-small", "real-hold"} <= names
    assert not names & {"exact-fm-8", "kde", "vae-16", "train-copy", "held-out-blur"}


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> TaskOutput:
    asked = unit(n=250, fit=400, evaluations="1,4,64", paths=16)
    return run(ExactFlow(), tmp_path_factory.mktemp("exact"), asked)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> TaskOutput:
    return run(RealHold(), tmp_path_factory.mktemp("held"), unit(n=250, fit=400, evaluations="1,4,64"))


def test_exact_flow_passes_the_classical_metrics_and_is_caught(exact: TaskOutput, held: TaskOutput) -> None:
    last = "nfe=64"
    assert value(exact, "fd", last) < 1.25 * value(held, "fd", last)
    assert value(exact, "precision", last) > value(held, "precision", last) - 0.05
    assert value(exact, "recall", last) > value(held, "recall", last) - 0.1
    assert value(exact, "g2r_ratio", last) < 1.05
    assert value(exact, "authenticity", last) <= 0.01
    assert value(exact, "memorisation_ratio", last) < 0.1
    assert value(held, "authenticity", last) > 0.3
    assert (exact.flags, held.flags) == (("copying",), ())


def test_one_step_of_the_exact_flow_is_the_mean_image(exact: TaskOutput) -> None:
    assert value(exact, "r2g_ratio", "nfe=1") > 1.4
    assert value(exact, "precision", "nfe=1") in (0.0, 1.0)  # one point, in or out
    ratio: Any = exact.facets["nfe=1"]["memorisation_ratio"]
    assert ratio.value is None
    assert "fewer than 20 different images" in ratio.reason


def test_the_headline_is_that_of_four_evaluations(exact: TaskOutput) -> None:
    for metric in ("chamfer_dev", "fd", "precision"):
        assert value(exact, metric) == value(exact, metric, "nfe=4")
    assert evaluations(unit(evaluations="8,1")) == (1, 4, 8)


def test_straightness_needs_a_velocity(exact: TaskOutput, held: TaskOutput) -> None:
    assert value(exact, "straightness") > 0.05
    found: Any = held.metrics["straightness"]
    assert (found.value, found.reason) == (None, "the model offers no velocity to follow")
    oracle: Any = held.metrics["memorisation_ratio"]
    assert "held-out" in oracle.reason


class Straight(ImageGenerator):
    """Moves every noise by the same amount."""

    speed = 0.5

    def velocity(self, x: Tensor, t: Tensor) -> Tensor:
        return torch.full_like(x, self.speed)

    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
        assert nfe is not None
        return np.random.default_rng([seed, nfe]).integers(0, 256, (n, 1, 8, 8), dtype=np.uint8)


def test_paths_are_followed_from_noise_in_small_steps() -> None:
    paths = follow(Straight(), 5, (1, 8, 8), 7, "cpu")
    assert paths["velocities"].shape == (10, 5, 1, 8, 8)
    assert np.abs(paths["end"] - paths["start"] - 0.5).max() < 1e-4  # a hundred roundings
    assert np.array_equal(paths["start"], follow(Straight(), 5, (1, 8, 8), 7, "cpu")["start"])


def test_straight_paths_have_straightness_zero(tmp_path: Path) -> None:
    assert value(run(Straight(), tmp_path, unit(n=30)), "straightness") < 1e-9


class Wrong(Straight):
    def velocity(self, x: Tensor, t: Tensor) -> Any:
        return x[:1]


class NotFinite(Straight):
    speed = float("nan")


class Colour(Straight):
    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
        return np.zeros((n, 3, 8, 8), np.uint8)


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (Wrong(), r"velocity must return a tensor like x, \(8, 1, 8, 8\)"),
        (NotFinite(), "paths.npz: start, end and velocities must be finite"),
        (Colour(), "expected uint8 NCHW"),
        (object(), "must have sample"),
    ],
)
def test_faults_are_explained(adapter: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match=message):
        run(adapter, tmp_path, unit(n=30))


def test_an_artifact_must_have_every_number(tmp_path: Path) -> None:
    asked = unit(n=30)
    artifact, ctx = collected(Straight(), tmp_path, asked)
    more = unit(n=30, evaluations="1,2")
    with pytest.raises(InvalidOutput, match="nfe_2"):
        task().check_artifact(artifact, more, ctx)


def test_what_a_command_is_told(tmp_path: Path) -> None:
    told = task().export_inputs(unit(), context(tmp_path), tmp_path)
    assert told["evaluations"] == [1, 4]
    assert (tmp_path / "fit.npz").is_file()
    assert "nfe_4" in told["output"]["images.npz"]
