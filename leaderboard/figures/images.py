"""Figures of the image family, by task: sample sheets, Chamfer against Fréchet, fidelity against coverage."""

from __future__ import annotations

from bench.leaderboard import exhibits
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import Figure, human, images_audit, images_fewstep, images_sanity
from bench.leaderboard.figures.scatter import AxisOf, scatter
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

_TASKS = {
    "images.audit": images_audit.figures,
    "images.fewstep": images_fewstep.figures,
    "images.human_correlation": human.figures,
    "images.sanity": images_sanity.figures,
}
SHEET, REFERENCE, PAIRS = "samples", "reference", "nearest-training"  # names of the exhibits with images


def figures(task: TaskView) -> list[Figure]:
    """The figures of every dataset, in the order of the page."""
    if task.info.name in _TASKS:
        return _TASKS[task.info.name](task)
    made = (_sheets, _chamfer_against_fd, _plane, _novelty, _nearest_pairs)
    return [figure for dataset in task.datasets for make in made if (figure := make(dataset))]


def _sheets(dataset: DatasetView) -> Figure | None:
    """One sheet of samples per model: what the numbers are about, after one of real images."""
    order = [row.line for row in dataset.headline.everyone]
    found = [_reference(dataset), *(_sheet(dataset, line, SHEET, "Grid of samples") for line in order)]
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


def _sheet(dataset: DatasetView, line: Line, name: str, shows: str) -> Picture | None:
    found = [f for f in exhibits.images(dataset.jobs[line.key]) if f[1].name == name]
    if not found:
        return None
    return exhibits.picture(
        *found[0],
        label=line.title,
        href=f"model/{line.slug}.html",
        alt=f"{shows} of {line.title} on {dataset.title}",
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


def _novelty(dataset: DatasetView) -> Figure | None:
    return scatter(
        dataset,
        figure_id=f"novelty-{dataset.slug}",
        title=f"Quality and copying, {dataset.title}",
        caption="A model may match the real images by returning training images. The Fréchet distance cannot tell; "
        "the distance to training images relative to that to held-out ones can: 1 is clean, 0 are copies.",
        x=AxisOf("fd", "Fréchet distance"),
        y=AxisOf("memorisation_ratio", "memorisation ratio"),
    )


def _nearest_pairs(dataset: DatasetView) -> Figure | None:
    """What was generated beside the training image it is nearest to, one sheet per model."""
    lines = (row.line for row in dataset.headline.everyone)
    pictures = tuple(p for line in lines if (p := _sheet(dataset, line, PAIRS, "Nearest training images")))
    if not pictures:
        return None
    return Figure(
        id=f"pairs-{dataset.slug}",
        title=f"Nearest training images, {dataset.title}",
        caption="The 16 generated images nearest to a training image, each to the left of that one, of the first "
        "repeat of each model. Alike pairs are copies.",
        pictures=pictures,
    )
