"""Declarations of tasks that are not registered: retired ones, and those of tables made elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bench.leaderboard import text
from bench.leaderboard.records import JobRecord, MetricRecord
from bench.spec import Direction, MetricInfo, Protocol, TaskInfo

_PROTOCOLS: dict[str, Protocol] = {"paper": "paper", "predecessor": "predecessor"}
_DIRECTIONS: dict[str, Direction] = {"max": "max", "min": "min"}
RETIRED = "This task is no longer registered; its stored results are kept as they are."


def task_info(name: str, jobs: Sequence[JobRecord]) -> TaskInfo:
    """What the stored rows of an unregistered task say about it; untrusted, so every text is made plain."""
    declared = next((j.imported for j in jobs if j.imported), {})
    metrics: dict[str, MetricInfo] = {}
    for job in jobs:
        for values in job.values.values():
            for metric, record in values.items():
                if metric not in metrics:
                    metrics[metric] = _metric(metric, record, declared)
    return TaskInfo(
        name=name,
        title=_words(declared, "title", 80) or text.visible(name, 80),
        version=max((j.task_version for j in jobs), default=0),
        scoring=max((j.scoring for j in jobs), default=0),
        entry="",
        sizes={},
        metrics=tuple(sorted(metrics.values(), key=lambda m: (not m.primary, m.name))),
        summary=(_words(declared, "summary", 600) or "Imported from a table.") if declared else RETIRED,
        protocol=_PROTOCOLS.get(jobs[0].protocol if jobs else "", "own"),
        protocol_note=_words(declared, "source", 600),
    )


def _metric(name: str, record: MetricRecord, declared: Mapping[str, Any]) -> MetricInfo:
    found = declared.get("metrics")
    known = found.get(name) if isinstance(found, Mapping) else None
    card: Mapping[str, Any] = known if isinstance(known, Mapping) else {}
    return MetricInfo(
        name=name,
        direction=_DIRECTIONS.get(record.direction, "none"),
        lo=_number(card, "lo", -math.inf),
        hi=_number(card, "hi", math.inf),
        unit=_words(card, "unit", 24),
        primary=record.primary,
        title=_words(card, "title", 64),
        definition=_words(card, "definition", 600),
    )


def _words(card: Mapping[str, Any], key: str, limit: int) -> str:
    value = card.get(key)
    return text.visible(value, limit) if isinstance(value, str) else ""


def _number(card: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = card.get(key)
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else otherwise  # type: ignore[arg-type]


def dataset_title(name: str, jobs: Sequence[JobRecord]) -> str:
    """The title a table gave to a data set, else its name."""
    declared = next((j.imported for j in jobs if j.imported), {})
    return _words(declared, "dataset_title", 80) or text.visible(name, 64)
