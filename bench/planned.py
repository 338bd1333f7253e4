"""What a plan consists of, as data: jobs, what would be done with each and why, and what is known of the past."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bench.registry import Registered
from bench.spec import DatasetInfo, Job, ModelInfo, TaskInfo, Unit
from bench.work import Stage, WorkOrder

Action = Literal["run", "rescore", "cached", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the store knows of one job key: its current row."""

    key: str
    task: str
    task_version: int
    scoring: int
    model: str
    model_source_sha256: str
    dataset: str
    dataset_sha256: str
    size: str
    repeat: int
    status: str
    attempts: int
    artifact_sha256: str
    duration_s: float
    error_message: str = ""
    failed_scoring: int = 0  # the newest scoring that failed on the artifact of an ok row; 0 if none did
    failed_status: str = ""  # how that ended


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """One job, what would be done with it, and the reason in words."""

    job: Job
    unit: Unit
    task: Registered[TaskInfo]
    model: Registered[ModelInfo]
    dataset: Registered[DatasetInfo]
    action: Action
    reason: str
    attempt: int
    artifact_sha256: str = ""  # of the stored artifact, if there is one
    is_stored: bool = False  # a skip that the store knows of already, with the same reason
    has_failed: bool = False  # left alone ("cached"), because it failed before

    @property
    def stages(self) -> tuple[Stage, ...]:
        return ("score",) if self.action == "rescore" else ("collect", "score")

    @property
    def label(self) -> str:
        return f"{self.job.model} on {self.job.task} / {self.job.dataset} / repeat {self.job.repeat}"

    def order(
        self, *, device: str, work_dir: Path, cache_dir: Path, log_path: Path, **fields: Any
    ) -> WorkOrder:
        """The order that has an engine do this job; `fields` replace others of the order."""
        stages: tuple[Stage, ...] = fields.pop("stages", self.stages)
        own = self.model.info.requires if "collect" in stages else ()  # scoring needs nothing of the model
        requires = (*own, *self.dataset.info.requires, *self.task.info.requires)
        return WorkOrder(
            job=self.job,
            unit=self.unit,
            stages=stages,
            attempt=self.attempt,
            model=self.model.source,
            task_entry=self.task.source.entry,
            metrics=tuple(metric.name for metric in self.task.info.metrics),
            requires=tuple(dict.fromkeys(requires)),
            device=device,
            work_dir=str(work_dir),
            cache_dir=str(cache_dir),
            log_path=str(log_path),
            search_path=self.model.search_path,
            files=self.model.files,
            **fields,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All planned jobs in the order in which they will be started."""

    jobs: tuple[PlannedJob, ...]

    def is_done(self) -> bool:
        """Whether the store holds everything already."""
        return all(j.action == "cached" or j.is_stored for j in self.jobs)

    def with_action(self, *actions: Action) -> list[PlannedJob]:
        return [j for j in self.jobs if j.action in actions]

    def notices(self) -> list[str]:
        """One line per reason for which something is left out, with the number of jobs it costs."""
        counts = Counter(j.reason for j in self.with_action("skip"))
        return [f"{n} skipped: {reason}" for reason, n in sorted(counts.items())]
