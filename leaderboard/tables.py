"""Tables: columns of metrics, rows of models, cells that share an axis per column."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bench.leaderboard import cells
from bench.leaderboard.cells import Cell, Estimate
from bench.leaderboard.lines import Line, LineKey
from bench.leaderboard.records import JobRecord
from bench.spec import MetricInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One metric in one place. `key` is unique on a page and names the column in its address."""

    key: str
    metric: MetricInfo
    title: str
    group: str = ""  # heading above, e.g. the task
    href: str = ""

    @property
    def label(self) -> str:
        return self.title or self.metric.title or self.metric.name

    @property
    def arrow(self) -> str:
        if self.metric.target is not None:
            return f"→ {self.metric.target:g}"
        return {"max": "↑", "min": "↓", "none": ""}[self.metric.direction]

    @property
    def wish(self) -> str:
        """The arrow in words."""
        if self.metric.target is not None:
            return f"best at {self.metric.target:g}"
        words = {"max": "higher is better", "min": "lower is better", "none": "descriptive, not ranked"}
        return words[self.metric.direction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the jobs of a row took, and how many of them ended well."""

    ok: int
    planned: int
    seconds: float | None  # mean over jobs
    peak_rss_mb: float | None  # largest
    date: date | None  # of the newest result


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    line: Line
    cells: tuple[Cell, ...]
    cost: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows best first by the primary column. Upper bounds stay on top, limited results at the bottom."""

    columns: tuple[Column, ...]
    pinned: tuple[Row, ...]
    rows: tuple[Row, ...]
    limited: tuple[Row, ...]
    sorted_by: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)  # cells by kind or status that hold no value
    gaps: Mapping[str, str] = field(default_factory=dict)  # the same by column key, as text

    @property
    def everyone(self) -> tuple[Row, ...]:
        return (*self.pinned, *self.rows, *self.limited)

    @property
    def groups(self) -> list[list[Column]]:
        """Neighbouring columns with the same heading above."""
        return [list(found) for _, found in itertools.groupby(self.columns, key=lambda c: c.href)]


KINDS = {"missing": "not run", "absent": "not reported", "unmeasurable": "not measurable"}
Find = Callable[[LineKey, Column], Estimate]


def goodness(metric: MetricInfo, value: float) -> float:
    """Larger is better; the distance to the target where the metric has one."""
    if metric.target is not None:
        return -abs(value - metric.target)
    return value if metric.direction == "max" else -value


def build(
    columns: Sequence[Column],
    lines: Sequence[Line],
    find: Find,
    jobs: Mapping[LineKey, Sequence[JobRecord]],
    *,
    planned: Mapping[LineKey, int] | None = None,
    tied: Callable[[Column], frozenset[LineKey]] = lambda column: frozenset(),
    order: Mapping[LineKey, float] | None = None,
) -> Table:
    """Put estimates into cells; columns share axis, decimals and marks for the best contender and its group.

    Rows stand by `order`, smallest first, where that is given, else best first by the primary column.
    """
    shown: list[list[Cell]] = []
    counts: Counter[str] = Counter()
    gaps: dict[str, str] = {}
    for column in columns:
        estimates = [find(line.key, column) for line in lines]
        shown.append(_column_cells(column, lines, estimates, tied(column)))
        missing = Counter(e.status if e.kind == "status" else e.kind for e in estimates if e.kind != "value")
        gaps[column.key] = ", ".join(f"{n} {KINDS.get(w, w)}" for w, n in sorted(missing.items()))
        counts.update(missing)
    rows = [
        Row(
            line=line,
            cells=tuple(column[i] for column in shown),
            cost=cost(jobs.get(line.key, ()), (planned or {}).get(line.key)),
        )
        for i, line in enumerate(lines)
    ]
    lead = next((i for i, c in enumerate(columns) if c.metric.primary), 0)
    rows.sort(key=lambda row: _rank(row, lead, columns))
    if order is not None:
        rows.sort(key=lambda row: order.get(row.line.key, math.inf))
    return Table(
        columns=tuple(columns),
        pinned=tuple(r for r in rows if r.line.role == "bound" and r.line.limit is None),
        rows=tuple(r for r in rows if r.line.role != "bound" and r.line.limit is None),
        limited=tuple(r for r in rows if r.line.limit is not None),
        sorted_by="rank" if order else columns[lead].key if columns else "",
        counts=dict(sorted(counts.items())),
        gaps={key: words for key, words in gaps.items() if words},
    )


def cost(jobs: Iterable[JobRecord], planned: int | None = None) -> Cost:
    found = list(jobs)
    times = [j.duration_s for j in found if j.ok and j.duration_s is not None]
    memory = [j.peak_rss_mb for j in found if j.peak_rss_mb is not None]
    ends = [j.ended_at for j in found if j.ended_at is not None]
    return Cost(
        ok=sum(j.ok for j in found),
        planned=max(len(found), planned or 0),
        seconds=sum(times) / len(times) if times else None,
        peak_rss_mb=max(memory) if memory else None,
        date=max(ends).date() if ends else None,
    )


def _column_cells(
    column: Column, lines: Sequence[Line], estimates: Sequence[Estimate], tied: frozenset[LineKey]
) -> list[Cell]:
    axis, decimals = cells.axis_of(estimates), cells.decimals_of(estimates)
    marks = [
        goodness(column.metric, e.mean)
        for line, e in zip(lines, estimates, strict=True)
        if line.competes and e.mean is not None
    ]
    top = max(marks) if len(marks) > 1 and column.metric.direction != "none" else None
    return [
        cells.present(
            e,
            axis,
            decimals,
            best=top is not None
            and line.competes
            and e.mean is not None
            and goodness(column.metric, e.mean) == top,
            tied=top is not None and line.key in tied,
        )
        for line, e in zip(lines, estimates, strict=True)
    ]


def _rank(row: Row, lead: int, columns: Sequence[Column]) -> tuple[bool, float, str, int]:
    mean = row.cells[lead].estimate.mean if row.cells else None
    best_first = 0.0 if mean is None else -goodness(columns[lead].metric, mean)
    return mean is None, best_first, row.line.model, row.line.limit or 0
