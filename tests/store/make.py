"""Hand-made plans and outcomes: what a run would hand to the store."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from bench.artifacts import artifact_digest
from bench.keys import job_key, unit_seed
from bench.planned import PlannedJob
from bench.provenance import Provenance
from bench.registry import Registered
from bench.spec import (
    DatasetInfo,
    Exhibit,
    Job,
    Measure,
    MetricInfo,
    ModelInfo,
    Resources,
    SizePlan,
    TaskInfo,
    Unit,
)
from bench.store import RunWriter, Store
from bench.store.rows import RunFacts
from bench.work import MeasureRow, Outcome, Source

METRICS = (
    MetricInfo(name="score", direction="max", lo=0, hi=1, primary=True, kind="sample_mean"),
    MetricInfo(name="distance", direction="min", lo=0),
)


def planned(
    repeat: int = 0,
    *,
    model: str = "gaussian",
    source: str = "a" * 64,
    version: int = 1,
    scoring: int = 1,
    attempt: int = 1,
    stages: tuple[str, ...] = ("collect", "score"),
    **model_fields: Any,
) -> PlannedJob:
    """A job of task selftest.toy on dataset toy, at size tiny."""
    task = TaskInfo(
        name="selftest.toy", title="Toy", version=version, scoring=scoring, entry="x:X",
        sizes={"tiny": SizePlan(datasets=("toy",), repeats=3)}, metrics=METRICS, summary="s", protocol="own",
    )  # fmt: skip
    info = ModelInfo(name=model, version="1", families=("selftest",), **model_fields)
    data = DatasetInfo(
        name="toy", entry="x:toy", title="Toy", summary="s", license="CC0", data="generated", sha256="d" * 64
    )
    identity: dict[str, Any] = {
        "task": task.name, "task_version": version, "model": model, "model_version": "1",
        "model_source_sha256": source, "model_params": {}, "dataset": "toy", "dataset_sha256": data.sha256,
        "size": "tiny", "repeat": repeat, "suite_seed": 0, "limit": None,
    }  # fmt: skip
    seed = unit_seed(task=task.name, task_version=version, dataset="toy", repeat=repeat, suite_seed=0)
    return PlannedJob(
        job=Job(**identity, key=job_key(**identity), resources=Resources()),
        unit=Unit(
            task=task.name, dataset="toy", repeat=repeat, size="tiny", seed=seed, limit=None, settings={}
        ),
        task=Registered(info=task, origin="test", source=Source(entry="x:X")),
        model=Registered(info=info, origin="test", source=Source(entry="x:M")),
        dataset=Registered(info=data, origin="test", source=Source(entry="x:toy")),
        action="rescore" if stages == ("score",) else "run",
        reason="new",
        attempt=attempt,
    )


def outcome(
    job: PlannedJob, *, status: Any = "ok", score: float = 0.5, at: float = 1e9, **fields: Any
) -> Outcome:
    """How `job` ended, with two metrics if it is ok."""
    rows = (
        MeasureRow(metric="score", facet="", measure=Measure(value=score, ci_low=0.4, ci_high=0.6, n=9)),
        MeasureRow(metric="distance", facet="", measure=Measure(value=None, reason="too few samples")),
    )
    given = {"rows": rows if status == "ok" else (), "started_at": at - 1, "duration_s": 1.0, **fields}
    return Outcome(job_key=job.job.key, attempt=job.attempt, status=status, ended_at=at, **given)


def with_files(job: PlannedJob, work: Path, content: str = "made by a model", **fields: Any) -> Outcome:
    """An ok outcome with an artifact, an exhibit and sample scores in `work`."""
    (work / "artifact").mkdir(parents=True)
    (work / "artifact" / "out.txt").write_text(content)
    (work / "exhibits").mkdir()
    (work / "exhibits" / "grid.png").write_bytes(b"png")
    np.savez(work / "samples.npz", sample_ids=np.arange(4), score=np.linspace(0, 1, 4, dtype=np.float32))
    sha, size = artifact_digest(work / "artifact")
    return dataclasses.replace(
        outcome(job, **fields),
        artifact_sha256=sha,
        artifact_bytes=size,
        exhibits=(Exhibit(name="grid", kind="image", file="grid.png", caption="four"),),
        samples_file="samples.npz",
        n_samples=4,
    )


def start(store: Store, **options: Any) -> RunWriter:
    return store.start_run(argv=["bench", "run"], settings={"size": "tiny"}, plan=[], **options)


def filled(path: Path, n: int = 3, **fields: Any) -> Store:
    """A store with `n` finished jobs of one run."""
    store = Store.open(path, create=True)
    with start(store) as run:
        for repeat in range(n):
            job = planned(repeat)
            run.add(job, outcome(job, **fields))
    return store


def run_facts(**changes: Any) -> RunFacts:
    """What rows of a made-up run share."""
    nothing = dict.fromkeys((f.name for f in dataclasses.fields(Provenance)), "")
    facts = Provenance(**(nothing | {"git_dirty": None}))  # type: ignore[arg-type]
    return RunFacts(
        **{"run_id": "run", "provenance": facts, "engine": "local", "anonymous": False, **changes}
    )
