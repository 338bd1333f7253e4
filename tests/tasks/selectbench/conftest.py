"""Units of the family with engines that need no docking."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.catalog.selectbench import DATASETS, TASKS
from bench.registry import resolve
from bench.spec import Adapter, Artifact, Context, JSONScalar, ModelInfo, TaskInfo, TaskOutput, Unit
from bench.tasks.selectbench.task import SelectivityTask


@dataclass
class Bench:
    """Runs both halves of a task in this process, in folders of its own."""

    root: Path
    cache: Path

    def unit(self, task: str, dataset: str, **settings: JSONScalar) -> Unit:
        plan: Mapping[str, JSONScalar] = {
            **info_of(task).sizes["tiny"].settings,
            "heavy_datasets": "",
            **settings,
        }
        return Unit(task=task, dataset=dataset, repeat=0, size="tiny", seed=11, limit=None, settings=plan)

    def context(self, stage: str) -> Context:
        folders = {name: self.root / name for name in ("artifact", "exhibits")}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        return Context(
            device="cpu",
            seed=11,
            size="tiny",
            limit=None,
            deadline=time.monotonic() + 600,
            cache_dir=self.cache / stage,
            artifact_dir=folders["artifact"],
            exhibit_dir=folders["exhibits"],
            load_dataset=load,
        )

    def task(self, name: str, engine: str = "null") -> SelectivityTask:
        task: SelectivityTask = resolve(info_of(name).entry)()
        task.info = info_of(name)
        task.engine = engine  # type: ignore[misc]
        return task

    def collect(self, adapter: Any, unit: Unit, engine: str = "null") -> Artifact:
        if not hasattr(adapter, "info"):
            adapter.info = ModelInfo(name="test", version="1", families=("selectbench",))
        notes = self.task(unit.task, engine).collect(adapter, unit, self.context("collect"))
        return Artifact(dir=self.root / "artifact", sha256="", notes=notes)

    def score(self, artifact: Artifact, unit: Unit, engine: str = "null") -> TaskOutput:
        return self.task(unit.task, engine).score(artifact, unit, self.context("score"))

    def run(self, adapter: Adapter | Any, unit: Unit, engine: str = "null") -> TaskOutput:
        return self.score(self.collect(adapter, unit, engine), unit, engine)


def info_of(task: str) -> TaskInfo:
    return next(info for info in TASKS if info.name == task)


def load(name: str) -> Any:
    return resolve(next(card.entry for card in DATASETS if card.name == name))()


@pytest.fixture(scope="session")
def score_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the session: the reference drugs are scored once."""
    return tmp_path_factory.mktemp("scores")


@pytest.fixture
def make_bench(tmp_path: Path, score_cache: Path) -> Callable[[str], Bench]:
    def make(name: str) -> Bench:
        root = tmp_path / name
        root.mkdir()
        return Bench(root=root, cache=score_cache)

    return make


@pytest.fixture
def bench(make_bench: Callable[[str], Bench]) -> Bench:
    return make_bench("job")


def value(output: TaskOutput, metric: str) -> float:
    """The value of a metric that must be there."""
    measure = output.metrics[metric]
    found = measure if isinstance(measure, float) else measure.value
    assert found is not None, measure
    return found
