"""Help for tests of engines: work orders for the models of the family `selftest`."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.keys import job_key, unit_seed
from bench.registry import builtin
from bench.spec import Job, Resources, Unit
from bench.work import Source, WorkOrder


def build_order(
    name: str, root: Path, /, *, repeat: int = 0, limits: Resources | None = None, **fields: Any
) -> WorkOrder:
    """An order for the model `selftest-<name>`, working in a new folder below `root`.

    `fields` replace fields of the order.
    """
    known = builtin()
    model = known.models[f"selftest-{name}"].info
    task = known.tasks["selftest.echo"].info
    dataset = known.datasets["selftest-ramp"].info
    identity: dict[str, Any] = {
        "task": task.name,
        "task_version": task.version,
        "model": model.name,
        "model_version": model.version,
        "model_source_sha256": "0" * 64,
        "model_params": dict(model.params),
        "dataset": dataset.name,
        "dataset_sha256": dataset.sha256,
        "size": "tiny",
        "repeat": repeat,
        "suite_seed": 0,
        "limit": None,
    }
    seed = unit_seed(
        task=task.name, task_version=task.version, dataset=dataset.name, repeat=repeat, suite_seed=0
    )
    work_dir = tempfile.mkdtemp(prefix=f"{name}-", dir=root)
    order = WorkOrder(
        job=Job(**identity, key=job_key(**identity), resources=limits or model.resources or task.resources),
        unit=Unit(
            task=task.name,
            dataset=dataset.name,
            repeat=repeat,
            size="tiny",
            seed=seed,
            limit=None,
            settings=task.sizes["tiny"].settings,
        ),
        stages=("collect", "score"),
        attempt=1,
        model=Source(entry=model.entry),
        task_entry=task.entry,
        metrics=tuple(metric.name for metric in task.metrics),
        requires=model.requires,
        device="cpu",
        work_dir=work_dir,
        cache_dir=str(root / "cache"),
        log_path=str(root / "logs" / f"{Path(work_dir).name}.log"),
    )
    return replace(order, **fields)
