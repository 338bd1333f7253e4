"""Writes what a unit asks for, with its data, for models that run somewhere else."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.datasets.cache import cache_folder
from bench.engine.external import write_inputs
from bench.engine.loading import load_dataset
from bench.errors import MissingRequirement, UsageError
from bench.registry import Registered, missing_module, resolve
from bench.requirements import check_data
from bench.spec import Context, DatasetInfo, TaskInfo, Unit


def export_unit(
    task: Registered[TaskInfo], dataset: Registered[DatasetInfo], unit: Unit, folder: Path
) -> None:
    """Make `folder` with unit.json and the data of `unit`: what a command finds in its {input}.

    Raises `MissingRequirement` if the data is not here or the task exports none, `UsageError` if `folder`
    exists.
    """
    if folder.exists():
        raise UsageError(f"{folder} exists already; export to another folder, or remove it")
    check_data(dataset.info)
    instance = resolve(task.source.entry)()
    instance.info = task.info
    with tempfile.TemporaryDirectory(prefix="bench-export-") as scratch:
        try:
            write_inputs(instance, unit, task.info.version, _context(unit, Path(scratch)), folder)
        except ModuleNotFoundError as error:
            raise missing_module(error.name or str(error), task.info.name) from error
        except MissingRequirement:
            folder.rmdir()
            raise


def _context(unit: Unit, scratch: Path) -> Context:
    return Context(
        device="cpu",
        seed=unit.seed,
        size=unit.size,
        limit=unit.limit,
        deadline=time.monotonic() + 3600.0,
        cache_dir=cache_folder() / "collect",
        artifact_dir=scratch,
        exhibit_dir=scratch,
        load_dataset=load_dataset,
    )
