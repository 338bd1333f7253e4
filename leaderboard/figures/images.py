"""Figures of the image family: sample sheets, Chamfer against Fréchet, fidelity against coverage."""

from __future__ import annotations

from bench.leaderboard import exhibits
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import Figure
from bench.leaderboard.figures.scatter import AxisOf, scatter
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

SHEET = "samples"  # name of the exhibit with a grid of samples


def figures(task: TaskView) -> list[Figure]:
    """The figures of every dataset, in the order of the page."""
    found: list[Figure] = []
    for dataset in task.datasets:
        found += [f for f in (_sheets(dataset), _chamfer_against_fd(dataset), _plane(dataset)) if f]
    return found


def _sheets(dataset: DatasetView) -> Figure | None:
    """One sheet of samples per model: what the numbers are about."""
    order = [row.line for row in dataset.headline.everyone]
    pictures = tuple(p for line in order if (p := _sheet(dataset, line)))
    if not pictures:
        return None
    return Figure(
        id=f"sheets-{dataset.slug}",
        title=f"Samples, {dataset.title}",
        caption="One sheet per model from its first repeat, in the order of the table. Nothing is hand-picked: "
        "the seed of the unit decides.",
        pictures=pictures,
    )


def _sheet(dataset: DatasetView, line: Line) -> Picture | None:
    found = list(exhibits.images(dataset.jobs[line.key]))
    if not found:
        return None
    job, exhibit, _ = next((f for f in found if f[1].name == SHEET), found[0])
    return exhibits.picture(
        job,
        exhibit,
        label=line.title,
        href=f"model/{line.slug}.html",
        alt=f"Grid of samples of {line.title} on {dataset.title}",
    )


def _chamfer_against_fd(dataset: DatasetView) -> Figure | None:
    return scatter(
        dataset,
        figure_id=f"chamfer-fd-{dataset.slug}",
        title=f"Chamfer against Fréchet distance, {dataset.title}",
        caption="Lower is better on both. A point far to the left but high up has the right mean and covariance "
        "and still no realistic samples: a Fréchet distance cannot tell.",
        x=AxisOf("fd", "Fréchet distance"),
        y=AxisOf("chamfer", "Chamfer distance"),
    )


def _plane(dataset: DatasetView) -> Figure | None:
    return scatter(
        dataset,
        figure_id=f"plane-{dataset.slug}",
        title=f"Fidelity and coverage, {dataset.title}",
        caption="Nearest-neighbour distances relative to those between real samples; the cross at (1, 1) is as "
        "near as real data. To the right: samples unlike any real one. Upwards: real samples that nothing "
        "resembles.",
        x=AxisOf("g2r_ratio", "generated to real, ratio (fidelity)"),
        y=AxisOf("r2g_ratio", "real to generated, ratio (coverage)"),
        target=(1.0, 1.0),
    )
