"""The two halves of a job, run in the current process. Engines differ only in where they call this."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.artifacts import NOTES_FILE, artifact_digest
from bench.engine import external, loading
from bench.engine.report import StageReport, check_notes
from bench.errors import InvalidOutput
from bench.registry import missing_module
from bench.spec import Adapter, Artifact, Context, JSONScalar, TaskOutput
from bench.validate import check_output
from bench.work import Stage, WorkOrder

REPORT_EVERY_S = 0.1
MAX_NOTES_BYTES = 2**20
Tell = Callable[[int, int], None]
OnArtifact = Callable[[str, int], None]


def artifact_folder(order: WorkOrder) -> Path:
    """Where the artifact of `order` is written by collect, or lies already."""
    return Path(order.artifact_dir) if "collect" not in order.stages else Path(order.work_dir, "artifact")


def prepare(order: WorkOrder, stage: Stage) -> None:
    """Make the folders of a stage, new and empty: collect may have left a link where score will write."""
    for name in ("artifact" if stage == "collect" else "exhibits", "scratch"):
        folder = Path(order.work_dir, name)
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    stage_cache(order, stage).mkdir(parents=True, exist_ok=True)


def stage_cache(order: WorkOrder, stage: Stage) -> Path:
    """The cache of one half of a job: what scoring reads from its cache, no model was meant to write to."""
    return Path(order.cache_dir, stage)


def run_stage(
    order: WorkOrder, stage: Stage, deadline: float, tell: Tell, on_artifact: OnArtifact | None = None
) -> StageReport:
    """Run one stage to its end. Whatever it raises, `KeyboardInterrupt` included, becomes its report.

    `on_artifact` hears the hash and size of the artifact before it is scored.
    """
    report = StageReport(stage=stage)
    try:
        loading.extend_path(order.search_path)
        if stage == order.stages[0]:
            loading.check_requirements(order)
        context = _context(order, stage, deadline, _sparing(tell))
        _seed_everything(order.unit.seed)
        if stage == "collect":
            _collect(order, context, report)
        else:
            _score(order, context, report, on_artifact)
    except BaseException as error:
        report.fail(error)
    _look_at_gpu(report)
    return report


def _collect(order: WorkOrder, context: Context, report: StageReport) -> None:
    started, own_pid = time.monotonic(), os.getpid()
    task, _ = loading.load_task(order)
    if order.model.kind != "class":
        external.collect(task, order, context, report)
        return
    try:
        adapter = loading.load_adapter(order)
        adapter.setup(context)
    except ModuleNotFoundError as error:
        # An optional library imported without being declared in `requires`.
        raise missing_module(error.name or str(error), order.job.model) from error
    finally:
        report.setup_s = time.monotonic() - started
    started = time.monotonic()
    try:
        notes = task.collect(adapter, order.unit, context)
    finally:
        report.collect_s = time.monotonic() - started
        _close(adapter)
    if os.getpid() != own_pid:
        os._exit(0)  # a fork that the model made and that ran out of its code
    report.notes = check_notes(notes, "notes of collect")
    _write_notes(context.artifact_dir / NOTES_FILE, report.notes)


def _close(adapter: Adapter) -> None:
    """The work is done, or failed with an error that says more than a failing `close` could."""
    with suppress(Exception):
        adapter.close()


def _score(order: WorkOrder, context: Context, report: StageReport, on_artifact: OnArtifact | None) -> None:
    started = time.monotonic()
    try:
        report.artifact_sha256, report.artifact_bytes = artifact_digest(context.artifact_dir)
        if order.artifact_sha256 and order.artifact_sha256 != report.artifact_sha256:
            raise InvalidOutput(
                f"the artifact in {context.artifact_dir} has the hash {report.artifact_sha256}, "
                f"not the recorded {order.artifact_sha256}; it was changed after it was made"
            )
        if on_artifact is not None:
            on_artifact(report.artifact_sha256, report.artifact_bytes)
        task, info = loading.load_task(order)
        artifact = Artifact(
            dir=context.artifact_dir,
            sha256=report.artifact_sha256,
            notes=_read_notes(context.artifact_dir / NOTES_FILE),
        )
        output = task.score(artifact, order.unit, context)
        report.rows = check_output(output, info, context.exhibit_dir)
        report.notes = {**artifact.notes, **check_notes(output.notes)}
        report.flags, report.exhibits = tuple(output.flags), tuple(output.exhibits)
        _write_samples(output, order, report)
    finally:
        report.score_s = time.monotonic() - started


def _write_samples(output: TaskOutput, order: WorkOrder, report: StageReport) -> None:
    """Samples may be millions: they go into a file, not through the pipe."""
    import numpy as np

    if output.samples is None or output.sample_ids is None:
        return
    arrays = {name: np.asarray(values, dtype=np.float32) for name, values in output.samples.items()}
    report.samples_file = "samples.npz"
    report.n_samples = len(output.sample_ids)
    with Path(order.work_dir, report.samples_file).open("xb") as file:
        np.savez(file, allow_pickle=False, sample_ids=np.asarray(output.sample_ids), **arrays)


def _write_notes(path: Path, notes: Mapping[str, JSONScalar]) -> None:
    """Notes are part of the artifact, and of its hash: scoring it again must see the same."""
    if os.path.lexists(path):
        raise InvalidOutput(f"the artifact has a file {NOTES_FILE!r}, a name that the bench keeps for itself")
    if notes:
        path.write_text(json.dumps(dict(notes), sort_keys=True, indent=0) + "\n", encoding="utf-8")


def _read_notes(path: Path) -> dict[str, JSONScalar]:
    if not path.exists():
        return {}
    if path.stat().st_size > MAX_NOTES_BYTES:
        raise InvalidOutput(f"{NOTES_FILE} of the artifact is over {MAX_NOTES_BYTES} bytes")
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidOutput(f"{NOTES_FILE} of the artifact is not JSON: {error}") from None
    return check_notes(notes, NOTES_FILE)


def _context(order: WorkOrder, stage: Stage, deadline: float, tell: Tell) -> Context:
    unit = order.unit
    return Context(
        device="cuda:0" if order.device.startswith("cuda") else "cpu",
        seed=unit.seed,
        size=unit.size,
        limit=unit.limit,
        deadline=deadline,
        cache_dir=stage_cache(order, stage),
        artifact_dir=artifact_folder(order),
        exhibit_dir=Path(order.work_dir, "exhibits"),
        load_dataset=loading.load_dataset,
        report=tell,
    )


def _sparing(tell: Tell) -> Tell:
    """`tell` at most ten times a second, so that a tight loop may report every step."""
    last = float("-inf")

    def sparing(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= REPORT_EVERY_S or done == total:
            last = now
            tell(int(done), int(total))

    return sparing


def _seed_everything(seed: int) -> None:
    """Give code that uses global generators the same numbers on every engine and slot."""
    import random

    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch.manual_seed(seed)


def _look_at_gpu(report: StageReport) -> None:
    import sys

    torch: Any = sys.modules.get("torch")
    with suppress(Exception):  # a broken CUDA context must not hide the error that broke it
        if torch is not None and torch.cuda.is_initialized():
            report.peak_gpu_mb = torch.cuda.max_memory_allocated() / 2**20
            report.device_name = torch.cuda.get_device_name()
