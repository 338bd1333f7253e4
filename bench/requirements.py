"""What a job needs and may not find here: modules, programs, data. Nothing is imported to look."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.errors import BenchError, MissingRequirement
from bench.registry import Registered, missing_module, resolve
from bench.spec import DatasetInfo, ModelInfo, TaskInfo
from bench.submissions.command import missing_program


def is_installed(module: str) -> bool:
    """Whether `import module` would find something; `module` may be dotted."""
    if module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # a parent of a dotted name is missing
        return False


def check_modules(modules: Iterable[str], wanted_by: str) -> None:
    """Raise `MissingRequirement` with the install line for the first of `modules` that is not there."""
    for module in modules:
        if not is_installed(module):
            raise missing_module(module, wanted_by)


def check_model(model: Registered[ModelInfo]) -> None:
    """Raise `MissingRequirement` for the first module or program that `model` needs and that is not there."""
    check_modules(model.info.requires, model.info.name)
    program = missing_program(model.source.command, model.info.programs, Path(model.source.file))
    if program:
        raise MissingRequirement(
            f"needs the program {program}, which is not on PATH; wanted by {model.info.name}"
        )


def check_data(dataset: DatasetInfo) -> None:
    """Raise `MissingRequirement`, with the remedy, if the data are not where they are looked for."""
    check_modules(dataset.requires, dataset.name)
    absence = resolve(dataset.locate)() if dataset.locate else None
    if absence:
        raise MissingRequirement(absence)


class Gaps:
    """Why jobs cannot run here, in words; what jobs have in common is looked up once."""

    def __init__(self) -> None:
        self._models: dict[str, str] = {}
        self._datasets: dict[str, str] = {}
        self._tasks: dict[str, str] = {}

    def of(self, task: TaskInfo, dataset: DatasetInfo, model: Registered[ModelInfo] | None) -> str:
        """Why `model` cannot run `task` on `dataset`, or ""; without `model`, why nothing can be scored."""
        if model is not None and model.info.name not in self._models:
            self._models[model.info.name] = _gap(lambda: check_model(model))
        if dataset.name not in self._datasets:
            self._datasets[dataset.name] = _gap(lambda: check_data(dataset))
        if task.name not in self._tasks:
            self._tasks[task.name] = _gap(lambda: check_modules(task.requires, task.name))
        own = self._models[model.info.name] if model is not None else ""
        return own or self._datasets[dataset.name] or self._tasks[task.name]


def _gap(check: Callable[[], None]) -> str:
    try:
        check()
    except BenchError as error:
        return str(error)
    return ""
