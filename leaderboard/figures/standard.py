"""The figures every task page has, in the order of the page: for each data set, of its primary metric."""

from __future__ import annotations

from bench.leaderboard import rankings
from bench.leaderboard.figures import Figure, Histories
from bench.leaderboard.figures.dots import dot_plot
from bench.leaderboard.figures.pareto import MEMORY, TIME, pareto
from bench.leaderboard.figures.repeats import evidence_path, history, seed_scatter
from bench.leaderboard.task_view import TaskView


def figures(task: TaskView, histories: Histories) -> list[Figure]:
    """Dot plot, Pareto fronts, repeats, evidence and history, as far as the results allow them."""
    metric = rankings.primary(task)
    if metric is None:
        return []
    found: list[Figure | None] = []
    for dataset in task.datasets:
        found += [
            dot_plot(dataset, metric),
            pareto(dataset, metric, TIME),
            pareto(dataset, metric, MEMORY),
            seed_scatter(dataset, metric),
            evidence_path(dataset, metric),
            history(dataset, metric, histories.get(dataset.name, {})),
        ]
    return [figure for figure in found if figure is not None]
