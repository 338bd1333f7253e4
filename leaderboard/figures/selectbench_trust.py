"""How far docking can be trusted in a case, and how much of a safety panel it covers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing, label_width
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView

_WORDS = {
    "green": "docking prefers the right target more often than chance",
    "amber": "more right than wrong, but chance cannot be ruled out",
    "red": "no better than chance: numbers of this case say nothing of real selectivity",
    "none": "no ligand of known preference: nothing is known of how far docking can be trusted here",
}
_ROW, _MIDDLE, _SCALE = 22.0, 180.0, 42.0  # pixels: height of a row, half width, one kcal/mol
#: Bowes et al., Nat. Rev. Drug Discov. 11 (2012) 909.
_PANEL: dict[str, tuple[str, ...]] = {
    "GPCR": (
        "ADORA2A", "ADRA1A", "ADRA2A", "ADRB1", "ADRB2", "CNR1", "CNR2", "CCKAR", "DRD1", "DRD2", "EDNRA", "HRH1",
        "HRH2", "OPRD1", "OPRK1", "OPRM1", "CHRM1", "CHRM2", "CHRM3", "HTR1A", "HTR1B", "HTR2A", "HTR2B", "AVPR1A",
    ),
    "enzyme": ("ACHE", "PTGS1", "PTGS2", "MAOA", "PDE3A", "PDE4D", "LCK"),
    "transporter": ("SLC6A2", "SLC6A3", "SLC6A4"),
    "nuclear receptor": ("AR", "NR3C1"),
    "ion channel": ("CACNA1C", "CHRNA4", "GABRA1", "GRIN1", "HTR3A", "KCNH2", "KCNQ1", "SCN5A"),
}  # fmt: skip
Record = dict[str, Any]


def oracle(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """The oracle card of a case: every measured preference and what docking says of it."""
    rows: list[Record] = []
    for line in order:
        found = exhibits.records(dataset.jobs[line.key], "oracle")
        rows = [r for r in found if _has_number(r, "score_on") and _has_number(r, "score_off")]
        if rows:
            break
    if not rows:
        return None
    badge = str(rows[0].get("badge"))
    clear = [r for r in rows if r.get("counts") is True]
    right = sum(r.get("right") is True for r in clear)
    words = _WORDS.get(badge, _WORDS["none"])
    return Figure(
        id=f"oracle-{dataset.slug}",
        title=f"How far docking can be trusted, {dataset.title}",
        caption=f"Oracle {badge if badge in _WORDS else 'none'}: {right} of {len(clear)} measured preferences "
        f"of at least tenfold are predicted with the right sign; {words}. Bars show by how much docking prefers the "
        "target that measurements prefer, kcal/mol: to the right is right.",
        svg=_bars(rows, f"Agreement of docking with measured preferences, {dataset.title}"),
        table=DataTable(
            head=("Ligand", "Prefers", "Over", "Measured, log10", "Docking, kcal/mol", "Counts", "Right"),
            rows=tuple(_cells(row) for row in rows[:200]),
        ),
    )


def _has_number(row: Record, key: str) -> bool:
    value = row.get(key)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e3


def _prefers(row: Record) -> tuple[str, str]:
    """(preferred target, the other one), safe to show."""
    on, off = (text.visible(str(row.get(k)), 20) for k in ("on", "off"))
    return (on, off) if row.get("prefers") == row.get("on") else (off, on)


def _agreement(row: Record) -> float:
    """By how much docking prefers what is measured to be preferred, kcal/mol."""
    difference = float(row["score_off"]) - float(row["score_on"])
    return difference if row.get("prefers") == row.get("on") else -difference


def _label(row: Record) -> str:
    better, worse = _prefers(row)
    return f"{text.visible(str(row.get('ligand')), 24)}: {better} over {worse}"


def _bars(rows: Sequence[Record], title: str) -> Any:
    rows = sorted(rows, key=lambda r: -_agreement(r))[:60]
    left = label_width([_label(r) for r in rows], 330.0) + 14
    drawing = Drawing(left + 2 * _MIDDLE, 28 + _ROW * len(rows), title)
    zero = left + _MIDDLE
    drawing.label(zero - 8, 14, "wrong", "soft", "end")
    drawing.label(zero + 8, 14, "right", "soft")
    for number, row in enumerate(rows):
        y, value = 24 + _ROW * number, _agreement(row)
        length = min(abs(value) * _SCALE, _MIDDLE - 44)
        drawing.label(left - 8, y + 14, _label(row), "" if row.get("counts") is True else "soft", "end")
        drawing.rect(
            zero if value >= 0 else zero - length, y + 3, max(length, 1.0), _ROW - 7, _style(row, value)
        )
        at = zero + length + 5 if value >= 0 else zero - length - 5
        drawing.label(at, y + 14, _signed(value), "soft",
                      "start" if value >= 0 else "end")  # fmt: skip
    drawing.line(zero, 20, zero, 24 + _ROW * len(rows), "axis")
    return drawing.finish()


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", text.MINUS)


def _style(row: Record, value: float) -> str:
    if row.get("counts") is not True:
        return "node"
    return "v-right" if value > 0 else "v-fooled"


def _cells(row: Record) -> tuple[str, ...]:
    better, worse = _prefers(row)
    delta = row.get("delta_log")
    return (
        text.visible(str(row.get("ligand")), 40),
        better,
        worse,
        f"{abs(delta):.2f}" if isinstance(delta, (int, float)) else "direction only",
        _signed(_agreement(row)),
        "yes" if row.get("counts") is True else "no, under tenfold",
        "yes" if row.get("right") is True else "no",
    )


def panel(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """The 44 targets of the safety panel and which of them have a receptor here."""
    docked: set[str] = set()
    for line in order:
        docked |= {str(r.get("target")) for r in exhibits.records(dataset.jobs[line.key], "scores")}
    known = [target for targets in _PANEL.values() for target in targets]
    covered = [target for target in known if target in docked]
    if not covered:
        return None
    rows = tuple(
        (target, kind, "docked" if target in docked else "not covered")
        for kind, targets in _PANEL.items()
        for target in targets
    )
    return Figure(
        id=f"panel-{dataset.slug}",
        title=f"{len(covered)} of {len(known)} targets covered, {dataset.title}",
        caption="The panel of Bowes et al. (2012) that four companies screen against. Only the filled targets have a "
        "receptor here; nothing is claimed of the others, hERG (KCNH2) among them.",
        svg=_tiles(docked, f"Safety panel: {len(covered)} of {len(known)} targets covered"),
        table=DataTable(head=("Target", "Class", "State"), rows=rows),
    )


def _tiles(docked: set[str], title: str) -> Any:
    across, width, height, left = 8, 84.0, 26.0, 120.0
    lines = sum(-(-len(targets) // across) for targets in _PANEL.values())
    drawing = Drawing(left + across * width, lines * height + 8, title)
    y = 4.0
    for kind, targets in _PANEL.items():
        drawing.label(left - 10, y + 17, kind, "soft", "end")
        for number, target in enumerate(targets):
            x = left + number % across * width
            at = y + number // across * height
            there = target in docked
            drawing.rect(x + 1, at + 1, width - 3, height - 3, "v-right" if there else "node")
            drawing.label(x + width / 2, at + 17, target, "" if there else "soft", "middle")
        y += -(-len(targets) // across) * height
    return drawing.finish()
