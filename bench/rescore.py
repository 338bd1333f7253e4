"""Plans that score stored artifacts again, without the models that made them.

Everything comes from the store: the model may have been edited, removed, or never have run here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from bench.errors import UsageError
from bench.planned import Plan, PlannedJob
from bench.registry import Registered, Registry
from bench.spec import Job, ModelInfo, Resources, TaskInfo, Unit
from bench.work import Source

Row = Mapping[str, Any]


def rescore_plan(
    registry: Registry,
    rows: Iterable[Row],
    *,
    tasks: tuple[str, ...] = (),
    models: tuple[str, ...] = (),
    only_outdated: bool = False,
) -> Plan:
    """One job for each current result with an artifact, of the tasks and models that match.

    An artifact that could not be scored is one of them. Results of another task version are left alone:
    their units are not this task's units. With `only_outdated`, so are those that the current scoring made.
    Raises `UsageError` if nothing is left.
    """
    jobs = [
        _planned(registry, row)
        for row in rows
        if _matches(row["task"], tasks)
        and _matches(row["model"], models)
        and _is_scorable(registry, row)
        and not (only_outdated and row["scoring"] == registry.tasks[row["task"]].info.scoring)
    ]
    if not jobs and not only_outdated:
        raise UsageError("nothing to score again: no stored artifact of a current task version matches")
    return Plan(jobs=tuple(jobs))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_scorable(registry: Registry, row: Row) -> bool:
    task = registry.tasks.get(row["task"])
    return bool(
        task is not None
        and row["artifact_sha256"]
        and row["task_version"] == task.info.version
        and row["dataset"] in registry.datasets
        and row["size"] in task.info.sizes
    )


def _planned(registry: Registry, row: Row) -> PlannedJob:
    task = registry.tasks[row["task"]]
    return PlannedJob(
        job=_job(row),
        unit=_unit(row, task.info),
        task=task,
        model=_model(row),
        dataset=registry.datasets[row["dataset"]],
        action="rescore",
        reason=f"scoring {row['scoring']} -> {task.info.scoring}",
        attempt=row["attempt"] + 1,
        artifact_sha256=row["artifact_sha256"],
    )


def _job(row: Row) -> Job:
    same = (
        "task", "task_version", "model", "model_version", "model_source_sha256", "dataset",
        "dataset_sha256", "size", "repeat", "suite_seed", "limit",
    )  # fmt: skip
    return Job(
        **{name: row[name] for name in same},
        model_params=json.loads(row["model_params"]),
        key=row["job_key"],
        resources=Resources(**json.loads(row["resources"])),
    )


def _unit(row: Row, task: TaskInfo) -> Unit:
    return Unit(
        task=row["task"],
        dataset=row["dataset"],
        repeat=row["repeat"],
        size=row["size"],
        seed=row["unit_seed"],
        limit=row["limit"],
        settings=dict(task.sizes[row["size"]].settings),
    )


def _model(row: Row) -> Registered[ModelInfo]:
    """The model's card as it was stored; its code is not needed and not looked for."""
    card = json.loads(row["model_info"])
    lists = ("families", "requires", "training_data", "tags", "only_tasks")
    fields: dict[str, Any] = {n: tuple(value) if n in lists else value for n, value in card.items()}
    fields["resources"] = Resources(**card["resources"]) if card.get("resources") else None
    info = ModelInfo(**{k: v for k, v in fields.items() if k in ModelInfo.__dataclass_fields__})
    return Registered(info=info, origin="the store", source=Source(entry=""))
