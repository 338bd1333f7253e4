"""Units and contexts made by hand, as an engine would make them, for the four tabular tasks."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from bench.adapters.tabular import Budget
from bench.artifacts import artifact_digest
from bench.catalog.tabular_tasks import TASKS
from bench.datasets.tabular import loading
from bench.datasets.tabular.dataset import TabularDataset
from bench.datasets.tabular.schema import TableSchema
from bench.keys import unit_seed
from bench.spec import Artifact, Context, JSONScalar, Measure, Size, TaskInfo, TaskOutput, Unit
from bench.tasks.tabular.artifact import PARQUET_FILE
from bench.validate import check_output

ADULT = Path(__file__).resolve().parents[4] / "shared/data/tabular"
INFOS = {info.name.partition(".")[2]: info for info in TASKS}


@functools.cache
def load_dataset(name: str) -> TabularDataset:
    reason = loading.absence(name)
    if reason is not None:
        pytest.skip(reason)
    return loading.load(name)


def task_of(info: TaskInfo) -> Any:
    module, _, name = info.entry.partition(":")
    return getattr(importlib.import_module(module), name)()


def value(output: TaskOutput, metric: str) -> float:
    measure = output.metrics[metric]
    assert isinstance(measure, Measure)
    assert measure.value is not None, measure.reason
    return measure.value


def made(adapter: Any, train: pd.DataFrame, schema: TableSchema) -> pd.DataFrame:
    adapter.setup(SimpleNamespace(size="small", device="cpu", seed=0))
    adapter.fit(train, schema, seed=2_000, device="cpu", budget=Budget(seconds=600, memory_gb=2))
    frame: pd.DataFrame = adapter.sample(len(train), seed=3_000)
    return frame


def adult(rows: int, columns: tuple[str, ...] = ()) -> tuple[TableSchema, list[pd.DataFrame]]:
    """Train, hold-out and test rows of the shuffled union, the last twice as many."""
    files = [ADULT / "adult_train.parquet", ADULT / "adult_test.parquet"]
    if not all(f.is_file() for f in files):
        pytest.skip(f"needs the files of Adult in {ADULT}")
    union = pd.concat([pd.read_parquet(f) for f in files], ignore_index=True)
    frame = union.sample(frac=1, random_state=0).reset_index(drop=True)
    frame = frame[list(columns)] if columns else frame
    schema = TableSchema.infer(frame, "income")
    ends = np.cumsum([rows, rows, 2 * rows])
    return schema, [frame[a:b].reset_index(drop=True) for a, b in zip([0, *ends], ends, strict=False)]


@dataclass
class Bench:
    """Runs the two halves of a task in this process and checks the output as the bench does."""

    folder: Path
    runs: int = 0

    def unit(
        self,
        task: str = "fidelity",
        *,
        dataset: str = "",
        size: Size = "tiny",
        repeat: int = 0,
        settings: Mapping[str, JSONScalar] | None = None,
        limit: int | None = None,
    ) -> Unit:
        info = INFOS[task]
        dataset = dataset or info.sizes[size].datasets[0]
        return Unit(
            task=info.name,
            dataset=dataset,
            repeat=repeat,
            size=size,
            seed=unit_seed(
                task=info.name, task_version=info.version, dataset=dataset, repeat=repeat, suite_seed=0
            ),
            limit=limit,
            settings={**info.sizes[size].settings, **(settings or {})},
        )

    def context(self, unit: Unit) -> Context:
        self.runs += 1
        home = self.folder / f"job{self.runs}"
        for name in ("artifact", "exhibits"):
            (home / name).mkdir(parents=True)
        return Context(
            device="cpu",
            seed=unit.seed,
            size=unit.size,
            limit=unit.limit,
            deadline=time.monotonic() + 600,
            cache_dir=self.folder / "cache",
            artifact_dir=home / "artifact",
            exhibit_dir=home / "exhibits",
            load_dataset=load_dataset,
        )

    def collect(self, adapter: Any, unit: Unit) -> tuple[Artifact, Context]:
        context = self.context(unit)
        if hasattr(adapter, "setup"):
            adapter.setup(context)
        notes = task_of(_info(unit)).collect(adapter, unit, context)
        return self.artifact(context, notes), context

    def artifact(self, context: Context, notes: Mapping[str, JSONScalar] | None = None) -> Artifact:
        sha256, _ = artifact_digest(context.artifact_dir)
        return Artifact(dir=context.artifact_dir, sha256=sha256, notes=notes or {})

    def score(self, artifact: Artifact, unit: Unit, context: Context) -> TaskOutput:
        info = _info(unit)
        output: TaskOutput = task_of(info).score(artifact, unit, context)
        check_output(output, info, context.exhibit_dir)
        return output

    def run(self, adapter: Any, unit: Unit | None = None) -> TaskOutput:
        unit = unit or self.unit()
        artifact, context = self.collect(adapter, unit)
        return self.score(artifact, unit, context)

    def submitted(
        self, frame: pd.DataFrame, unit: Unit, name: str = PARQUET_FILE
    ) -> tuple[Artifact, Context]:
        """An artifact made elsewhere that holds `frame`."""
        context = self.context(unit)
        path = context.artifact_dir / name
        if name.endswith(".csv"):
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
        return self.artifact(context), context


def _info(unit: Unit) -> TaskInfo:
    return INFOS[unit.task.partition(".")[2]]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    torch.manual_seed(0)
    return Bench(tmp_path)
