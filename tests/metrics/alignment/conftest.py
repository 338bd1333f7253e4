"""Real human data for the reference tables; they may not be redistributed and lie beside the repository."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "human_alignment"


@functools.cache
def _read(name: str) -> pd.DataFrame:
    path = SHARED / name
    return pd.read_csv(path, keep_default_na=False) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.fixture
def table() -> Callable[[str], pd.DataFrame]:
    """Reads a reference file, or skips where there is none."""

    def read(name: str) -> pd.DataFrame:
        if not (SHARED / name).exists():
            pytest.skip("reference data not found in ../shared/data/human_alignment beside the repository")
        return _read(name).copy()

    return read
