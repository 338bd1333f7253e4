"""Figures of a job's own tables and series: what a score found worth showing beside its numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.records import JobRecord
from bench.spec import Exhibit

MAX_POINTS, MAX_ROWS, MAX_COLUMNS = 5_000, 200, 20


def figures_from(jobs: Iterable[JobRecord], prefix: str) -> Iterable[Figure]:
    """One figure per readable table or series; `prefix` keeps their ids apart on a page."""
    for job in jobs:
        for number, exhibit in enumerate(job.exhibits):
            content = _load(job, exhibit) if exhibit.kind in ("table", "series") else None
            figure_id = f"{prefix}-{job.repeat}-{number}"
            title = f"{text.visible(exhibit.name, 64)}, repeat {job.repeat}"
            caption = text.visible(exhibit.caption, 400)
            if exhibit.kind == "series" and (points := _points(content)):
                yield _series(figure_id, title, caption, points)
            elif exhibit.kind == "table" and (table := _table(content)):
                yield Figure(id=figure_id, title=title, caption=caption, table=table)


def _load(job: JobRecord, exhibit: Exhibit) -> Any:
    path = exhibits.source_path(job, exhibit)
    try:
        return json.loads(path.read_text("utf-8")) if path is not None else None
    except (OSError, ValueError, RecursionError):
        return None


def _points(content: Any) -> list[tuple[float, float]]:
    """The (x, y) of a series; empty if it is not one."""
    if not isinstance(content, dict):
        return []
    xs, ys = content.get("x"), content.get("y")
    if not isinstance(xs, list) or not isinstance(ys, list) or len(xs) != len(ys):
        return []
    pairs = list(zip(xs, ys, strict=True))[:MAX_POINTS]
    return [(float(x), float(y)) for x, y in pairs if exhibits.is_number(x) and exhibits.is_number(y)]


def _series(figure_id: str, title: str, caption: str, points: list[tuple[float, float]]) -> Figure:
    trace = {
        "type": "scatter",
        "mode": "lines+markers" if len(points) <= 40 else "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"color": "--series-1"},
    }
    rows = tuple((f"{x:.6g}", f"{y:.6g}") for x, y in points[:MAX_ROWS])
    table = DataTable(head=("x", "y"), rows=rows)
    return Figure(id=figure_id, title=title, caption=caption, traces=[trace], table=table)


def _table(content: Any) -> DataTable | None:
    """A table from JSON records; None if there are none."""
    records = [r for r in content if isinstance(r, dict)] if isinstance(content, list) else []
    names = list(dict.fromkeys(str(k) for r in records for k in r))[:MAX_COLUMNS]
    if not names:
        return None
    rows = tuple(tuple(_cell(r.get(n)) for n in names) for r in records[:MAX_ROWS])
    return DataTable(head=tuple(text.visible(n, 64) for n in names), rows=rows)


def _cell(value: Any) -> str:
    if value is None:
        return "not given"
    return f"{value:.6g}" if isinstance(value, float) else text.visible(str(value), 200)
