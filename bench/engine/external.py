"""The collect stage of models that are no Python class: run a command, or take an artifact made elsewhere.

Either way what comes in is checked by the task before it counts, and again, in another process, by `score`.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.artifacts import MAX_ARTIFACT_BYTES, NOTES_FILE, artifact_digest, regular_files
from bench.engine.command import run_command
from bench.engine.report import StageReport
from bench.errors import InvalidOutput, MissingRequirement
from bench.spec import Artifact, Context, Task, Unit
from bench.submissions.command import fill, missing_program
from bench.work import WorkOrder

UNIT_FILE = "unit.json"
SEED_BITS = 31  # what every language can seed its generator with


def collect(task: Task, order: WorkOrder, context: Context, report: StageReport) -> None:
    """Fill `context.artifact_dir`, or raise what the job ends with."""
    if order.model.kind == "artifacts":
        _take(order, context)
        _check(task, order, context)
        return
    started = time.monotonic()
    folder = Path(order.model.file)
    absent = missing_program(order.model.command, order.model.programs, folder)
    if absent:
        raise MissingRequirement(
            f"needs the program {absent}, which is not on PATH; wanted by {order.job.model}"
        )
    scratch = Path(order.work_dir, "scratch")
    inputs = scratch / "input"
    described = write_inputs(task, order.unit, order.job.task_version, context, inputs)
    report.setup_s = time.monotonic() - started
    words = fill(order.model.command, _values(order.unit, context, described, inputs))
    started = time.monotonic()
    try:
        tail = run_command(
            words, folder=folder, watched=(context.artifact_dir, scratch), max_bytes=MAX_ARTIFACT_BYTES
        )
    finally:
        report.collect_s = time.monotonic() - started
    try:
        _check(task, order, context)
    except InvalidOutput as error:
        raise InvalidOutput(f"{error}{tail}") from None


def write_inputs(
    task: Task, unit: Unit, task_version: int, context: Context, folder: Path
) -> Mapping[str, Any]:
    """Write the input folder of `unit`, `unit.json` included, and return what that says."""
    folder.mkdir(parents=True)
    described = {
        "format": 1,
        "task": unit.task,
        "task_version": task_version,
        "dataset": unit.dataset,
        "size": unit.size,
        "repeat": unit.repeat,
        "limit": unit.limit,
        "seed": small_seed(unit.seed),
        "unit_seed": str(unit.seed),  # a text: many JSON readers round whole numbers above 2^53
        **task.export_inputs(unit, context, folder),
    }
    (folder / UNIT_FILE).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    return described


def small_seed(seed: int) -> int:
    """A unit's seed in 31 bits: R, JavaScript and awk cannot take all 63."""
    return seed % (1 << SEED_BITS)


def _values(unit: Unit, context: Context, described: Mapping[str, Any], inputs: Path) -> dict[str, str]:
    return {
        "input": str(inputs),
        "output": str(context.artifact_dir),
        "seed": str(described["seed"]),
        "n": str(described["n"]),
        "device": context.device,
        "size": unit.size,
    }


def _take(order: WorkOrder, context: Context) -> None:
    """Copy an artifact that was made elsewhere, if it is the declared one and was made for this unit."""
    unit, declared = order.unit, order.model
    if declared.seed != unit.seed:
        raise InvalidOutput(
            f"the artifact was made for seed {declared.seed}, but {unit.task} / {unit.dataset} / repeat "
            f"{unit.repeat} has the seed {unit.seed} in version {order.job.task_version} of the task: it was made "
            "for another version, and must be made again (`bench units` lists the seeds)"
        )
    source = Path(declared.file)
    if not source.is_dir():
        raise InvalidOutput(f"the artifact's folder {source.name!r} is not there any more")
    files = list(regular_files(source))
    if sum(path.lstat().st_size for path in files) > MAX_ARTIFACT_BYTES:
        raise InvalidOutput(f"the artifact is over {MAX_ARTIFACT_BYTES} bytes")
    for path in files:
        target = context.artifact_dir / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as old,
            target.open("xb") as new,
        ):
            shutil.copyfileobj(old, new, 2**20)


def _check(task: Task, order: WorkOrder, context: Context) -> None:
    folder, declared = context.artifact_dir, order.model.artifact_sha256
    sha256, _ = artifact_digest(folder)
    if declared and sha256 != declared:
        raise InvalidOutput(
            f"the artifact has the hash {sha256}, not the declared {declared}: its files were changed after "
            "they were declared (`bench seal FOLDER` declares them as they are)"
        )
    artifact = Artifact(dir=folder, sha256=sha256, notes={})
    names = artifact.names()
    if not names:
        raise InvalidOutput("the artifact has no file; write it to the folder {output}")
    if NOTES_FILE in names:
        raise InvalidOutput(f"the artifact has a file {NOTES_FILE!r}, a name that the bench keeps for itself")
    task.check_artifact(artifact, order.unit, context)
