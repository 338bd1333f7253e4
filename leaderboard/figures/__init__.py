"""Figures of a family: what its task pages show beside the table.

A family registers by a module `bench.leaderboard.figures.<family>` named in `FAMILIES`, with one function

    figures(task: TaskView) -> list[Figure]

that reads the view and returns plots and galleries; where a figure needs several tasks, the module may have

    across(tasks: Sequence[TaskView]) -> list[Figure]

for the page of the family's ranking. Colours are given as CSS variables ("--series-1") and follow the theme.
Every figure carries its data as a table, for people and programs that see no chart.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from bench.leaderboard.exhibits import Picture
from bench.leaderboard.past import Version
from bench.leaderboard.task_view import TaskView

FAMILIES = ("alignment", "images", "sae", "selectbench", "tabular")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """The numbers of a figure, as texts."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing (`svg`), a plot (`traces`, `layout`: plotly's JSON), a gallery (`pictures`) or a table alone.

    Drawings are part of the page; plots are drawn when they come into view. `table` has the same numbers,
    or `elsewhere` says where on the page they stand.
    """

    id: str  # unique on the page
    title: str
    caption: str
    svg: Markup | None = None
    traces: Sequence[Mapping[str, Any]] = ()
    layout: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    table: DataTable | None = None
    elsewhere: str = ""  # "the table above"


Histories = Mapping[str, Mapping[str, tuple[Version, ...]]]  # dataset -> model -> versions


def figures_of(task: TaskView, histories: Histories) -> list[Figure]:
    """The figures of a task page: those its family registered, then those every task has."""
    from bench.leaderboard.figures import standard  # it builds on this module

    found: list[Figure] = []
    if not task.retired and task.info.family in FAMILIES:
        module = importlib.import_module(f"bench.leaderboard.figures.{task.info.family}")
        found += module.figures(task)
    return found + standard.figures(task, histories)


def figures_across(family: str, tasks: Sequence[TaskView]) -> list[Figure]:
    """The figures that a family registered for several of its tasks together."""
    if family not in FAMILIES:
        return []
    module = importlib.import_module(f"bench.leaderboard.figures.{family}")
    return module.across(tasks) if hasattr(module, "across") else []
