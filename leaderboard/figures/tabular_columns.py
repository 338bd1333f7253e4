"""Small multiples: the distribution of every column, real and synthetic on one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from bench.leaderboard import text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing, polyline, shorten
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView

ACROSS, WIDTH, HEIGHT, GAP, HEAD = 4, 200.0, 78.0, 24.0, 20.0
MOST_COLUMNS = 48
_NUMERIC = ("numeric", "integer", "datetime")
Records = Sequence[Mapping[str, Any]]


def gallery(dataset: DatasetView, line: Line, records: Records) -> Figure | None:
    """One panel per column: shares by bin or level; solid is real, dashed synthetic."""
    columns: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        columns.setdefault(text.visible(str(record.get("column")), 60), []).append(record)
    shown = dict(list(columns.items())[:MOST_COLUMNS])
    if not shown:
        return None
    more = f" The first {len(shown)} of {len(columns)} columns." if len(columns) > len(shown) else ""
    rows = tuple(
        (name, text.visible(str(r.get("at")), 40), f"{r['real']:.4f}", f"{r['synthetic']:.4f}")
        for name, found in shown.items()
        for r in found
    )
    title = f"Columns of {line.title}, {dataset.title}"
    return Figure(
        id=f"shapes-{dataset.slug}",
        title=title,
        caption="Share of rows by bin (numbers) or level (categories); solid: real, dashed: synthetic, first repeat. "
        f"Levels stand in the order of their real frequency, missing values last.{more}",
        svg=_draw(shown, title),
        table=DataTable(head=("Column", "At", "Real", "Synthetic"), rows=rows[:1_000]),
    )


def _draw(columns: Mapping[str, Records], title: str) -> Markup:
    down = math.ceil(len(columns) / ACROSS)
    drawing = Drawing(ACROSS * (WIDTH + GAP), down * (HEIGHT + GAP + HEAD), title)
    for i, (name, records) in enumerate(columns.items()):
        left, top = (i % ACROSS) * (WIDTH + GAP), (i // ACROSS) * (HEIGHT + GAP + HEAD)
        drawing.label(left, top + 13, shorten(name, 28), "")
        _panel(drawing, left, top + HEAD, records)
    return drawing.finish()


def _panel(drawing: Drawing, left: float, top: float, records: Records) -> None:
    bottom = top + HEIGHT
    drawing.line(left, bottom, left + WIDTH, bottom, "grid")
    highest = max((float(r[side]) for r in records for side in ("real", "synthetic")), default=0.0) or 1.0
    numeric = records[0].get("kind") in _NUMERIC
    for side, style in (("real", "c1"), ("synthetic", "c2")):
        shares = [min(1.0, max(0.0, float(r[side]) / highest)) for r in records]
        points = _steps(shares) if numeric else _combs(shares)
        drawing.path(polyline([(left + x * WIDTH, bottom - y * HEIGHT) for x, y in points]), style)


def _steps(shares: Sequence[float]) -> list[tuple[float, float]]:
    """The outline of a histogram in the unit square."""
    size = len(shares)
    return [(edge, y) for i, y in enumerate(shares) for edge in (i / size, (i + 1) / size)]


def _combs(shares: Sequence[float]) -> list[tuple[float, float]]:
    """Levels have no order: each rises from the ground for itself."""
    size = len(shares)
    points: list[tuple[float, float]] = []
    for i, y in enumerate(shares):
        low, high = (i + 0.2) / size, (i + 0.8) / size
        points += [(low, 0.0), (low, y), (high, y), (high, 0.0)]
    return points
