"""Runs a task of the family on an adapter in this process, as the bench does in two."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.artifacts import artifact_digest
from bench.catalog.sae import DATASETS, MODELS, TASKS
from bench.registry import resolve
from bench.spec import Artifact, Context, Task, TaskOutput, Unit

INFOS = {info.name: info for info in MODELS}
LOADERS = {card.name: card.entry for card in DATASETS}
Run = Callable[..., tuple[TaskOutput, Artifact]]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def adapter_of(name: str) -> Any:
    """The registered model."""
    info = INFOS[name]
    adapter = resolve(info.entry)(**info.params)
    adapter.info = info
    return adapter


def unit_of(task: str, **changes: Any) -> Unit:
    """The tiny unit of `task`; `settings` are added to its own."""
    info = next(t for t in TASKS if t.name == task)
    plan = info.sizes["tiny"]
    settings = {**plan.settings, **changes.pop("settings", {})}
    unit = Unit(
        task=task, dataset=plan.datasets[0], repeat=0, size="tiny", seed=11, limit=None, settings=settings
    )
    return replace(unit, **changes)


def task_of(name: str) -> Task:
    info = next(t for t in TASKS if t.name == name)
    task: Task = resolve(info.entry)()
    task.info = info
    return task


@pytest.fixture
def context(tmp_path: Path) -> Callable[[], Context]:
    def make() -> Context:
        for name in ("artifact", "exhibits", "cache"):
            (tmp_path / name).mkdir(exist_ok=True)
        return Context(
            device="cpu",
            seed=11,
            size="tiny",
            limit=None,
            deadline=time.monotonic() + 600,
            cache_dir=tmp_path / "cache",
            artifact_dir=tmp_path / "artifact",
            exhibit_dir=tmp_path / "exhibits",
            load_dataset=lambda name: resolve(LOADERS[name])(),
        )

    return make


@pytest.fixture
def run(context: Callable[[], Context]) -> Run:
    """`run(task, adapter, **unit)`: collect, then score."""

    def go(task: str, adapter: Any, **changes: Any) -> tuple[TaskOutput, Artifact]:
        ctx, unit = context(), unit_of(task, **changes)
        adapter.setup(ctx)
        notes = task_of(task).collect(adapter, unit, ctx)
        digest = artifact_digest(ctx.artifact_dir)
        digest = digest[0] if isinstance(digest, tuple) else digest
        artifact = Artifact(dir=ctx.artifact_dir, sha256=str(digest), notes=notes)
        return task_of(task).score(artifact, unit, ctx), artifact

    return go


def value(output: TaskOutput, metric: str, facet: str = "") -> Any:
    found = (output.facets[facet] if facet else output.metrics)[metric]
    return found if isinstance(found, float) else found.value
