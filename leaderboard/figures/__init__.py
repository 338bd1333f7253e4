"""Figures of a family: what its task pages show beside the table.

A family registers by a module `bench.leaderboard.figures.<family>` named in `FAMILIES`, with one function

    figures(task: TaskView) -> list[Figure]

that reads the view and returns plots and galleries. Colours are given as CSS variables ("--series-1") and
follow the theme. Every figure carries its data as a table, for people and programs that see no chart.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.leaderboard.exhibits import Picture
from bench.leaderboard.task_view import TaskView

FAMILIES = ("images",)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """The numbers of a figure, as texts."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot (`traces`, `layout`: plotly's JSON) or a gallery (`pictures`)."""

    id: str  # unique on the page
    title: str
    caption: str
    traces: Sequence[Mapping[str, Any]] = ()
    layout: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    table: DataTable | None = None


def figures_of(task: TaskView) -> list[Figure]:
    """The figures that the task's family registered; none for other families and retired tasks."""
    if task.retired or task.info.family not in FAMILIES:
        return []
    module = importlib.import_module(f"bench.leaderboard.figures.{task.info.family}")
    found: list[Figure] = module.figures(task)
    return found
