from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from bench.leaderboard import cells
from bench.leaderboard.records import JobRecord, MetricRecord

_DEFAULTS: dict[str, Any] = {"str": "", "int": 0, "bool": False}


def job(status: str = "ok", value: float | str | None = "none", repeat: int = 0, **metric: Any) -> JobRecord:
    """A job with one metric "m", or without it for the word "none"."""
    fields: dict[str, Any] = {
        f.name: _DEFAULTS.get(str(f.type)) for f in dataclasses.fields(JobRecord) if f.name != "values"
    }
    fields |= {"store": Path("."), "job_key": f"{status}-{repeat}", "status": status, "repeat": repeat}
    fields |= {"flags": (), "exhibits": (), "notes": {}}
    values: dict[str, dict[str, MetricRecord]] = {}
    if value != "none":
        record = {"ci_low": None, "ci_high": None, "ci_method": "", "reason": "", "n": None}
        values = {
            "": {"m": MetricRecord(value=value, direction="max", primary=True, **{**record, **metric})}  # type: ignore[arg-type]
        }
    return JobRecord(**fields, values=values)


def estimate(*jobs: JobRecord) -> cells.Estimate:
    return cells.estimate(jobs, "", "m", {j.job_key: f"f-{j.job_key}" for j in jobs if not j.ok})


def test_mean_over_repeats_with_student_interval() -> None:
    found = estimate(*(job(value=v, repeat=i) for i, v in enumerate([0.71, 0.74, 0.70, 0.78, 0.73])))
    assert found.mean == pytest.approx(0.732)
    assert (found.low, found.high) == (pytest.approx(0.693329, abs=1e-6), pytest.approx(0.770671, abs=1e-6))
    assert (found.kind, found.n, found.planned, found.method) == ("value", 5, 5, cells.SEEDS)


def test_one_repeat_has_no_interval_and_says_so() -> None:
    found = estimate(job(value=0.5))
    assert (found.low, found.high, found.method) == (None, None, "")
    shown = cells.present(found, cells.axis_of([found]), 3)
    assert (shown.text, shown.spread) == ("0.500", "n=1")


def test_one_repeat_with_its_own_interval_names_the_method() -> None:
    found = estimate(job(value=0.5, ci_low=0.4, ci_high=0.6, ci_method="wilson"))
    assert (found.low, found.high, found.method) == (0.4, 0.6, "wilson")
    assert cells.present(found, None, 2).spread == "n=1 ±0.10"


def test_equal_repeats_claim_no_certainty() -> None:
    found = estimate(*(job(value=0.5 + 1e-12 * i, repeat=i) for i in range(3)))
    assert found.equal
    assert cells.present(found, None, 2).spread == "3 equal"
    own = estimate(*(job(value=0.5, repeat=i, ci_low=0.4, ci_high=0.6, ci_method="blocks") for i in range(3)))
    assert (own.low, own.high, own.method) == (0.4, 0.6, "blocks")
    assert cells.present(own, None, 2).spread == "3 equal ±0.10"


def test_partial_failure_keeps_the_value_and_points_to_the_failure() -> None:
    found = estimate(job(value=0.5), job(value=0.7, repeat=1), job("timeout", repeat=2))
    assert (found.kind, found.n, found.planned) == ("value", 2, 3)
    assert (found.status, found.failure) == ("timeout", "f-timeout-2")


def test_a_failure_says_more_than_a_skip() -> None:
    found = estimate(job("skipped"), job("oom", repeat=1))
    assert (found.kind, found.status, found.failure) == ("status", "oom", "f-oom-1")
    assert cells.present(found, None, 3).text == "oom"


@pytest.mark.parametrize(
    ("jobs", "kind", "shown"),
    [
        ([], "missing", "not run"),
        ([job()], "absent", "not reported"),
        ([job(value=None, reason="all samples are equal")], "unmeasurable", "not measurable"),
    ],
)
def test_cells_without_a_value_say_why(jobs: list[JobRecord], kind: str, shown: str) -> None:
    found = estimate(*jobs)
    assert found.kind == kind
    assert found.mean is None
    assert cells.present(found, None, 3).text == shown


def test_reason_of_what_cannot_be_measured_is_kept() -> None:
    assert estimate(job(value=None, reason="all samples are equal")).reason == "all samples are equal"
