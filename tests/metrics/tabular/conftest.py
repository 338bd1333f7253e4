"""Real tables with known values, read from the shared data beside the repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.metrics.tabular.table import EncodedTable
from tests.metrics.tabular.encode import encode, toy

_DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "tabular"
LoadFrame = Callable[[str], pd.DataFrame]


def data_file(name: str) -> Path:
    """A reference file, or a skip that says where it was looked for."""
    path = _DATA / name
    if not path.exists():
        pytest.skip(f"reference data {name} not found in ../shared/data/tabular beside the repository")
    return path


@pytest.fixture(scope="session")
def load_frame() -> LoadFrame:
    return lambda name: pd.read_parquet(data_file(name))


@pytest.fixture(scope="session")
def adult_values() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(data_file("reference_adult_sdmetrics.json").read_text())
    return values


@pytest.fixture(scope="session")
def adult(load_frame: LoadFrame) -> dict[str, EncodedTable]:
    """The tables behind the reference values: first 5,000 rows of train and test, and 5,000 rows of a copula."""
    frames = {
        "real": load_frame("adult_train.parquet")[:5000],
        "holdout": load_frame("adult_test.parquet")[:5000],
        "copula": load_frame("adult_syn_copula_5000.parquet"),
    }
    return dict(zip(frames, encode(*frames.values()), strict=True))


@pytest.fixture(scope="session")
def adult_split(load_frame: LoadFrame) -> dict[str, EncodedTable]:
    """Train and holdout of 4,000 rows and a test of 8,000 from the shuffled union of both published files."""
    union = pd.concat(
        [load_frame("adult_train.parquet"), load_frame("adult_test.parquet")], ignore_index=True
    )
    everyone = union.sample(16_000, random_state=0).reset_index(drop=True)
    frames = {"all": union, "train": everyone[:4000], "holdout": everyone[4000:8000], "test": everyone[8000:]}
    tables = dict(zip(frames, encode(*frames.values(), target="income"), strict=True))
    del tables["all"]
    return tables


@pytest.fixture(scope="session")
def toy_pair() -> tuple[EncodedTable, EncodedTable]:
    real, generated = encode(*toy())
    return real, generated


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
