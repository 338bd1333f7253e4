"""What can be handed in: folders, npz files, features, moments; and encoders that are not there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bench.adapters.image_files import FolderImages, NpzImages, StatisticsFile
from bench.adapters.images import MomentSource
from bench.errors import InvalidOutput, MissingRequirement
from bench.metrics.images import frechet_distance
from bench.models.images.gauss_feature import GaussFeature
from bench.spec import Measure, TaskOutput
from bench.tasks.images import fidelity, protocol
from bench.tasks.images.encoders import load_encoder
from bench.tasks.images.fidelity import ImageFidelity
from bench.tasks.images.protocol import image_unit

from .conftest import INFO, Bench, load_dataset


def held_out(n: int = 150) -> np.ndarray:
    images: np.ndarray = load_dataset("digits").hold.images[:n]
    return images


def value(output: TaskOutput, metric: str) -> float:
    measure = output.metrics[metric]
    assert isinstance(measure, Measure)
    assert measure.value is not None
    return measure.value


def pictures(folder: Path, images: np.ndarray) -> None:
    for index, image in enumerate(images):
        home = folder / f"part{index % 3}"
        home.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image[0]).save(home / f"{index:04}.png")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The same 150 held-out digits in every form."""
    images = held_out()
    pictures(tmp_path / "samples", images)
    np.savez(tmp_path / "nchw.npz", images=images)
    np.savez(tmp_path / "nhwc.npz", images=images.transpose(0, 2, 3, 1))
    np.savez(tmp_path / "unnamed.npz", images.transpose(0, 2, 3, 1))
    return tmp_path


@pytest.mark.parametrize(
    ("wrapper", "name"),
    [(FolderImages, "samples"), (NpzImages, "nchw.npz"), (NpzImages, "nhwc.npz"), (NpzImages, "unnamed.npz")],
)
def test_every_form_holds_the_same_images(wrapper: Any, name: str, files: Path, bench: Bench) -> None:
    artifact, context = bench.collect(wrapper(path=str(files / name)), bench.unit())
    images = np.load(artifact.path("images.npz"))["images"]
    assert images.shape == (100, 1, 8, 8)
    assert len(np.unique(images, axis=0)) == 100
    assert {image.tobytes() for image in images} <= {image.tobytes() for image in held_out()}
    output = bench.score(artifact, bench.unit(), context)
    assert value(output, "precision") > 0.8


def test_another_seed_draws_another_subset(files: Path) -> None:
    model = NpzImages(path=str(files / "nchw.npz"))
    model.fit(held_out(2), None, seed=0, device="cpu", budget_s=1.0)
    one, two, again = (model.sample(50, seed=seed) for seed in (1, 2, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)


def test_a_path_is_relative_to_the_file_of_the_class(tmp_path: Path, bench: Bench) -> None:
    np.savez(tmp_path / "mine.npz", images=held_out())
    (tmp_path / "model.py").write_text(
        "from bench.adapters.image_files import NpzImages\n\n\nclass Mine(NpzImages):\n    path = 'mine.npz'\n"
    )
    spec = importlib.util.spec_from_file_location("a_submitted_module", tmp_path / "model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        artifact, _ = bench.collect(module.Mine(), bench.unit())
    finally:
        del sys.modules[spec.name]
    assert artifact.names() == ["images.npz"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"images": held_out(99)}, "has 99 images, 100 are asked for"),
        ({"images": held_out() / 255.0}, r"expected uint8 .* got float64 \(150, 1, 8, 8\)"),
        ({"images": np.zeros((150, 1, 9, 9), np.uint8)}, r"got uint8 \(150, 1, 9, 9\)"),
        ({"pictures": held_out()}, "must have one of the arrays 'images' and 'arr_0'; it has 0"),
        ({"images": held_out(), "arr_0": held_out()}, "it has 2"),
        ({"images": np.array([{}], dtype=object)}, "objects"),
    ],
)
def test_bad_npz_files_are_refused(arrays: Any, message: str, tmp_path: Path, bench: Bench) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(InvalidOutput, match=message):
        bench.collect(NpzImages(path=str(tmp_path / "x.npz")), bench.unit())


def test_bad_folders_are_refused(tmp_path: Path, bench: Bench) -> None:
    pictures(tmp_path / "few", held_out(7))
    with pytest.raises(InvalidOutput, match="few has 7 images, 100 are asked for"):
        bench.collect(FolderImages(path=str(tmp_path / "few")), bench.unit())
    Image.fromarray(np.zeros((9, 9), np.uint8)).save(tmp_path / "few" / "wrong.png")
    with pytest.raises(InvalidOutput, match=r"wrong\.png is 9 x 9 pixels"):
        bench.collect(FolderImages(path=str(tmp_path / "few")), bench.unit())
    with pytest.raises(InvalidOutput, match="FolderImages names no file; give it `path`"):
        FolderImages()


def handed_in(bench: Bench, file: str, **arrays: Any) -> tuple[Any, Any]:
    context = bench.context(bench.unit())
    np.savez(context.artifact_dir / file, **arrays)
    return bench.artifact(context, {}), context


def test_an_artifact_may_name_its_array_as_numpy_does(bench: Bench) -> None:
    outputs = []
    for arrays in (
        {"images": held_out(100)},
        {"arr_0": held_out(100)},
        {"arr_0": held_out(100).transpose(0, 2, 3, 1)},
    ):
        artifact, context = handed_in(bench, "images.npz", **arrays)
        ImageFidelity().check_artifact(artifact, bench.unit(), context)
        outputs.append(bench.score(artifact, bench.unit(), context).metrics)
    assert outputs[0] == outputs[1] == outputs[2]


# Moments


def moments(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    flat = images.reshape(len(images), -1) / 255.0
    return flat.mean(axis=0), np.cov(flat.T)


def test_moments_give_the_frechet_distance_and_nothing_else(bench: Bench, tmp_path: Path) -> None:
    mean, covariance = moments(held_out())
    np.savez(tmp_path / "s.npz", mu=mean, sigma=covariance)
    output = bench.run(StatisticsFile(path=str(tmp_path / "s.npz")))
    plan = image_unit(load_dataset("digits"), bench.unit())
    real = load_encoder("pixels").encode(plan.reference_images())
    generated = held_out().reshape(150, -1) / 255.0
    expected = frechet_distance(real=real, generated=generated).distance
    assert value(output, "fd") == pytest.approx(expected, rel=1e-6)
    assert set(output.metrics) == {metric.name for metric in INFO.metrics}
    for name, measure in output.metrics.items():
        assert isinstance(measure, Measure)
        if name != "fd":
            assert measure.value is None
            assert "mean and covariance alone" in measure.reason
    assert not output.exhibits
    assert output.notes["pictures"] == "none: moments only"


def test_moments_are_checked_when_handed_in_as_an_artifact(bench: Bench) -> None:
    mean, covariance = moments(held_out())
    artifact, context = handed_in(bench, "statistics.npz", mu=mean, sigma=covariance)
    ImageFidelity().check_artifact(artifact, bench.unit(), context)
    assert value(bench.score(artifact, bench.unit(), context), "fd") > 0


BAD = np.diag([1.0] * 63 + [-1.0])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"mu": np.zeros(64), "sigma": BAD}, r"positive semidefinite, its smallest eigenvalue is -1"),
        ({"mu": np.zeros(63), "sigma": np.eye(64)}, r"got \(63,\) and \(64, 64\)"),
        ({"mu": np.zeros(10), "sigma": np.eye(10)}, "mu has 10 numbers; the encoder pixels .* has 64"),
        ({"mu": np.full(64, np.nan), "sigma": np.eye(64)}, "must be finite"),
        ({"mu": np.zeros(64), "sigma": np.triu(np.ones((64, 64)))}, "must be symmetric"),
        ({"mu": np.array(["x"] * 64), "sigma": np.eye(64)}, "arrays of numbers"),
        ({"mu": np.zeros(64)}, "lacks the array 'sigma'"),
        ({"mu": np.array([{}], dtype=object), "sigma": np.eye(64)}, "objects"),
    ],
)
def test_bad_moments_are_refused(arrays: Any, message: str, bench: Bench) -> None:
    artifact, context = handed_in(bench, "statistics.npz", **arrays)
    for call in (
        lambda: ImageFidelity().check_artifact(artifact, bench.unit(), context),
        lambda: bench.score(artifact, bench.unit(), context),
    ):
        with pytest.raises(InvalidOutput, match=r"statistics.npz.*" + message):
            call()


class Wrong(MomentSource):
    def moments(self, encoder: str) -> Any:
        return [0.0] * 64, np.eye(64)


def test_a_moment_source_is_checked_when_it_is_collected(bench: Bench) -> None:
    with pytest.raises(InvalidOutput, match="must be arrays of numbers"):
        bench.collect(Wrong(), bench.unit())


# Encoders that are not there


@pytest.fixture
def two_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second encoder whose weights are missing, and one for GPUs, beside `pixels`."""

    def load(name: str) -> Any:
        if name == "absent":
            raise MissingRequirement("encoder absent needs weights: put them into BENCH_MIRROR")
        return load_encoder(name)

    monkeypatch.setattr("bench.tasks.images.encoders.load_encoder", load)
    monkeypatch.setattr("bench.tasks.images.artifact.load_encoder", load)
    monkeypatch.setattr(fidelity, "load_encoder", load)
    monkeypatch.setitem(protocol.ENCODERS_OF, "digits", ("pixels", "absent", "dinov2-vitl14"))


@pytest.mark.parametrize("kind", ["images", "features"])
def test_a_missing_encoder_is_a_facet_without_values_and_with_the_reason(
    kind: str, two_encoders: None, bench: Bench, files: Path
) -> None:
    model: Any = GaussFeature() if kind == "features" else NpzImages(path=str(files / "nchw.npz"))
    output = bench.run(model)
    assert value(output, "fd") >= 0
    for name, reason in (("absent", "BENCH_MIRROR"), ("dinov2-vitl14", "GPUs only")):
        facet = output.facets[f"encoder={name}"]
        assert set(facet) >= {"chamfer_dev", "fd", "kid", "precision"}
        for measure in facet.values():
            assert isinstance(measure, Measure)
            assert measure.value is None
            assert reason in measure.reason


def test_features_of_the_default_encoder_are_enough(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    """A second encoder that could be used, of which nothing was handed in, is a facet that says so."""

    class Halves:
        name, weights_sha256, resize_mode = "halves", "", "none"

        def width(self, image_shape: tuple[int, int, int]) -> int:
            return 32

    def load(name: str) -> Any:
        return Halves() if name == "halves" else load_encoder(name)

    for module in ("encoders", "artifact", "fidelity"):
        monkeypatch.setattr(f"bench.tasks.images.{module}.load_encoder", load)
    monkeypatch.setitem(protocol.ENCODERS_OF, "digits", ("pixels", "halves"))
    rng = np.random.default_rng(0)
    artifact, context = handed_in(bench, "features.npz", pixels=rng.random((100, 64)))
    output = bench.score(artifact, bench.unit(), context)
    assert value(output, "fd") > 0
    measure = output.facets["encoder=halves"]["fd"]
    assert isinstance(measure, Measure)
    assert (measure.value, measure.reason) == (None, "no features of encoder halves were handed in")


def test_encoders_by_data_set_and_size() -> None:
    assert protocol.encoders_of("fashion", "small") == ("fashion-cnn", "pixels")
    assert protocol.encoders_of("cifar10", "small") == ("efflite0-64", "pixels")
    full = protocol.encoders_of("cifar10", "full")
    assert full[0] == "efflite0-64"
    assert len(full) == len(set(full))
    assert {"inception-fid", "dinov2-vitl14"} <= set(full)
