"""Tables that people really have, and models ready to learn them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.adapters.tabular import Budget
from bench.catalog.tabular import MODELS
from bench.datasets.tabular.schema import TableSchema
from bench.registry import resolve

Make = Callable[..., Any]
INFOS = {info.name: info for info in MODELS}
BUDGET = Budget(seconds=600.0, memory_gb=4.0)


def make(name: str, *, size: str = "tiny", **params: Any) -> Any:
    """The registered model `name`, set up for `size`."""
    info = INFOS[name]
    model = resolve(info.entry)(**{**info.params, **params})
    model.info = info
    model.setup(SimpleNamespace(size=size, device="cpu"))
    return model


def fitted(name: str, frame: pd.DataFrame, *, seed: int = 0, target: Any = None, **options: Any) -> Any:
    """Like `make`, then fitted to `frame`."""
    model = make(name, **options)
    schema = TableSchema.infer(frame, target)
    model.fit(frame, schema, seed=seed, device="cpu", budget=BUDGET)
    return model


def tables() -> dict[str, pd.DataFrame]:
    """Small tables, each ugly in its own way."""
    rng = np.random.default_rng(0)
    n = 70
    text = np.array(["a", "b", "c", None], dtype=object)
    mixed = pd.DataFrame(
        {
            "number": rng.standard_normal(n).round(3),
            "whole": rng.integers(0, 500, n),
            "text": text[rng.integers(0, 4, n)],
            "flag": rng.random(n) < 0.3,
            "gaps": np.where(rng.random(n) < 0.4, np.nan, rng.random(n)),
            "nullable": pd.array(np.where(rng.random(n) < 0.2, None, rng.integers(0, 90, n)), dtype="Int64"),
        }
    )
    types = pd.DataFrame(
        {
            "zoned": pd.date_range("2020-01-01", periods=n, freq="h", tz="Asia/Tokyo")[rng.permutation(n)],
            "plain": pd.to_datetime(rng.integers(0, 10**9, n), unit="s").where(rng.random(n) > 0.2),
            "duration": pd.to_timedelta(rng.integers(0, 10**6, n), unit="ms"),
            "huge": 2**62 + rng.integers(0, 40, n),
            "Float32": pd.array(rng.random(n), dtype="Float32"),
            "ordered": pd.Categorical.from_codes(rng.integers(0, 2, n), ["low", "mid", "high"], ordered=True),
            "boolean": pd.array([True, None] * (n // 2), dtype="boolean"),
            "mixed": pd.Series([1, "1", 2.5, None, True] * (n // 5), dtype=object),
            "int8": rng.integers(-128, 128, n).astype(np.int8),
        }
    )
    odd = pd.DataFrame(rng.random((n, 4)).round(2))
    odd.columns = pd.Index(["same", "same", 7, ("a", "b")], dtype=object, tupleize_cols=False)
    constants = pd.DataFrame({"one": 1.5, "text": "k", "none": np.nan, "zero": 0, "x": rng.random(n)})
    levels = pd.DataFrame(
        {"many": rng.integers(0, 1_200, 1_500).astype(str), "y": rng.random(1_500).round(1)}
    )
    levels.loc[:2, "many"] = None
    return {
        "mixed": mixed,
        "types": types,
        "odd names": odd,
        "constants": constants,
        "numbers only": pd.DataFrame(rng.standard_normal((n, 3)), columns=list("abc")),
        "categories only": pd.DataFrame({name: rng.choice(list("xyz"), n) for name in "ab"}),
        "1,200 levels": levels,
        "one row": mixed.head(1),
        "two rows": mixed.head(2),
        "nine rows": mixed.head(9),
        "one column": mixed[["text"]],
        "zero-inflated": pd.DataFrame(
            {"z": np.where(rng.random(n) < 0.9, 0, rng.integers(1, 10**5, n)), "w": 1}
        ),
        "infinite": pd.DataFrame(
            {"x": np.r_[np.inf, -np.inf, rng.random(n - 2)], "g": ["a", "b"] * (n // 2)}
        ),
        "duplicates": pd.concat([mixed.head(3)] * 20, ignore_index=True),
        "ids": mixed.assign(key=[f"row {i}" for i in range(n)], number=np.arange(n) * 3),
    }


TABLES = tables()


@pytest.fixture(scope="session")
def adult() -> tuple[pd.DataFrame, TableSchema]:
    """1,500 shuffled rows of Adult and the schema of all rows; skipped where the files are not there."""
    from pathlib import Path

    folder = Path(__file__).resolve().parents[4] / "shared" / "data" / "tabular"
    if not (folder / "adult_train.parquet").is_file():
        pytest.skip("no shared/data/tabular/adult_train.parquet beside the repository")
    frame = pd.read_parquet(folder / "adult_train.parquet")
    schema = TableSchema.infer(frame, "income")
    return frame.sample(1_500, random_state=0).reset_index(drop=True), schema
