"""Figures of the image family: sample sheets, Chamfer against Fréchet, fidelity against coverage, people."""

from __future__ import annotations

from bench.leaderboard import exhibits
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import Figure, human
from bench.leaderboard.figures.scatter import AxisOf, scatter
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

QUALITY = "images.fidelity"  # the task whose metrics are held against people
SHEET, REFERENCE = "samples", "reference"  # names of the exhibits with grids of images


def figures(task: TaskView) -> list[Figure]:
    """The figures of every dataset, in the order of the page; then what is known of metrics and people."""
    found: list[Figure] = []
    for dataset in task.datasets:
        found += [f for f in (_sheets(dataset), _chamfer_against_fd(dataset), _plane(dataset)) if f]
    return found + (human.figures() if task.info.name == QUALITY else [])


def _sheets(dataset: DatasetView) -> Figure | None:
    """One sheet of samples per model: what the numbers are about, after one of real images."""
    order = [row.line for row in dataset.headline.everyone]
    found = [_reference(dataset), *(_sheet(dataset, line) for line in order)]
    pictures = tuple(p for p in found if p)
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
    found = [f for f in exhibits.images(dataset.jobs[line.key]) if f[1].name == SHEET]
    if not found:
        return None
    return exhibits.picture(
        *found[0],
        label=line.title,
        href=f"model/{line.slug}.html",
        alt=f"Grid of samples of {line.title} on {dataset.title}",
    )


def _reference(dataset: DatasetView) -> Picture | None:
    """Real images, from any job that left a sheet of them."""
    jobs = (job for found in dataset.jobs.values() for job in found)
    first = next((f for f in exhibits.images(jobs) if f[1].name == REFERENCE), None)
    if first is None:
        return None
    alt = f"Grid of real images of {dataset.title}"
    return exhibits.picture(*first, label="Real images, for comparison", alt=alt)


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
