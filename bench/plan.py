"""Makes a plan: the cross product of models and units, checked against what is stored and what is here."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.errors import UsageError
from bench.keys import digest, job_key, unit_seed
from bench.planned import Action, Past, Plan, PlannedJob
from bench.registry import Registered, Registry, unknown
from bench.requirements import Gaps
from bench.sources import hash_entry, hash_files
from bench.spec import DatasetInfo, Job, ModelInfo, Size, TaskInfo, Unit
from bench.submissions.units import for_unit
from bench.work import FAILED

UNKNOWN_SECONDS = 5.0  # what a job that never ran is expected to take


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the user asked for; empty tuples mean "all of the suites"."""

    suites: tuple[str, ...] = ("all",)
    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    size: Size = "small"
    repeats: int | None = None
    seed: int = 0
    limit: int | None = None
    timeout_s: float | None = None
    memory_mb: int | None = None
    gpus: int = 0  # how many the run may use
    force: bool = False
    retry_failed: bool = False
    resume: bool = True


def make_plan(registry: Registry, selection: Selection, past: Sequence[Past]) -> Plan:
    """The plan for `selection`, given what the store holds (oldest row first).

    Raises `UsageError` for names that match nothing and for a selection without any job.
    """
    tasks = _tasks(registry, selection)
    models = _models(registry, selection, tasks)
    planner = _Planner(selection, past)
    jobs = [
        planner.plan(registry.tasks[task], registry.models[model], dataset, repeat)
        for model in models
        for task in tasks
        if registry.tasks[task].info.takes(registry.models[model].info)
        for dataset, repeat in _units(registry.tasks[task].info, registry, selection)
    ]
    if not jobs:
        raise UsageError("nothing to run: no selected model takes part in a selected task")
    return Plan(jobs=tuple(_ordered(jobs, past)))


class _Planner:
    """Turns (task, model, dataset, repeat) into a planned job; looks slow things up once."""

    def __init__(self, selection: Selection, past: Sequence[Past]) -> None:
        self._selection = selection
        self._by_key = {p.key: p for p in past}
        self._by_cell: dict[tuple[str, ...], list[Past]] = {}
        for p in past:
            self._by_cell.setdefault(_cell(p), []).append(p)
        self._hashes: dict[str, str] = {}
        self._gaps = Gaps()

    def plan(
        self,
        task: Registered[TaskInfo],
        model: Registered[ModelInfo],
        dataset: Registered[DatasetInfo],
        repeat: int,
    ) -> PlannedJob:
        unit, absent = unit_of(task.info, dataset.info, repeat, self._selection), ""
        if model.info.form == "artifacts":
            model, absent = for_unit(model, unit, self._selection.seed)
        job = _job(task.info, model.info, self._hash_of(model), dataset.info, repeat, self._selection)
        old = self._by_key.get(job.key)
        action, reason = _decide(job, task.info, old, self._by_cell.get(_cell(job), []), self._selection)
        if action in ("run", "rescore"):
            gap = absent or self._gap(job, task.info, dataset.info, model if action == "run" else None)
            action, reason = ("skip", gap) if gap else (action, reason)
        return PlannedJob(
            job=job,
            unit=unit,
            task=task,
            model=model,
            dataset=dataset,
            action=action,
            reason=reason,
            attempt=(old.attempts if old else 0) + 1,
            artifact_sha256=old.artifact_sha256 if old else "",
            is_stored=old is not None and (old.status, old.error_message) == ("skipped", reason),
            has_failed=action == "cached" and reason != "cached",
        )

    def _gap(
        self, job: Job, task: TaskInfo, dataset: DatasetInfo, model: Registered[ModelInfo] | None
    ) -> str:
        """Why the job cannot run here, or "". Without `model` only its artifact is scored."""
        gap = self._gaps.of(task, dataset, model)
        return gap or (_gpu_gap(job, self._selection) if model is not None else "")

    def _hash_of(self, model: Registered[ModelInfo]) -> str:
        if model.source.artifact_sha256:
            return model.source.artifact_sha256  # each artifact made elsewhere stands for itself
        if model.info.name not in self._hashes:
            self._hashes[model.info.name] = _source_hash(model)
        return self._hashes[model.info.name]


def _gpu_gap(job: Job, selection: Selection) -> str:
    needed = job.resources.gpus
    if needed <= selection.gpus:
        return ""
    return f"needs {needed:g} GPU; this run may use {selection.gpus or 'none'} (see --device)"


def _cell(item: Past | Job) -> tuple[str, ...]:
    """The place of a job in the tables, whatever code and data it ran with."""
    return (item.task, item.model, item.dataset, item.size, str(item.repeat))


def _tasks(registry: Registry, selection: Selection) -> list[str]:
    if selection.tasks:
        return registry.match("task", selection.tasks)
    families = registry.families()
    wanted: list[str] = []
    for suite in selection.suites:
        if suite == "all":
            wanted += families
        elif suite in (*families, "selftest"):
            wanted.append(suite)
        else:
            raise UsageError(unknown("suite", suite, ["all", *families]))
    return [name for name, task in sorted(registry.tasks.items()) if task.info.family in wanted]


def _models(registry: Registry, selection: Selection, tasks: Iterable[str]) -> list[str]:
    if selection.models:
        return registry.match("model", selection.models)
    families = {registry.tasks[name].info.family for name in tasks}
    return [name for name, m in sorted(registry.models.items()) if families & set(m.info.families)]


def _units(
    task: TaskInfo, registry: Registry, selection: Selection
) -> list[tuple[Registered[DatasetInfo], int]]:
    size = task.sizes.get(selection.size)
    if size is None:
        return []
    names = list(size.datasets)
    if selection.datasets:
        wanted = registry.match("dataset", selection.datasets)
        names = [name for name in names if name in wanted]
    repeats = size.repeats if selection.repeats is None else selection.repeats
    return [(registry.datasets[name], repeat) for name in names for repeat in range(repeats)]


def list_units(
    registry: Registry, selection: Selection
) -> list[tuple[Registered[TaskInfo], Registered[DatasetInfo], Unit]]:
    """Every unit of the selected tasks at the selected size, whatever models there are."""
    return [
        (registry.tasks[name], dataset, unit_of(registry.tasks[name].info, dataset.info, repeat, selection))
        for name in _tasks(registry, selection)
        for dataset, repeat in _units(registry.tasks[name].info, registry, selection)
    ]


def unit_of(task: TaskInfo, dataset: DatasetInfo, repeat: int, selection: Selection) -> Unit:
    """The unit of `task` on `dataset` with the seed that belongs to `repeat`."""
    return Unit(
        task=task.name,
        dataset=dataset.name,
        repeat=repeat,
        size=selection.size,
        seed=unit_seed(
            task=task.name,
            task_version=task.version,
            dataset=dataset.name,
            repeat=repeat,
            suite_seed=selection.seed,
        ),
        limit=selection.limit,
        settings=dict(task.sizes[selection.size].settings),
    )


def _job(
    task: TaskInfo,
    model: ModelInfo,
    source_hash: str,
    dataset: DatasetInfo,
    repeat: int,
    selection: Selection,
) -> Job:
    resources = model.resources or task.resources
    if selection.timeout_s is not None:
        resources = dataclasses.replace(resources, timeout_s=selection.timeout_s)
    if selection.memory_mb is not None:
        resources = dataclasses.replace(resources, memory_mb=selection.memory_mb)
    identity = {
        "task": task.name,
        "task_version": task.version,
        "model": model.name,
        "model_version": model.version,
        "model_source_sha256": source_hash,
        "model_params": dict(model.params),
        "dataset": dataset.name,
        "dataset_sha256": dataset.sha256,
        "size": selection.size,
        "repeat": repeat,
        "suite_seed": selection.seed,
        "limit": selection.limit,
    }
    return Job(**identity, key=job_key(**identity), resources=resources)  # type: ignore[arg-type]


def _source_hash(model: Registered[ModelInfo]) -> str:
    """Of a submitted file its hash (and its helpers'); of a folder its files and what of them is run."""
    if not model.search_path:
        return hash_entry(model.source.entry)
    files = hash_files([Path(f) for f in model.files], Path(model.search_path[0]))
    return digest([files, *model.runs]) if model.runs else files


def _decide(
    job: Job, task: TaskInfo, old: Past | None, cell: Sequence[Past], selection: Selection
) -> tuple[Action, str]:
    """What to do with a job and why; `old` has the same key, `cell` the same place in the tables."""
    if selection.force:
        return "run", "forced"
    if old is None:
        return "run", _why_new(job, cell)
    if old.scoring < task.scoring and old.artifact_sha256:
        if old.failed_scoring == task.scoring and not selection.retry_failed:
            return (
                "cached",
                f"failed before, scored again ({old.failed_status}); --retry-failed tries once more",
            )
        return "rescore", f"scoring changed ({old.scoring} -> {task.scoring})"
    if old.status == "ok":
        return ("cached", "cached") if selection.resume else ("run", "not resuming")
    if old.status in FAILED and old.status != "lost":
        if selection.retry_failed:
            # What was collected well need not be collected again to see whether it can be scored now.
            return "rescore" if old.artifact_sha256 else "run", f"failed before ({old.status})"
        return "cached", f"failed before ({old.status}); --retry-failed runs it again"
    return "run", "skipped before" if old.status == "skipped" else f"not finished before ({old.status})"


def _why_new(job: Job, cell: Sequence[Past]) -> str:
    if not cell:
        return "new"
    last = cell[-1]
    if last.model_source_sha256 != job.model_source_sha256:
        return "adapter changed"
    if last.dataset_sha256 != job.dataset_sha256:
        return "dataset changed"
    if last.task_version != job.task_version:
        return f"task changed ({last.task_version} -> {job.task_version})"
    return "new settings"


def _ordered(jobs: Sequence[PlannedJob], past: Sequence[Past]) -> list[PlannedJob]:
    """Model-major; models with the longest expected time first; deterministic."""
    seconds = expected_seconds(past)
    total: dict[str, float] = {p.job.model: 0.0 for p in jobs}
    for planned in jobs:
        if planned.action == "run":
            total[planned.job.model] += seconds.get((planned.job.model, planned.job.task), UNKNOWN_SECONDS)
    return sorted(
        jobs, key=lambda p: (-total[p.job.model], p.job.model, p.job.task, p.job.dataset, p.job.repeat)
    )


def expected_seconds(past: Iterable[Past]) -> Mapping[tuple[str, str], float]:
    """Mean duration of earlier finished jobs by (model, task)."""
    sums: dict[tuple[str, str], list[float]] = {}
    for p in past:
        if p.status == "ok":
            sums.setdefault((p.model, p.task), []).append(p.duration_s)
    return {key: sum(values) / len(values) for key, values in sums.items()}
