"""The matrix of verdicts on metrics, as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bench.leaderboard.figures.drawing import Drawing, label_width

CELL, ROW, HEAD, GAP = 30.0, 22.0, 168.0, 10.0
_SYMBOLS = {"tracks": "↗", "steady": "=", "blind": "○", "fooled": "↘", "erratic": "∼"}
_LEGEND = (
    ("v-right", "↗", "follows the damage, as it should"),
    ("v-right", "○ =", "stays where it is, as it should"),
    ("v-blind", "○", "blind: does not notice"),
    ("v-fooled", "↘", "fooled: says better than real"),
    ("v-erratic", "∼", "erratic: no order, or not steady"),
    ("v-moved", "↗", "moves though nothing of its own is damaged"),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one metric does in one scenario; all texts are safe to show."""

    metric: str
    scenario: str
    word: str
    expected: str
    damages: str
    tau: float
    z: float

    @property
    def is_right(self) -> bool:
        return self.word == self.expected or (self.expected == "any" and self.word != "fooled")


def matrix(found: Sequence[Verdict], title: str) -> Markup:
    """Metrics as rows, those with most right cells first; scenarios as columns in the order in which they come."""
    columns = list(dict.fromkeys(cell.scenario for cell in found))
    rows = sorted(dict.fromkeys(cell.metric for cell in found), key=lambda name: -_right(found, name))
    left = label_width(rows) + 14
    drawing = Drawing(
        left + CELL * len(columns) + 110, HEAD + ROW * len(rows) + GAP + 20 * len(_LEGEND) + 6, title
    )
    for number, name in enumerate(columns):
        drawing.turned(left + CELL * number + CELL / 2, HEAD - 8, name, "soft")
    for number, name in enumerate(rows):
        y = HEAD + ROW * number
        drawing.label(left - 8, y + 15, name, "", "end")
        mine = [cell for cell in found if cell.metric == name]
        for cell in mine:
            _cell(drawing, cell, left + CELL * columns.index(cell.scenario), y)
        share = f"{sum(cell.is_right for cell in mine)} of {len(mine)}"
        drawing.label(left + CELL * len(columns) + 8, y + 15, share, "soft")
    _legend(drawing, left, HEAD + ROW * len(rows) + GAP)
    return drawing.finish()


def _right(found: Sequence[Verdict], name: str) -> float:
    mine = [cell.is_right for cell in found if cell.metric == name]
    return sum(mine) / len(mine)


def _cell(drawing: Drawing, cell: Verdict, x: float, y: float) -> None:
    style = _style(cell)
    drawing.rect(x + 1, y + 1, CELL - 2, ROW - 2, style)
    mark = "soft" if style == "v-right" else "v-mark"
    drawing.label(x + CELL / 2, y + 15, _SYMBOLS[cell.word], mark, "middle")


def _style(cell: Verdict) -> str:
    if cell.is_right:
        return "v-right"
    if cell.word in ("fooled", "erratic"):
        return f"v-{cell.word}"
    return "v-blind" if cell.word == "blind" else "v-moved"


def _legend(drawing: Drawing, x: float, y: float) -> None:
    for number, (style, symbol, words) in enumerate(_LEGEND):
        at = y + 20 * number
        drawing.rect(x + 1, at + 1, CELL - 2, 16, style)
        drawing.label(x + CELL / 2, at + 13, symbol, "soft" if style == "v-right" else "v-mark", "middle")
        drawing.label(x + CELL + 8, at + 13, words, "soft")
