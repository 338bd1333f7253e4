"""Runs that stop once two models are told apart: validity, order, failures, and the real command."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bench.errors import UsageError
from bench.plan import Selection, make_plan
from bench.planned import Plan, PlannedJob
from bench.registry import Registered, Registry, builtin
from bench.spec import Measure, MetricInfo
from bench.stopping import StopWhenDecided
from bench.store import Store
from bench.work import MeasureRow, Outcome, Status
from tests.leaderboard import fabricate

A, B = "selftest-uniform", "selftest-slow"
SET = MetricInfo(name="mean", direction="min", lo=0.0, hi=math.inf, kind="set", primary=True)


def registry(metric: MetricInfo = SET) -> Registry:
    """The self-test with another primary metric."""
    found = builtin()
    task = found.tasks["selftest.echo"]
    info = dataclasses.replace(task.info, metrics=(metric,))
    found.tasks["selftest.echo"] = Registered(info=info, origin=task.origin, source=task.source)
    return found


def plan(models: Sequence[str], repeats: int, metric: MetricInfo = SET) -> Plan:
    selection = Selection(suites=("selftest",), models=tuple(models), repeats=repeats, size="tiny")
    return make_plan(registry(metric), selection, [])


def outcome(planned: PlannedJob, value: float | None, status: Status = "ok") -> Outcome:
    rows = () if value is None else (MeasureRow(metric="mean", facet="", measure=Measure(value=value)),)
    return Outcome(job_key=planned.job.key, attempt=0, status=status, rows=rows)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that knows a baseline at 10 and an upper bound at 2."""
    fake = fabricate.FakeStore(tmp_path / "store")
    for model, value, tags in (("floor", 10.0, ["baseline"]), ("best", 2.0, ["oracle"])):
        info = {"name": model, "baseline": True, "tags": tags}
        place = {"task": "selftest.echo", "dataset": "selftest-ramp", "size": "tiny"}
        fake.add(**place, model=model, info=info, values={"mean": value}, primary="mean")
    return Store.open(fake.write())


def drive(watcher: StopWhenDecided, jobs: Sequence[PlannedJob], value: dict[str, float | None]) -> int:
    """Run the plan with fixed values; returns how many jobs ran."""
    ran = 0
    for planned in watcher.order(jobs):
        if not watcher.wants(planned):
            continue
        ran += 1
        v = value[planned.job.model]
        watcher.stored(planned, outcome(planned, v, "ok" if v is not None else "error"), "run")
    return ran


def test_repeats_on_a_scale_of_anchors_decide_and_the_rest_is_left_out(store: Store) -> None:
    made = plan([A, B], 30)
    watcher = StopWhenDecided(store, made, A, B)
    ran = drive(watcher, made.jobs, {A: 3.0, B: 9.0})
    assert 10 <= ran < 60
    assert watcher.left_out == 60 - ran
    (line,) = watcher.report()
    assert line.startswith(f"decided: {A} beats {B} on selftest.echo / selftest-ramp after {ran // 2} pairs")
    assert "scores from 10 (0) to 2 (1), the baseline and the upper bound, clipped" in line


def test_values_that_hardly_differ_stay_undecided(store: Store) -> None:
    made = plan([A, B], 20)
    watcher = StopWhenDecided(store, made, A, B)
    assert drive(watcher, made.jobs, {A: 5.0, B: 5.1}) == 40
    assert watcher.report()[0].startswith("undecided")


def test_failing_does_not_pay(store: Store) -> None:
    made = plan([A, B], 30)
    watcher = StopWhenDecided(store, made, A, B)
    drive(watcher, made.jobs, {A: 8.0, B: None})
    assert not watcher.report()[0].startswith(f"decided: {B}")
    better = StopWhenDecided(store, made, A, B)
    drive(better, made.jobs, {A: 2.0, B: None})
    assert better.report()[0].startswith(f"decided: {A} beats {B}")


def test_without_a_scale_everything_runs_and_the_reason_is_given(tmp_path: Path) -> None:
    made = plan([A, B], 10)
    watcher = StopWhenDecided(Store.open(tmp_path / "empty", create=True), made, A, B)
    assert drive(watcher, made.jobs, {A: 3.0, B: 9.0}) == 20
    assert watcher.report() == [
        "cannot stop early on selftest.echo / selftest-ramp: its range is not finite, and no baseline and upper "
        "bound in the store make a scale"
    ]


def test_repeats_of_both_run_side_by_side(tmp_path: Path) -> None:
    bounded = dataclasses.replace(SET, hi=1.0)
    made = plan([A, B, "selftest-raise"], 3, bounded)
    watcher = StopWhenDecided(Store.open(tmp_path / "empty", create=True), made, A, B)
    order = [(p.job.model, p.job.repeat) for p in watcher.order(made.jobs)]
    assert order[3:] == [(A, 0), (B, 0), (A, 1), (B, 1), (A, 2), (B, 2)]


def test_results_may_come_in_any_order(tmp_path: Path) -> None:
    """The order of evidence is that of the repeats, whichever job is ready first."""
    bounded = dataclasses.replace(SET, hi=1.0)
    made = plan([A, B], 12, bounded)
    rng = np.random.default_rng(0)
    values = {p.job.key: float(rng.random()) for p in made.jobs}
    reports = []
    for seed in range(3):
        watcher = StopWhenDecided(Store.open(tmp_path / f"s{seed}", create=True), made, A, B)
        jobs = list(made.jobs)
        np.random.default_rng(seed).shuffle(jobs)  # type: ignore[arg-type]
        for planned in jobs:
            watcher.stored(planned, outcome(planned, values[planned.job.key]), "run")
        reports.append(watcher.report())
    assert reports[0] == reports[1] == reports[2]


def test_equal_models_are_seldom_told_apart(tmp_path: Path) -> None:
    bounded = dataclasses.replace(SET, hi=1.0)
    made = plan([A, B], 30, bounded)
    store = Store.open(tmp_path / "empty", create=True)
    rng = np.random.default_rng(5)
    wrong, runs = 0, 60
    for _ in range(runs):
        watcher = StopWhenDecided(store, made, A, B)
        for planned in watcher.order(made.jobs):
            if watcher.wants(planned):
                watcher.stored(planned, outcome(planned, float(rng.integers(0, 2))), "run")
        wrong += watcher.report()[0].startswith("decided")
    assert wrong <= runs * 0.05 + 3 * math.sqrt(runs * 0.05 * 0.95)


def test_two_models_with_a_task_in_common_are_needed(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "empty", create=True)
    for names in ((A, A), (A, "nobody")):
        with pytest.raises(UsageError, match="two models with a task in common"):
            StopWhenDecided(store, plan([A, B], 2), *names)


MODELS = """
import numpy as np
from bench.selftest import EchoModel
from bench.spec import ModelInfo

class High(EchoModel):
    info = ModelInfo(name="high", version="1", families=("selftest",))
    def produce(self, n, reference, *, seed):
        return np.random.default_rng(seed).uniform(0.5, 1.0, n)

class Low(EchoModel):
    info = ModelInfo(name="low", version="1", families=("selftest",))
    def produce(self, n, reference, *, seed):
        return np.random.default_rng(seed).uniform(0.0, 0.5, n)
"""


def test_the_command_stops_and_compare_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    run = [
        *("run", "--suite", "selftest", "--task", "selftest.echo", "--size", "tiny", "--workers", "1"),
        *("--model", "models.py:High", "--model", "models.py:Low", "--repeats", "8"),
        *("--stop-when-decided", "high", "low"),
    ]
    bench = [sys.executable, "-m", "bench"]
    done = subprocess.run([*bench, *run], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "decided: high beats low on selftest.echo / selftest-ramp after" in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    ran, left = int(last.split(" ok")[0]), int(last.split(" not needed")[0].split()[-1])
    assert ran + left == 16
    assert left >= 8
    again = subprocess.run([*bench, *run], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0
    assert again.stderr.strip().splitlines()[-1].startswith("0 ok")
