"""One cell of a table: what is known of one metric of one model, and why when nothing is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from bench.leaderboard import text, whisker
from bench.leaderboard.records import JobRecord, MetricRecord
from bench.leaderboard.whisker import Axis
from bench.stats.intervals import mean_t

Kind = Literal["value", "status", "unmeasurable", "absent", "missing"]
ROUNDING = 1e-9  # relative difference of repeats that are equal but for the order of summation
SEEDS = "t over repeats"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The numbers behind a cell. `kind` says which of them exist.

    `value`: measured. `status`: every job ended otherwise. `unmeasurable`: measured, but the value does
    not exist (`reason`). `absent`: the job is fine but does not report this metric. `missing`: no job.
    """

    kind: Kind
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    n: int = 0  # repeats that the mean is taken over
    equal: bool = False  # several repeats gave the same value: their interval would claim certainty
    planned: int = 0  # repeats that have a job
    status: str = ""  # of the jobs that are not ok
    reason: str = ""
    failure: str = ""  # id on the failures page


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """An `Estimate` made ready for a page."""

    estimate: Estimate
    text: str
    spread: str = ""
    path: str = ""  # whisker
    best: bool = False
    tied: bool = False  # not separable from the best by a test

    @property
    def kind(self) -> Kind:
        return self.estimate.kind


def estimate(jobs: Sequence[JobRecord], facet: str, metric: str, failure_ids: Mapping[str, str]) -> Estimate:
    """Summarise `metric` over the repeats of one model on one dataset."""
    if not jobs:
        return Estimate(kind="missing")
    bad = sorted((j for j in jobs if not j.ok), key=lambda j: not j.failed)  # a failure says more than a skip
    status = bad[0].status if bad else ""
    failure = failure_ids.get(bad[0].job_key, "") if bad else ""
    ending = _Ending(planned=len(jobs), status=status, failure=failure)
    records = [r for j in jobs if j.ok and (r := j.values.get(facet, {}).get(metric)) is not None]
    measured = [r for r in records if r.value is not None]
    if measured:
        return _summary(measured, ending)
    if records:
        return Estimate(kind="unmeasurable", reason=records[0].reason or "no reason given", **ending)
    return Estimate(kind="status" if len(bad) == len(jobs) else "absent", **ending)


class _Ending(TypedDict):
    """How the jobs of a cell ended."""

    planned: int
    status: str
    failure: str


def _summary(measured: Sequence[MetricRecord], ending: _Ending) -> Estimate:
    """The mean with the interval over repeats; from within a repeat where they cannot tell anything."""
    values = [r.value for r in measured if r.value is not None]
    interval = mean_t(values)
    low, high, method = interval.low, interval.high, SEEDS if interval.low is not None else ""
    equal = len(values) > 1 and max(values) - min(values) <= ROUNDING * max(map(abs, values))
    first = measured[0]
    if (low is None or equal) and first.ci_low is not None and first.ci_high is not None:
        low, high, method = first.ci_low, first.ci_high, first.ci_method
    return Estimate(
        kind="value",
        mean=interval.value,
        low=low,
        high=high,
        method=method,
        n=len(values),
        equal=equal,
        **ending,
    )


def axis_of(estimates: Iterable[Estimate]) -> Axis | None:
    """The axis that the whiskers of one column share."""
    shown = [e for e in estimates if e.kind == "value"]
    ends = [v for e in shown for v in (e.low, e.high) if v is not None]
    return whisker.axis_for([e.mean for e in shown if e.mean is not None], ends)


def decimals_of(estimates: Iterable[Estimate]) -> int:
    return text.decimals_for([e.mean for e in estimates if e.mean is not None])


def present(e: Estimate, axis: Axis | None, decimals: int, *, best: bool = False, tied: bool = False) -> Cell:
    """The texts and the whisker of one cell."""
    if e.kind != "value" or e.mean is None:
        return Cell(estimate=e, text=_WORDS.get(e.kind, "") or text.visible(e.status, 24))
    lead = "n=1" if e.n == 1 else f"{e.n} equal" if e.equal else ""
    interval = ""
    if e.low is not None and e.high is not None and not (e.equal and e.method == SEEDS):
        interval = text.spread(e.mean, e.low, e.high, decimals)
    shown = f"{lead} {interval}".strip()
    line = whisker.path(axis, e.mean, e.low, e.high) if axis else ""
    return Cell(estimate=e, text=text.number(e.mean, decimals), spread=shown, path=line, best=best, tied=tied)


_WORDS = {"unmeasurable": "not measurable", "absent": "not reported", "missing": "not run"}
