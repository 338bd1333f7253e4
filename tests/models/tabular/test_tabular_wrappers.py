"""Wrappers of packages that are not installed: the calls they make, against stand-ins of the documented calls."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.datasets.tabular.schema import TableSchema
from bench.errors import InvalidOutput, MissingRequirement
from tests.models.tabular.conftest import BUDGET, INFOS, TABLES, make

WRAPPERS = [name for name, info in INFOS.items() if "wrapper" in info.tags]


class Remembering:
    """Stands in for any of the packages: gives back rows of the frame that it learned."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def learn(self, frame: Any) -> None:
        self.frame = pd.DataFrame(frame)
        assert not self.frame.isna().any().any()

    def make(self, n: int, seed: int) -> pd.DataFrame:
        return self.frame.sample(n, replace=True, random_state=seed).reset_index(drop=True)


class TabForge(Remembering):
    def fit(self, frame: Any, *, checkpoint: Any) -> TabForge:
        assert checkpoint == "pretrained"
        assert self.options["task"] == "unsupervision"
        self.learn(frame)
        return self

    def generate(self, n_samples: int, *, random_state: int) -> pd.DataFrame:
        return self.make(n_samples, random_state)


class BeGreat(Remembering):
    def fit(self, frame: Any) -> None:
        if self.options["llm"] == "absent":
            raise AssertionError
        self.learn(frame)

    def sample(self, n_samples: int, device: str) -> pd.DataFrame:
        import torch

        return self.make(n_samples, int(torch.randint(2**31, ())))


class Booster(Remembering):
    @classmethod
    def fit(cls, dataset: pd.DataFrame, parameters: dict[str, Any], seed: int) -> Booster:
        model = cls(**parameters)
        model.learn(dataset)
        return model

    def sample(self, num_samples: int, num_steps: int, seed: int) -> pd.DataFrame:
        return self.make(num_samples, seed)


class Unsupervised(Remembering):
    random_state = 0

    def fit(self, matrix: np.ndarray) -> None:
        assert matrix.dtype == np.float64
        assert max(self.options["categorical_features"], default=0) < max(1, matrix.shape[1])
        self.learn(matrix)

    def generate(self, n_samples: int) -> np.ndarray:
        return self.make(n_samples, self.random_state).to_numpy()


def settings(**options: Any) -> SimpleNamespace:
    return SimpleNamespace(**options)


MODULES = {
    "tabforge_official": {
        "tabforge": {
            "TabFORGEGenerator": TabForge, "TabFORGEEmbeddingConfig": settings, "TabFORGERuntimeConfig": settings,
            "TabFORGETrainingConfig": settings,
        }
    },
    "great": {"be_great": {"GReaT": BeGreat}},
    "nrgboost": {"nrgboost": {"NRGBooster": Booster, "Dataset": lambda frame: frame}},
    "tabicl": {"tabicl": {}, "tabicl._unsupervised": {"TabICLUnsupervised": Unsupervised}},
}  # fmt: skip


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for modules in MODULES.values():
        for name, attributes in modules.items():
            module = ModuleType(name)
            for attribute, value in attributes.items():
                setattr(module, attribute, value)
            monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "table", ["mixed", "types", "numbers only", "categories only", "constants", "nine rows"]
)
@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_with_their_packages(name: str, table: str) -> None:
    frame = TABLES[table]
    schema = TableSchema.infer(frame)
    model = make(name)
    model.fit(frame, schema, seed=5, device="cpu", budget=BUDGET)
    made = model.sample(30, seed=3)
    schema.require(made, rows=30)
    pd.testing.assert_frame_equal(made, model.sample(30, seed=3))
    assert list(made.dtypes) == list(frame.dtypes)
    assert not made.equals(model.sample(30, seed=4)) or table == "constants"


@pytest.mark.parametrize("name", WRAPPERS)
def test_absent_packages_are_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for modules in MODULES.values():
        for module in modules:
            monkeypatch.setitem(sys.modules, module, None)
    frame = TABLES["mixed"]
    with pytest.raises(MissingRequirement, match=r"needs module .* \(pip install"):
        make(name).fit(frame, TableSchema.infer(frame), seed=0, device="cpu", budget=BUDGET)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("name", "target"), [("tabforge_official", TabForge), ("tabicl", Unsupervised)])
def test_absent_weights_are_a_missing_requirement(
    name: str, target: type[Remembering], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise OSError("no route to the hub")

    monkeypatch.setattr(target, "fit", fail)
    frame = TABLES["mixed"]
    with pytest.raises(MissingRequirement, match="cannot be had: no route to the hub"):
        make(name).fit(frame, TableSchema.infer(frame), seed=0, device="cpu", budget=BUDGET)


@pytest.mark.usefixtures("installed")
def test_too_few_rows_of_a_package_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = TABLES["mixed"]
    model = make("nrgboost")
    model.fit(frame, TableSchema.infer(frame), seed=0, device="cpu", budget=BUDGET)
    monkeypatch.setattr(Booster, "make", lambda self, n, seed: self.frame.head(n - 1))
    with pytest.raises(InvalidOutput, match="29 rows instead of 30"):
        model.sample(30, seed=0)
