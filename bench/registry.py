"""Everything the bench knows by name: tasks, models, datasets.

Three origins: the built-in catalogue (`bench.catalog`, plain data), entry points of installed packages
(groups `bench.tasks`, `bench.models`, `bench.datasets`, each resolving to an info object), and files or
folders named on the command line or kept in `submissions/`. Nothing here imports an implementation;
entries are strings until a job resolves them in its own process.
"""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from bench.errors import BenchError, MissingRequirement, UsageError
from bench.spec import SIZES, DatasetInfo, ModelInfo, TaskInfo, check_name
from bench.work import DeclaredUnit, Source

_METRIC = re.compile(r"[a-z][a-z0-9_]*\Z")
Info = TypeVar("Info", TaskInfo, ModelInfo, DatasetInfo)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered(Generic[Info]):
    """An info object, where it was registered, and (for models) where its class is found."""

    info: Info
    origin: str
    source: Source
    files: tuple[str, ...] = ()  # of a submission: what its source hash covers
    runs: tuple[str, ...] = ()  # of a submitted folder: which class or command, covered as well
    search_path: tuple[str, ...] = ()
    units: tuple[DeclaredUnit, ...] = ()  # of a submission of artifacts


@dataclass
class Registry:
    """Names to infos. `warnings` lists third-party registrations that could not be read."""

    tasks: dict[str, Registered[TaskInfo]] = field(default_factory=dict)
    models: dict[str, Registered[ModelInfo]] = field(default_factory=dict)
    datasets: dict[str, Registered[DatasetInfo]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, item: Registered[Any]) -> None:
        """Register one info; a taken name is an error that names both origins."""
        kind, table = self._table(item.info)
        check_name(item.info.name, kind)
        if kind == "task":
            _check_task(item.info)
        old = table.get(item.info.name)
        if old is not None:
            raise UsageError(
                f"two registrations of {kind} {item.info.name!r}: {old.origin} and {item.origin}; rename one"
            )
        table[item.info.name] = item

    def _table(self, info: Any) -> tuple[str, dict[str, Registered[Any]]]:
        if isinstance(info, TaskInfo):
            return "task", self.tasks
        if isinstance(info, ModelInfo):
            return "model", self.models
        if isinstance(info, DatasetInfo):
            return "dataset", self.datasets
        raise UsageError(
            f"cannot register a {type(info).__name__}; expected TaskInfo, ModelInfo or DatasetInfo"
        )

    def families(self) -> list[str]:
        """Families with at least one task, in alphabetical order; `selftest` is internal and left out."""
        return sorted({t.info.family for t in self.tasks.values()} - {"selftest"})

    def match(self, kind: str, patterns: Iterable[str]) -> list[str]:
        """Names of `kind` ("task", "model", "dataset") matching any pattern; no match is a `UsageError`."""
        names = sorted(getattr(self, kind + "s"))
        found: list[str] = []
        for pattern in patterns:
            hits = fnmatch.filter(names, pattern)
            if not hits:
                raise UsageError(unknown(kind, pattern, names))
            found += [hit for hit in hits if hit not in found]
        return found


def unknown(kind: str, name: str, names: Iterable[str]) -> str:
    """The message for a name that does not exist, with the three nearest that do."""
    known = list(names)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
    what = "matches nothing" if any(c in name for c in "*?[") else "is unknown"
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"{kind} {name!r} {what}{hint} (see `bench list {kind}s`)"


def builtin() -> Registry:
    """The catalogue that ships with the bench."""
    from bench.catalog import FAMILIES

    registry = Registry()
    for module_name in FAMILIES:
        module = importlib.import_module(module_name)
        for info in (*module.DATASETS, *module.TASKS, *module.MODELS):
            registry.add(Registered(info=info, origin=module_name, source=Source(entry=info.entry)))
    return registry


def load() -> Registry:
    """The built-in catalogue and the entry points of installed packages."""
    registry = builtin()
    for group in ("bench.datasets", "bench.tasks", "bench.models"):
        for point in sorted(entry_points(group=group), key=lambda p: (p.name, p.value)):
            _add_entry_point(registry, point)
    _drop_tasks_without_data(registry)
    return registry


def _drop_tasks_without_data(registry: Registry) -> None:
    """A task on a data set that nobody registered cannot be planned; it costs a warning, too."""
    for name, task in list(registry.tasks.items()):
        wanted = {d for size in task.info.sizes.values() for d in size.datasets}
        missing = sorted(wanted - registry.datasets.keys())
        if missing:
            del registry.tasks[name]
            message = f"task {name!r} of {task.origin} was ignored: "
            registry.warnings.append(message + unknown("dataset", missing[0], registry.datasets))


def _add_entry_point(registry: Registry, point: EntryPoint) -> None:
    """A broken third-party package costs one warning line, never the command."""
    origin = f"entry point {point.name!r} of {point.dist.name if point.dist else 'an unknown package'}"
    try:
        found = point.load()
        infos = found if isinstance(found, (list, tuple)) else (getattr(found, "info", found),)
        for info in infos:
            registry.add(Registered(info=info, origin=origin, source=Source(entry=info.entry or point.value)))
    except Exception as error:
        registry.warnings.append(f"{origin} ({point.value}) was ignored: {type(error).__name__}: {error}")


def resolve(entry: str) -> Any:
    """The object behind "module:name". A missing third-party module is a `MissingRequirement`."""
    module_name, _, attribute = entry.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and not module_name.startswith(error.name):
            raise missing_module(error.name, module_name) from error
        raise BenchError(f"cannot import {module_name!r} for entry {entry!r}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise BenchError(f"module {module_name!r} has no {attribute!r} (entry {entry!r})") from None


def missing_module(module: str, wanted_by: str) -> MissingRequirement:
    """The error for a module that is not installed, naming what to install."""
    from bench.catalog import EXTRAS

    package, extra = EXTRAS.get(module.split(".")[0], (module.split(".")[0], ""))
    how = f"pip install 'generative-bench[{extra}]'" if extra else f"pip install {package}"
    return MissingRequirement(f"needs module {module} ({how}); wanted by {wanted_by}")


def _check_task(info: TaskInfo) -> None:
    if "." not in info.name:
        raise UsageError(f"task name {info.name!r} must be 'family.task'")
    names = [m.name for m in info.metrics]
    for name in names:
        if not _METRIC.match(name):
            raise UsageError(f"task {info.name!r} declares the metric {name!r}; use a-z, 0-9 and '_'")
    strangers = sorted(set(info.sizes) - set(SIZES))
    if strangers:
        raise UsageError(f"task {info.name!r} has the size {strangers[0]!r}; use {', '.join(SIZES)}")
    if len(set(names)) != len(names):
        raise UsageError(
            f"task {info.name!r} declares a metric twice: {sorted(n for n in names if names.count(n) > 1)}"
        )
    primaries = [m.name for m in info.metrics if m.primary]
    if len(primaries) != 1:
        raise UsageError(
            f"task {info.name!r} must declare exactly one primary metric, has {primaries or 'none'}"
        )
