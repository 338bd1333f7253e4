"""The script behind the shipped encoder weights."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from bench.tasks.images.encoders import small_cnn

from .conftest import load_dataset

SCRIPT = Path(__file__).parents[3] / "scripts" / "train_image_encoders.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_image_encoders", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_training_learns_and_repeats(script: ModuleType, needs: Callable[[str], str]) -> None:
    dataset = load_dataset(needs("mnist5k"))
    recipe = script.Recipe("mnist-cnn", epochs=3, shift=2)
    first, again = script.train(dataset.fit, recipe), script.train(dataset.fit, recipe)
    for one, two in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)
    with torch.inference_mode():
        guesses = first(script.scaled(dataset.hold)).argmax(1).numpy()
    assert np.mean(guesses == dataset.hold.labels) > 0.7


def test_shifts_move_whole_images_within_reach(script: ModuleType) -> None:
    images = torch.zeros(200, 1, 9, 9)
    images[:, :, 4, 4] = 1
    moved = script.shifted(images, 2)
    assert moved.shape == images.shape
    assert (moved.sum((1, 2, 3)) == 1).all()
    places = {tuple(place) for place in moved.nonzero()[:, 2:].tolist()}
    assert places == {(y, x) for y in range(2, 7) for x in range(2, 7)}


def test_recipes_cover_the_shipped_weights(script: ModuleType) -> None:
    shipped = {path.stem for path in small_cnn.WEIGHTS.glob("*.safetensors")}
    assert {recipe.encoder for recipe in script.RECIPES.values()} == shipped
