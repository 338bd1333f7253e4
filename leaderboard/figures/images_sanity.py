"""Figures of the simplest checks of metrics: for each check and metric the curves, and whether they are as asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing, label_width, polyline
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

VERDICTS, CURVES = "verdicts", "curves"
MEMBERS = {"fidelity": "Metrics of fidelity", "diversity": "Metrics of diversity"}
PARTS = ("shape", "values")
WIDTH, HEIGHT, BAR, GAP, HEAD = 50.0, 34.0, 6.0, 6.0, 132.0
_TOP = 1.25  # the largest value shown
_LEGEND = (
    ("v-right", "as asked; left: the shape of the curve, right: its values"),
    ("v-fooled", "not as asked"),
)
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric in one check; `parts`: whether it is as asked; `missed`: what is not."""

    title: str
    parts: Mapping[str, bool]
    missed: Mapping[str, str]
    curves: tuple[tuple[float | None, ...], ...]


def figures(task: TaskView) -> list[Figure]:
    """For each data set the matrix of fidelity and that of diversity."""
    checks = {metric.name: metric.title for metric in task.info.metrics}
    found = [
        _figure(dataset, member, title, checks)
        for dataset in task.datasets
        for member, title in MEMBERS.items()
    ]
    return [figure for figure in found if figure is not None]


def _figure(dataset: DatasetView, member: str, title: str, checks: Mapping[str, str]) -> Figure | None:
    rows = [
        (row.line, cells)
        for row in dataset.headline.everyone
        if (cells := _cells(dataset, row.line, member, checks))
    ]
    if not rows:
        return None
    heading = f"{title} in the simplest checks"
    return Figure(
        id=f"sanity-{member}-{dataset.slug}",
        title=heading,
        caption="Each cell has the curves of a metric in one check, one for each number of dimensions or role: what "
        "changes goes to the right, the metric upwards from 0; the thin line is 1, larger values than 1.25 are cut "
        "off. The bars below tell whether the shape and the values are as they should be in all of them.",
        svg=_matrix(rows, heading),
        table=DataTable(
            head=("Pair", "Check", "Asked of", "Passed", "Missed"),
            rows=tuple(
                (
                    line.title,
                    cell.title,
                    part,
                    "yes" if cell.parts[part] else "no",
                    cell.missed[part] or text.DASH,
                )
                for line, cells in rows
                for cell in cells.values()
                for part in PARTS
            ),
        ),
    )


def _cells(dataset: DatasetView, line: Line, member: str, checks: Mapping[str, str]) -> dict[str, Cell]:
    """By check, from the line's first repeat; checks without both verdicts are left out."""
    jobs = dataset.jobs[line.key]
    verdicts: dict[str, dict[str, Record]] = {}
    for record in exhibits.records(jobs, VERDICTS):
        check = str(record.get("check"))
        if record.get("member") == member and check in checks and record.get("part") in PARTS:
            verdicts.setdefault(check, {})[record["part"]] = record
    curves: dict[str, list[tuple[float | None, ...]]] = {}
    for record in exhibits.records(jobs, CURVES):
        values = record.get("y")
        if record.get("member") == member and isinstance(values, list):
            curves.setdefault(str(record.get("check")), []).append(tuple(map(_number, values)))
    return {
        check: Cell(
            title=checks[check],
            parts={part: parts[part].get("passed") is True for part in PARTS},
            missed={part: text.visible(str(parts[part].get("missed", "")), 300) for part in PARTS},
            curves=tuple(curves.get(check, ())),
        )
        for check in checks
        if len(parts := verdicts.get(check, {})) == len(PARTS)
    }


def _number(value: Any) -> float | None:
    return float(value) if exhibits.is_number(value) else None


def _matrix(rows: Sequence[tuple[Line, Mapping[str, Cell]]], title: str) -> Markup:
    columns = list(dict.fromkeys(check for _, cells in rows for check in cells))
    titles = {check: cell.title for _, cells in rows for check, cell in cells.items()}
    left, step = label_width([line.title for line, _ in rows]) + 14, HEIGHT + BAR + GAP
    height = HEAD + step * len(rows) + 8 + 20 * len(_LEGEND)
    drawing = Drawing(left + WIDTH * len(columns) + 90, height, title)
    for number, check in enumerate(columns):
        drawing.turned(left + WIDTH * number + WIDTH / 2 - 4, HEAD - 8, titles[check], "soft")
    for number, (line, cells) in enumerate(rows):
        y = HEAD + step * number
        drawing.label(left - 8, y + HEIGHT / 2 + 6, line.title, "", "end")
        for check, cell in cells.items():
            _cell(drawing, cell, left + WIDTH * columns.index(check), y)
        passed = sum(sum(cell.parts.values()) for cell in cells.values())
        share = f"{passed} of {len(PARTS) * len(cells)}"
        drawing.label(left + WIDTH * len(columns) + 8, y + HEIGHT / 2 + 6, share, "soft")
    for number, (style, words) in enumerate(_LEGEND):
        y = HEAD + step * len(rows) + 8 + 20 * number
        drawing.rect(left + 2, y + 4, WIDTH / 2 - 3, BAR, style)
        drawing.label(left + WIDTH / 2 + 8, y + 11, words, "soft")
    return drawing.finish()


def _cell(drawing: Drawing, cell: Cell, x: float, y: float) -> None:
    drawing.rect(x + 1, y, WIDTH - 2, HEIGHT, "node")
    one = y + HEIGHT * (1 - 1 / _TOP)
    drawing.line(x + 1, one, x + WIDTH - 1, one, "grid")
    for values in cell.curves:
        for run in _runs(values):
            points = [(x + 3 + at * (WIDTH - 6), y + HEIGHT * (1 - v / _TOP)) for at, v in run]
            drawing.path(polyline(points), "lead")
    half = WIDTH / 2 - 2
    for number, part in enumerate(PARTS):
        style = "v-right" if cell.parts[part] else "v-fooled"
        drawing.rect(x + 1 + number * (half + 2), y + HEIGHT + 1, half, BAR, style)


def _runs(values: Sequence[float | None]) -> list[list[tuple[float, float]]]:
    """Pieces of a curve between places at which it has no value: (place in [0, 1], value in [0, 1.25])."""
    runs: list[list[tuple[float, float]]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((index / max(1, len(values) - 1), min(max(value, 0.0), _TOP)))
    return [run for run in runs if run]
