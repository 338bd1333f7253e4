"""What every registered model of the family must keep, whatever it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from bench.adapters.images import FeatureSource, ImageGenerator
from bench.catalog.images_models import MODELS
from bench.datasets.images import ImageDataset
from bench.registry import resolve
from bench.requirements import is_installed

Make = Callable[..., Any]
INFOS = {info.name: info for info in MODELS if all(map(is_installed, info.requires))}
GENERATORS = [name for name, info in INFOS.items() if issubclass(resolve(info.entry), ImageGenerator)]
SOURCES = [name for name, info in INFOS.items() if issubclass(resolve(info.entry), FeatureSource)]
DETERMINISTIC = {"mean-image"}
SEED = 2**62 + 12_345


@pytest.fixture(params=["gray 8x8", "colour 16x16"])
def images(request: pytest.FixtureRequest, digit_images: ImageDataset, colour_images: np.ndarray) -> Any:
    return digit_images.fit.images[:300] if request.param == "gray 8x8" else colour_images


def test_every_model_is_a_generator_or_a_feature_source() -> None:
    assert sorted(GENERATORS + SOURCES) == sorted(INFOS)
    assert {info.name for info in MODELS} - set(INFOS) <= {"diffusers-pipeline"}
    assert len(INFOS) >= 19


@pytest.mark.parametrize("info", MODELS, ids=lambda info: info.name)
def test_cards_are_complete(info: Any) -> None:
    assert info.title
    assert info.summary
    assert info.license
    assert info.tags
    assert info.baseline == ("baseline" in info.tags)
    assert info.baseline or info.paper


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("n", [1, 7])
def test_shape_and_type(name: str, n: int, images: np.ndarray, fitted: Make) -> None:
    result = fitted(name, images).sample(n, seed=SEED)
    assert result.dtype == np.uint8
    assert result.shape == (n, *images.shape[1:])


@pytest.mark.parametrize("name", GENERATORS)
def test_more_samples_than_training_images(name: str, colour_images: np.ndarray, fitted: Make) -> None:
    assert fitted(name, colour_images).sample(205, seed=1).shape == (205, 3, 16, 16)


@pytest.mark.parametrize("name", GENERATORS)
def test_seeds_decide_everything(name: str, images: np.ndarray, fitted: Make) -> None:
    first = fitted(name, images, seed=SEED)
    again = fitted(name, images, seed=SEED)
    sample = first.sample(20, seed=3)
    assert np.array_equal(sample, first.sample(20, seed=3))
    assert np.array_equal(sample, again.sample(20, seed=3))
    assert np.array_equal(sample, first.sample(20, seed=4)) == (name in DETERMINISTIC)


@pytest.mark.parametrize("name", ["vae-16", "flow", "ot-cfm", "tpc", "ddpm-small", "wgan-gp-small", "gmm-50"])
def test_the_seed_of_fitting_matters(name: str, digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images
    one, two = (fitted(name, images, seed=seed).sample(20, seed=3) for seed in (0, 1))
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("name", GENERATORS)
def test_global_random_states_are_left_alone(name: str, colour_images: np.ndarray, fitted: Make) -> None:
    before = (torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate())  # noqa: NPY002
    fitted(name, colour_images).sample(5, seed=0)
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
    assert before[2] == random.getstate()


@pytest.mark.parametrize("name", GENERATORS)
def test_labels_and_steps_are_accepted(name: str, colour_images: np.ndarray, fitted: Make) -> None:
    result = fitted(name, colour_images).sample(3, seed=0, labels=np.array([0, 1, 0]), nfe=3)
    assert result.shape == (3, 3, 16, 16)


@pytest.mark.parametrize("name", [name for name, info in INFOS.items() if "nfe" in info.tags])
def test_number_of_steps_is_honoured(name: str, digit_images: ImageDataset, fitted: Make) -> None:
    model = fitted(name, digit_images.fit.images)
    default = model.sample(10, seed=0)
    assert np.array_equal(default, model.sample(10, seed=0, nfe=int(INFOS[name].params["nfe"])))
    assert not np.array_equal(default, model.sample(10, seed=0, nfe=2))
    with pytest.raises(ValueError, match="nfe must be at least 1, got 0"):
        model.sample(1, seed=0, nfe=0)


@pytest.mark.parametrize("name", GENERATORS)
def test_training_images_are_not_changed(name: str, colour_images: np.ndarray, fitted: Make) -> None:
    images = colour_images.copy()
    sample = fitted(name, images).sample(5, seed=0)
    sample[:] = 0
    assert np.array_equal(images, colour_images)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("n", [1, 7, 60])
def test_feature_sources(name: str, n: int, make: Make) -> None:
    rng = np.random.default_rng(0)
    reference = {name: rng.standard_normal((50, d)).astype(np.float32) for name, d in (("a", 5), ("b", 12))}
    source, again = make(name), make(name)
    for model in (source, again):
        model.fit_features(reference, seed=SEED)
    for encoder, values in reference.items():
        result = source.features(n, seed=1, encoder=encoder)
        assert result.dtype == np.float32
        assert result.shape == (n, values.shape[1])
        assert np.array_equal(result, again.features(n, seed=1, encoder=encoder))
        assert not np.array_equal(result, source.features(n, seed=2, encoder=encoder))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", GENERATORS)
def test_on_cuda(name: str, images: np.ndarray, fitted: Make) -> None:
    model = fitted(name, images, device="cuda")
    sample = model.sample(7, seed=0)
    assert sample.shape == (7, *images.shape[1:])
    assert np.array_equal(sample, model.sample(7, seed=0))
