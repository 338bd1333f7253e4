"""Work orders for the selftest family, and one warm engine for the tests that can share it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import keys, registry
from bench.engine import LocalEngine
from bench.spec import Job, Resources, Unit
from bench.work import Source, WorkOrder

MakeOrder = Callable[..., WorkOrder]
_REGISTRY = registry.builtin()
_numbers = itertools.count()


def build_order(
    name: str, root: Path, /, *, repeat: int = 0, limits: Resources | None = None, **fields: Any
) -> WorkOrder:
    """An order for `selftest-<name>` on `selftest.echo`, working below `root`."""
    info = _REGISTRY.models[f"selftest-{name}"].info
    task = _REGISTRY.tasks["selftest.echo"].info
    dataset = _REGISTRY.datasets["selftest-ramp"].info
    identity: dict[str, Any] = {
        "task": task.name,
        "task_version": task.version,
        "model": info.name,
        "model_version": info.version,
        "model_source_sha256": "0" * 64,
        "model_params": dict(fields.pop("params", info.params)),
        "dataset": dataset.name,
        "dataset_sha256": dataset.sha256,
        "size": "tiny",
        "repeat": repeat,
        "suite_seed": 0,
        "limit": None,
    }
    work_dir = root / f"work-{next(_numbers)}"
    work_dir.mkdir()
    order = WorkOrder(
        job=Job(
            **identity, key=keys.job_key(**identity), resources=limits or info.resources or task.resources
        ),
        unit=Unit(
            task=task.name,
            dataset=dataset.name,
            repeat=repeat,
            size="tiny",
            seed=keys.unit_seed(
                task=task.name, task_version=1, dataset=dataset.name, repeat=repeat, suite_seed=0
            ),
            limit=None,
            settings=task.sizes["tiny"].settings,
        ),
        stages=("collect", "score"),
        attempt=1,
        model=Source(entry=info.entry),
        task_entry=task.entry,
        metrics=tuple(metric.name for metric in task.metrics),
        requires=info.requires,
        device="cpu",
        work_dir=str(work_dir),
        cache_dir=str(root / "cache"),
        log_path=str(root / "logs" / f"{work_dir.name}.log"),
    )
    return dataclasses.replace(order, **fields)


@pytest.fixture
def make_order(tmp_path: Path) -> MakeOrder:
    def make(name: str, /, **fields: Any) -> WorkOrder:
        return build_order(name, tmp_path, **fields)

    return make


@pytest.fixture(scope="package")
def engine() -> Iterator[LocalEngine]:
    """Two warm slots. A supervisor takes seconds to start, so tests that can share them do."""
    engine = LocalEngine(2)
    yield engine
    engine.shutdown(kill=True)
