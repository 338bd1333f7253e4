"""Results of earlier versions: what the same model scored on the same task before something changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bench.leaderboard.text import slug
from bench.store import Store

Cell = tuple[str, str, str, str]  # size, task, dataset, model
_JOBS = ("job_key", "run_id", "attempt", "status", "model_source_sha256", "limit", "suite_seed")
_METRICS = (
    "job_key", "run_id", "attempt", "size", "task", "dataset", "model", "model_version", "task_version",
    "scoring", "repeat", "value", "ended_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The primary metric of one version of a model under one version of a task: the mean over repeats."""

    task_version: int
    scoring: int
    model_version: str
    source: str  # first digits of the hash of the model's code
    mean: float
    n: int
    day: date

    @property
    def label(self) -> str:
        code = f" ({self.source})" if self.source else ""
        return f"model {self.model_version}{code}, task {self.task_version}.{self.scoring}"


def read(stores: Iterable[Path]) -> dict[Cell, tuple[Version, ...]]:
    """Oldest first, for every cell that has results of at least two versions; limited results are left out."""
    values: dict[Cell, dict[tuple[Any, ...], dict[tuple[int, int], tuple[datetime, float]]]] = {}
    for path in stores:
        store = Store.open(path)
        jobs = {
            (r["job_key"], r["run_id"], r["attempt"]): r
            for r in store.read("jobs", _JOBS, {"status": "ok"}).to_pylist()
        }
        for row in _primary(store).to_pylist():
            job = jobs.get((row["job_key"], row["run_id"], row["attempt"]))
            if job is not None and job["limit"] is None and row["ended_at"] is not None:
                _add(values, row, job)
    histories = {cell: _versions(found) for cell, found in values.items() if len(found) > 1}
    return dict(sorted(histories.items()))


def _primary(store: Store) -> pa.Table:
    metrics = store.read("metrics", (*_METRICS, "primary", "facet"))
    own = pc.or_kleene(pc.is_null(metrics["facet"]), pc.equal(metrics["facet"].cast(pa.string()), ""))
    shown = pc.and_(pc.fill_null(metrics["primary"], False), pc.and_(own, pc.is_finite(metrics["value"])))
    return metrics.filter(pc.fill_null(shown, False)).select(_METRICS)


def _add(values: dict[Cell, Any], row: Mapping[str, Any], job: Mapping[str, Any]) -> None:
    cell = (slug(row["size"] or "unknown"), row["task"] or "", row["dataset"] or "", row["model"] or "")
    version = (
        row["task_version"] or 0,
        row["scoring"] or 0,
        row["model_version"] or "",
        (job["model_source_sha256"] or "")[:8],
    )
    unit = (job["suite_seed"] or 0, row["repeat"] or 0)
    found = values.setdefault(cell, defaultdict(dict))[version]
    newest = (row["ended_at"], row["value"])
    found[unit] = max(found.get(unit, newest), newest)


def _versions(found: Mapping[tuple[Any, ...], Mapping[Any, tuple[datetime, float]]]) -> tuple[Version, ...]:
    ordered = sorted(found.items(), key=lambda item: (max(item[1].values())[0], item[0]))
    return tuple(
        Version(
            task_version=key[0],
            scoring=key[1],
            model_version=key[2],
            source=key[3],
            mean=sum(value for _, value in units.values()) / len(units),
            n=len(units),
            day=max(units.values())[0].date(),
        )
        for key, units in ordered
    )
