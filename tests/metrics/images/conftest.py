"""Shared features with known reference values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]

_DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "image_fidelity"


def _load(name: str) -> Any:
    path = _DATA / name
    if not path.exists():
        pytest.skip(f"reference data {name} not found in ../shared/data/image_fidelity beside the repository")
    return json.loads(path.read_text()) if path.suffix == ".json" else dict(np.load(path))


@pytest.fixture(scope="session")
def small() -> dict[str, Array]:
    """Gaussian-mixture features: float32 train (400, 8), test (200, 8), gen (300, 8) with copies and duplicates."""
    features: dict[str, Array] = _load("ref_features.npz")
    return features


@pytest.fixture(scope="session")
def small_values() -> dict[str, Any]:
    values: dict[str, Any] = _load("ref_values.json")
    return values


@pytest.fixture(scope="session")
def fashion() -> dict[str, Array]:
    """CNN features of Fashion-MNIST: float32 train and test (3000, 128)."""
    features: dict[str, Array] = _load("fashion_cnn_features.npz")
    return features


@pytest.fixture(scope="session")
def fashion_values() -> dict[str, Any]:
    values: dict[str, Any] = _load("fashion_cnn_values.json")
    return values
