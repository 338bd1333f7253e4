"""The check of artifacts made elsewhere: each is read in an isolated process, the first is scored as well."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import groupby

from bench.check import CheckResult, check_engine, run_planned
from bench.errors import UsageError
from bench.plan import Selection, make_plan
from bench.planned import PlannedJob
from bench.registry import Registered, Registry
from bench.spec import ModelInfo
from bench.work import DeclaredUnit, Outcome, Stage

BUDGET_S = 20.0  # no artifact is begun after that; each is checked again when it runs


def check_units(registry: Registry, model: Registered[ModelInfo]) -> Iterator[CheckResult]:
    """One line per artifact, and one per task and size on how much of it is covered."""
    there = [unit for unit in model.units if unit.sha256]
    if not there:
        detail = "no artifact is there yet; put them into the folders that the card names, then `bench seal`"
        yield CheckResult(name="artifacts", passed=False, detail=detail)
        return
    planned: list[tuple[DeclaredUnit, PlannedJob]] = []
    for (task, size), units in groupby(sorted(there, key=_place), key=lambda u: (u.task, u.size)):
        yield from _planned(registry, model, task, size, list(units), planned)
    yield from _read(planned)


def _place(unit: DeclaredUnit) -> tuple[str, str, str, int]:
    return unit.task, unit.size, unit.dataset, unit.repeat


def _planned(
    registry: Registry,
    model: Registered[ModelInfo],
    task: str,
    size: str,
    units: list[DeclaredUnit],
    planned: list[tuple[DeclaredUnit, PlannedJob]],
) -> Iterator[CheckResult]:
    """Find the jobs of `units` and add them to `planned`; tell what is covered and what belongs nowhere."""
    try:
        whole = make_plan(registry, _selection(model, task, size, None), past=()).jobs
        most = max(unit.repeat for unit in units) + 1
        jobs = make_plan(registry, _selection(model, task, size, most), past=()).jobs
    except UsageError as error:
        yield CheckResult(name=f"{task} {size}", passed=False, detail=str(error))
        return
    by_unit = {(p.job.dataset, p.job.repeat): p for p in jobs}
    covered = {(u.dataset, u.repeat) for u in units} & {(p.job.dataset, p.job.repeat) for p in whole}
    detail = f"artifacts for {len(covered)} of {len(whole)} units; the others are shown as skipped"
    if len(covered) == len(whole):
        detail = f"artifacts for all {len(whole)} units"
    yield CheckResult(name=f"{task} {size} coverage", passed=True, detail=detail)
    for unit in units:
        job = by_unit.get((unit.dataset, unit.repeat))
        if job is None:
            detail = (
                f"{task} has no data set {unit.dataset!r} at size {size}; see `bench units --task {task}`"
            )
            yield CheckResult(name=_name(unit), passed=False, detail=detail)
        else:
            planned.append((unit, job))


def _selection(model: Registered[ModelInfo], task: str, size: str, repeats: int | None) -> Selection:
    return Selection(tasks=(task,), models=(model.info.name,), size=size, repeats=repeats)  # type: ignore[arg-type]


def _read(planned: list[tuple[DeclaredUnit, PlannedJob]]) -> Iterator[CheckResult]:
    started, scored = time.monotonic(), False
    with check_engine() as (engine, folder):
        for index, (unit, job) in enumerate(planned):
            if time.monotonic() - started > BUDGET_S:
                detail = (
                    f"{len(planned) - index} artifacts were not read for lack of time; each is when it runs"
                )
                yield CheckResult(name="artifacts", passed=True, detail=detail)
                return
            if job.action == "skip":
                yield CheckResult(name=_name(unit), passed=True, detail=f"not read here: {job.reason}")
                continue
            stages: tuple[Stage, ...] = ("collect",) if scored else ("collect", "score")
            outcome = run_planned(engine, job, folder / str(index), stages)
            scored = scored or outcome.status == "ok"
            yield _verdict(unit, outcome)


def _verdict(unit: DeclaredUnit, outcome: Outcome) -> CheckResult:
    if outcome.status != "ok":
        detail = f"{outcome.status} in {outcome.stage or 'start'}: {outcome.error_message}"
        return CheckResult(name=_name(unit), passed=False, detail=detail)
    measured = sum(row.facet == "" for row in outcome.rows)
    detail = "seed, hash and content accepted" + (f", {measured} metrics computed" if measured else "")
    return CheckResult(name=_name(unit), passed=True, detail=detail)


def _name(unit: DeclaredUnit) -> str:
    return f"{unit.task} {unit.size} {unit.dataset} {unit.repeat}"
