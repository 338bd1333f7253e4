"""Identity of jobs, units and scores: what makes two of them the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from bench.spec import JSONScalar, Size, canonical_json


def digest(value: Any) -> str:
    """SHA-256 hex of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def job_key(
    *,
    task: str,
    task_version: int,
    model: str,
    model_version: str,
    model_source_sha256: str,
    model_params: Mapping[str, JSONScalar],
    dataset: str,
    dataset_sha256: str,
    size: Size,
    repeat: int,
    suite_seed: int,
    limit: int | None,
) -> str:
    """The key of a job: everything its artifact depends on, and nothing else (no resources)."""
    return digest(
        {
            "dataset": dataset,
            "dataset_sha256": dataset_sha256,
            "limit": limit,
            "model": model,
            "model_params": dict(model_params),
            "model_source_sha256": model_source_sha256,
            "model_version": model_version,
            "repeat": repeat,
            "size": size,
            "suite_seed": suite_seed,
            "task": task,
            "task_version": task_version,
        }
    )


def unit_seed(*, task: str, task_version: int, dataset: str, repeat: int, suite_seed: int) -> int:
    """The seed of a unit, in [0, 2^63); the same for every model, so that all see the same splits."""
    text = f"bench|{task}|{task_version}|{dataset}|{repeat}|{suite_seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") & (2**63 - 1)


def score_id(*, artifact_sha256: str, task: str, task_version: int, scoring: int) -> str:
    """What a score is keyed by: the artifact and the version of the code that read it."""
    return digest([artifact_sha256, task, task_version, scoring])
