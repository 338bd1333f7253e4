"""Finds, in the process of a job, what its order names: the adapter, the task, the datasets."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from bench import registry
from bench.errors import BenchError, InvalidOutput, MissingRequirement
from bench.requirements import check_modules
from bench.spec import Adapter, ModelInfo, Task, TaskInfo
from bench.work import WorkOrder


def check_requirements(order: WorkOrder) -> None:
    """Raise `MissingRequirement` for the first module or GPU that the job needs and that isn't there."""
    check_modules(order.requires, f"{order.job.model} on {order.job.task}")
    if "collect" in order.stages:
        _check_gpus(order)


def _check_gpus(order: WorkOrder) -> None:
    needed = order.job.resources.gpus
    if order.device == "cpu":
        if needed > 0:
            raise MissingRequirement(f"needs {needed:g} GPU; this job runs on the CPU (see --device)")
        return
    import torch

    there = torch.cuda.device_count()
    if there < max(1.0, needed):
        raise MissingRequirement(f"needs {max(needed, 1.0):g} GPU; this machine offers {there}")


def extend_path(folders: Iterable[str]) -> None:
    """Make the modules of a submission importable. Last on the path: a submission can't replace ours."""
    sys.path.extend(folder for folder in folders if folder not in sys.path)


def load_adapter(order: WorkOrder) -> Adapter:
    """A fresh adapter of the ordered class, made with the job's parameters, `info` set."""
    if order.model.kind != "class":
        raise BenchError(f"a model of kind {order.model.kind!r} has no Python class to load")
    cls = _class_in_file(order.model.file, order.model.entry) if order.model.file else _imported(order)
    if not (isinstance(cls, type) and issubclass(cls, Adapter)):
        raise InvalidOutput(f"{order.model.entry} is not a class derived from bench.Adapter")
    adapter = cls(**order.job.model_params)
    if not isinstance(getattr(adapter, "info", None), ModelInfo):
        adapter.info = _model_info(order)
    return adapter


def _imported(order: WorkOrder) -> Any:
    return registry.resolve(order.model.entry)


def _class_in_file(file: str, name: str) -> Any:
    module = _module_of_file(file)
    try:
        return getattr(module, name)
    except AttributeError:
        raise BenchError(f"{file} defines no {name!r}") from None


def _module_of_file(file: str) -> ModuleType:
    """Run `file` as a module of its own, under a name that can't clash with an installed one."""
    name = f"_bench_submission_{hashlib.sha256(file.encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BenchError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up here
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _model_info(order: WorkOrder) -> ModelInfo:
    job = order.job
    known = _known("models", job.model)
    if known is not None:
        return known  # type: ignore[no-any-return]
    family = job.task.split(".", 1)[0]
    return ModelInfo(
        name=job.model,
        version=job.model_version,
        families=(family,),
        entry=order.model.entry,
        params=job.model_params,
    )


def load_task(order: WorkOrder) -> tuple[Task, TaskInfo]:
    """The ordered task, and its declaration: the registered one, else the one its class carries."""
    task = registry.resolve(order.task_entry)()
    if not isinstance(task, Task):
        raise BenchError(f"{order.task_entry} is not a class derived from bench.Task")
    info = _known("tasks", order.job.task) or getattr(task, "info", None)
    if not isinstance(info, TaskInfo):
        raise BenchError(
            f"task {order.job.task!r} is not registered and {order.task_entry} carries no `info`"
        )
    task.info = info
    return task, info


@functools.cache
def load_dataset(name: str) -> Any:
    """The registered dataset `name`, read once per process."""
    info = _known("datasets", name)
    if info is None:
        datasets = _registry().datasets
        raise BenchError(registry.unknown("dataset", name, datasets))
    return registry.resolve(info.entry)()


def _known(kind: str, name: str) -> Any:
    """The info of a registered name, or None. Third-party packages are looked at only if need be."""
    found = getattr(_builtin(), kind).get(name) or getattr(_registry(), kind).get(name)
    return found.info if found else None


@functools.cache
def _builtin() -> registry.Registry:
    return registry.builtin()


@functools.cache
def _registry() -> registry.Registry:
    return registry.load()


def warm_up(order: WorkOrder) -> None:
    """Import what `order` names of our own package, so that children forked later need not.

    Only modules of `bench` itself: other people's code runs in the child of its job and nowhere else. What
    fails here fails again in the job, where it is reported.
    """
    dataset = _builtin().datasets.get(order.job.dataset)
    model = "" if order.model.file else order.model.entry
    for entry in (order.task_entry, model, dataset.info.entry if dataset else ""):
        module = entry.partition(":")[0]
        if module.startswith("bench.") and module not in sys.modules:
            try:
                importlib.import_module(module)
            except Exception:
                sys.modules.pop(module, None)
