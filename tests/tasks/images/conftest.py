"""A unit and a context made by hand, as an engine would make them."""

import functools
import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.artifacts import artifact_digest
from bench.catalog.images import DATASETS, TASKS
from bench.keys import unit_seed
from bench.spec import Artifact, Context, JSONScalar, Size, TaskOutput, Unit
from bench.tasks.images.fidelity import ImageFidelity
from bench.validate import check_output

INFO = next(task for task in TASKS if task.name == "images.fidelity")


@functools.cache
def load_dataset(name: str) -> Any:
    card = next(card for card in DATASETS if card.name == name)
    module, _, function = card.entry.partition(":")
    return getattr(importlib.import_module(module), function)()


def locate(name: str) -> str | None:
    card = next(card for card in DATASETS if card.name == name)
    module, _, function = card.locate.partition(":")
    reason: str | None = getattr(importlib.import_module(module), function)()
    return reason


@dataclass
class Bench:
    """Runs the two halves of `images.fidelity` in this process and checks the output as the bench does."""

    folder: Path
    runs: int = 0

    def unit(
        self,
        dataset: str = "digits",
        *,
        size: Size = "tiny",
        repeat: int = 0,
        limit: int | None = None,
        settings: Mapping[str, JSONScalar] | None = None,
    ) -> Unit:
        seed = unit_seed(
            task=INFO.name, task_version=INFO.version, dataset=dataset, repeat=repeat, suite_seed=0
        )
        return Unit(
            task=INFO.name,
            dataset=dataset,
            repeat=repeat,
            size=size,
            seed=seed,
            limit=limit,
            settings=settings or INFO.sizes[size].settings,
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
        notes = ImageFidelity().collect(adapter, unit, context)
        return self.artifact(context, notes), context

    def artifact(self, context: Context, notes: Mapping[str, JSONScalar]) -> Artifact:
        sha256, _ = artifact_digest(context.artifact_dir)
        return Artifact(dir=context.artifact_dir, sha256=sha256, notes=notes)

    def score(self, artifact: Artifact, unit: Unit, context: Context) -> TaskOutput:
        task = ImageFidelity()
        task.info = INFO
        output = task.score(artifact, unit, context)
        check_output(output, INFO, context.exhibit_dir)
        return output

    def run(self, adapter: Any, unit: Unit | None = None) -> TaskOutput:
        unit = unit or self.unit()
        artifact, context = self.collect(adapter, unit)
        return self.score(artifact, unit, context)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    torch.manual_seed(0)
    return Bench(tmp_path)


@pytest.fixture
def needs() -> Callable[[str], str]:
    """Skip, with the reason the data set gives, where it is absent."""

    def check(name: str) -> str:
        reason = locate(name)
        if reason is not None:
            pytest.skip(reason)
        return name

    return check
