"""The wrapper of pretrained pipelines, with a stand-in for the library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from bench.errors import MissingRequirement

Make = Callable[..., Any]
IMAGES = np.zeros((3, 3, 4, 4), np.uint8)


class Pipeline:
    """Noise at the scale of the number of steps, from the generator it is given."""

    loaded: tuple[str, bool] = ("", False)

    @classmethod
    def from_pretrained(cls, source: str, *, local_files_only: bool, use_safetensors: bool) -> Pipeline:
        assert use_safetensors
        if local_files_only and not source.startswith("/"):
            raise OSError(f"{source} is not cached")
        cls.loaded = (source, local_files_only)
        return cls()

    def to(self, device: str) -> Pipeline:
        return self

    def set_progress_bar_config(self, *, disable: bool) -> None:
        assert disable

    def __call__(
        self, *, batch_size: int, generator: torch.Generator, num_inference_steps: int, output_type: str
    ) -> SimpleNamespace:
        assert output_type == "np"
        values = torch.rand(batch_size, 4, 4, 3, generator=generator) / num_inference_steps
        return SimpleNamespace(images=values.numpy())


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("diffusers")
    stand_in.DiffusionPipeline = Pipeline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "diffusers", stand_in)
    monkeypatch.setenv("BENCH_DIFFUSERS", "/pipelines/mine")
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD", raising=False)


def test_images_come_from_the_seed_in_batches(fitted: Make) -> None:
    model = fitted("diffusers-pipeline", IMAGES)
    sample = model.sample(70, seed=4)
    assert Pipeline.loaded == ("/pipelines/mine", True)
    assert sample.dtype == np.uint8
    assert sample.shape == (70, 3, 4, 4)
    assert np.array_equal(sample, model.sample(70, seed=4))
    assert not np.array_equal(sample, model.sample(70, seed=5))
    assert model.sample(70, seed=4, nfe=1).mean() > 40 * sample.mean()
    with pytest.raises(ValueError, match="nfe must be at least 1"):
        model.sample(1, seed=0, nfe=0)


def test_another_image_size_is_a_missing_requirement(fitted: Make) -> None:
    with pytest.raises(MissingRequirement, match=r"makes images \(3, 4, 4\), this data set has \(1, 4, 4\)"):
        fitted("diffusers-pipeline", IMAGES[:, :1]).sample(2, seed=0)


def test_absent_pipeline_names_the_remedies(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_DIFFUSERS")
    with pytest.raises(
        MissingRequirement, match=r"google/ddpm-cifar10-32.*BENCH_DIFFUSERS.*--allow-download"
    ):
        make("diffusers-pipeline")
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    make("diffusers-pipeline")
    assert Pipeline.loaded == ("google/ddpm-cifar10-32", False)
