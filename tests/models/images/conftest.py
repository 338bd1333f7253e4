"""Builds reference adapters as the bench does, and real images to fit them on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.catalog.images_models import MODELS
from bench.datasets.images import ImageDataset, digits
from bench.registry import resolve
from bench.spec import Context, Size

INFOS = {info.name: info for info in MODELS}
Make = Callable[..., Any]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """`make(name, size="tiny", device="cpu", **params)`: the registered model, set up; closed afterwards."""
    made = []

    def build(name: str, *, size: Size = "tiny", device: str = "cpu", **params: Any) -> Any:
        info = INFOS[name]
        adapter = resolve(info.entry)(**{**info.params, **params})
        adapter.info = info
        adapter.setup(
            Context(
                device=device,
                seed=0,
                size=size,
                limit=None,
                deadline=time.monotonic() + 600,
                cache_dir=tmp_path,
                artifact_dir=tmp_path,
                exhibit_dir=tmp_path,
                load_dataset=lambda _: None,
            )
        )
        made.append(adapter)
        return adapter

    yield build
    for adapter in made:
        adapter.close()
        adapter.close()


@pytest.fixture
def fitted(make: Make) -> Make:
    """`fitted(name, images, seed=0, ...)`: like `make`, then fitted."""

    def build(name: str, images: Any, *, seed: int = 0, device: str = "cpu", **options: Any) -> Any:
        adapter = make(name, device=device, **options)
        adapter.fit(images, np.zeros(len(images), np.int64), seed=seed, device=device, budget_s=600.0)
        return adapter

    return build


@pytest.fixture(scope="session")
def digit_images() -> ImageDataset:
    return digits.load()


@pytest.fixture(scope="session")
def colour_images() -> np.ndarray:
    """Smooth random images, uint8 (90, 3, 16, 16)."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (90, 3, 4, 4), dtype=np.uint8)
    return coarse.repeat(4, axis=2).repeat(4, axis=3)
