"""The contract check of a model: a few tiny jobs in isolated processes, one verdict per clause."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import requirements
from bench.datasets.cache import cache_folder
from bench.engine import Engine, make_engine
from bench.errors import MissingRequirement, UsageError
from bench.plan import Selection, make_plan
from bench.planned import PlannedJob
from bench.registry import Registered, Registry
from bench.runner import resolve_device
from bench.sources import folder_files
from bench.spec import ModelInfo, TaskInfo
from bench.work import Outcome, Stage

TIMEOUT_S = 120.0
DETERMINISTIC = "deterministic"  # tag of models that give the same output for every seed, by design


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of the report."""

    name: str
    passed: bool
    detail: str


def check_model(registry: Registry, name: str) -> Iterator[CheckResult]:
    """Check model `name` for each of its families; yields results as they are known."""
    model = registry.models[name]
    yield CheckResult(name="card", passed=True, detail=f"{name} {model.info.version} from {model.origin}")
    try:
        requirements.check_model(model)
    except MissingRequirement as error:
        yield CheckResult(name="requirements", passed=False, detail=str(error))
        return
    if model.info.form == "artifacts":
        from bench.check_units import check_units

        yield from check_units(registry, model)
        return
    for family in model.info.families:
        tasks = _tiny_tasks(registry, family, model.info)
        if not tasks:
            yield CheckResult(
                name=family,
                passed=False,
                detail=f"no task of family {family!r} has a tiny size and takes this model",
            )
        for task in tasks:
            yield from _check_task(registry, model, task)


def _tiny_tasks(registry: Registry, family: str, model: ModelInfo) -> list[TaskInfo]:
    tasks = [t.info for _, t in sorted(registry.tasks.items()) if t.info.family == family]
    return [t for t in tasks if "tiny" in t.sizes and t.takes(model)]


def _check_task(registry: Registry, model: Registered[ModelInfo], task: TaskInfo) -> Iterator[CheckResult]:
    """Twice the same unit and once another seed: that is all the contract needs."""
    first, other = _two_units(registry, model.info.name, task)
    before = _snapshot(model)
    with check_engine() as (engine, folder):
        outcome = run_planned(engine, first, folder / "first")
        yield _ran(task, outcome)
        if outcome.status != "ok":
            return
        yield _stays_inside(task, outcome, before, _snapshot(model))
        yield _same_seed(task, outcome, run_planned(engine, first, folder / "again"))
        yield _other_seed(task, model.info, outcome, run_planned(engine, other, folder / "other"))
        yield _usage(task, outcome)


@contextmanager
def check_engine() -> Iterator[tuple[Engine, Path]]:
    """An engine with one slot, and a folder for its jobs; both are gone afterwards."""
    engine = make_engine("local", workers=1, gpus=resolve_device("auto")[1])
    with tempfile.TemporaryDirectory(prefix="bench-check-", ignore_cleanup_errors=True) as folder:
        try:
            yield engine, Path(folder)
        finally:
            engine.shutdown(kill=True)


def _snapshot(model: Registered[ModelInfo]) -> dict[str, tuple[int, int]]:
    """Size and time of every file that belongs to a submitted command; its folder must stay as it is."""
    if model.info.form != "command":
        return {}
    root = Path(model.source.file)
    status = {p.relative_to(root).as_posix(): p.lstat() for p in folder_files(root)}
    return {name: (s.st_size, s.st_mtime_ns) for name, s in status.items()}


def _two_units(registry: Registry, name: str, task: TaskInfo) -> tuple[PlannedJob, PlannedJob]:
    selection = Selection(
        tasks=(task.name,),
        models=(name,),
        size="tiny",
        repeats=2,
        timeout_s=TIMEOUT_S,
        gpus=len(resolve_device("auto")[1]),
    )
    jobs = make_plan(registry, selection, past=()).jobs
    dataset = jobs[0].job.dataset
    first, other = (j for j in jobs if j.job.dataset == dataset)
    if first.action == "skip":
        raise UsageError(f"cannot check {name}: {first.reason}")
    return first, other


def run_planned(
    engine: Engine, planned: PlannedJob, folder: Path, stages: tuple[Stage, ...] = ("collect", "score")
) -> Outcome:
    """Run `planned` in the new folder `folder`; a failure brings the end of its log as traceback."""
    folder.mkdir()
    order = planned.order(
        device=resolve_device("auto")[0],
        work_dir=folder / "work",
        cache_dir=cache_folder(),
        log_path=folder / "log",
        stages=stages,
        audit_writes=True,
    )
    Path(order.work_dir).mkdir()
    outcome = engine.submit(order).result()
    if outcome.status != "ok":
        outcome = dataclasses.replace(outcome, traceback=_log_tail(folder / "log", outcome.traceback))
    return outcome


def _log_tail(log: Path, traceback: str) -> str:
    if traceback:
        return traceback
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(text.splitlines()[-20:])


def _ran(task: TaskInfo, outcome: Outcome) -> CheckResult:
    if outcome.status == "ok":
        measured = sum(row.facet == "" for row in outcome.rows)
        detail = f"artifact accepted, {measured} metrics computed"
    else:
        detail = (
            f"{outcome.status} in {outcome.stage or 'start'}: {outcome.error_type} {outcome.error_message}"
        )
        detail += "\n" + outcome.traceback if outcome.traceback else ""
    return CheckResult(name=f"{task.name} runs", passed=outcome.status == "ok", detail=detail)


def _stays_inside(
    task: TaskInfo, outcome: Outcome, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]
) -> CheckResult:
    outside = json.loads(str(outcome.notes.get("writes_outside", "[]")))
    changed = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    if changed:
        names = ", ".join(map(repr, changed[:5]))
        detail = f"files of the submission changed: {names}; write to {{output}}, or to $TMPDIR"
        return CheckResult(name=f"{task.name} stays inside", passed=False, detail=detail)
    detail = "no file written outside the job's folders"
    if outside:
        detail = "files written outside artifact_dir and cache_dir: " + ", ".join(outside[:5])
    return CheckResult(name=f"{task.name} stays inside", passed=not outside, detail=detail)


def _same_seed(task: TaskInfo, first: Outcome, again: Outcome) -> CheckResult:
    name = f"{task.name} repeats"
    if again.status != "ok":
        return CheckResult(name=name, passed=False, detail=f"the second run ended with {again.status}")
    same = first.artifact_sha256 == again.artifact_sha256
    detail = (
        "same seed, same output" if same else "same seed, different output: draw all randomness from `seed`"
    )
    return CheckResult(name=name, passed=same, detail=detail)


def _other_seed(task: TaskInfo, model: ModelInfo, first: Outcome, other: Outcome) -> CheckResult:
    name = f"{task.name} varies"
    if other.status != "ok":
        return CheckResult(
            name=name, passed=False, detail=f"with another seed the run ended with {other.status}"
        )
    if first.artifact_sha256 != other.artifact_sha256:
        return CheckResult(name=name, passed=True, detail="another seed, another output")
    if DETERMINISTIC in model.tags:
        return CheckResult(name=name, passed=True, detail="same output for every seed, as its tag says")
    detail = f"another seed, same output: use `seed`, or tag the model {DETERMINISTIC!r} if that is meant"
    return CheckResult(name=name, passed=False, detail=detail)


def _usage(task: TaskInfo, outcome: Outcome) -> CheckResult:
    memory = f"{outcome.peak_rss_mb:.0f} MB" if outcome.peak_rss_mb is not None else "unknown memory"
    return CheckResult(
        name=f"{task.name} uses", passed=True, detail=f"{outcome.duration_s:.2f} s, {memory} on tiny data"
    )
