"""Figures of the audit of metrics: verdicts, what fools each metric, curves, and pictures of the damage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.leaderboard import exhibits, text
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.images_curves import curve_figures
from bench.leaderboard.figures.images_matrix import Verdict, matrix
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

VERDICTS, GALLERY = "verdicts", "gallery-"
WORDS = ("tracks", "steady", "blind", "fooled", "erratic")
MOST = 3  # encoders with a matrix of their own, best first


def figures(task: TaskView) -> list[Figure]:
    """For each data set: a matrix and a summary for the best encoders, curves of the first, the damage in pictures."""
    titles = {metric.name: metric.title or metric.name for metric in task.info.metrics}
    found: list[Figure | None] = []
    for dataset in task.datasets:
        lines = [row.line for row in dataset.headline.everyone if verdicts(dataset, row.line, titles)][:MOST]
        for line in lines:
            mine = verdicts(dataset, line, titles)
            found += [_matrix(dataset, line, mine), _summary(dataset, line, mine)]
        if lines:
            found += curve_figures(dataset, lines[0], titles)
        found.append(_gallery(dataset))
    return [figure for figure in found if figure is not None]


def verdicts(dataset: DatasetView, line: Line, titles: Mapping[str, str]) -> list[Verdict]:
    """The verdicts of a line's first repeat; records that are not whole are left out."""
    return [
        Verdict(
            metric=titles[record["metric"]],
            scenario=text.visible(str(record.get("title", "")), 40),
            word=record["verdict"],
            expected=text.visible(str(record.get("expected", "")), 12),
            damages=text.visible(str(record.get("damages", "")), 40),
            tau=float(record["tau"]),
            z=float(record["z"]),
        )
        for record in exhibits.records(dataset.jobs[line.key], VERDICTS)
        if record.get("metric") in titles
        and record.get("verdict") in WORDS
        and all(exhibits.is_number(record.get(key)) for key in ("tau", "z"))
    ]


def _matrix(dataset: DatasetView, line: Line, found: Sequence[Verdict]) -> Figure:
    return Figure(
        id=f"verdicts-{dataset.slug}-{line.slug}",
        title=f"What metrics notice, {dataset.title}, {line.title}",
        caption="Each row is a metric, each column a damage; under the last heads nothing changes that matters. Pale "
        "cells are as they should be: the metric follows a damage that it claims to measure, or stays where it is. "
        "Strong colours are faults. No metric is without them.",
        svg=matrix(found, f"Verdicts on metrics, {dataset.title}, {line.title}"),
        table=DataTable(
            head=("Metric", "Scenario", "Damages", "Verdict", "Should be", "Kendall tau", "z"),
            rows=tuple(
                (v.metric, v.scenario, v.damages, v.word, v.expected, f"{v.tau:.2f}", f"{v.z:.3g}")
                for v in found
            ),
        ),
    )


def _summary(dataset: DatasetView, line: Line, found: Sequence[Verdict]) -> Figure:
    by_metric: dict[str, list[Verdict]] = {}
    for verdict in found:
        by_metric.setdefault(verdict.metric, []).append(verdict)
    order = sorted(
        by_metric, key=lambda name: -sum(v.is_right for v in by_metric[name]) / len(by_metric[name])
    )
    return Figure(
        id=f"faults-{dataset.slug}-{line.slug}",
        title=f"What to beware of, {dataset.title}, {line.title}",
        caption="For each metric, best first, the scenarios in which it does not do what it should.",
        table=DataTable(
            head=(
                "Metric",
                "As it should",
                "Blind to",
                "Fooled by",
                "Unsteady under",
                "Moved by what it does not measure",
            ),
            rows=tuple(_faults(name, by_metric[name]) for name in order),
        ),
    )


def _faults(name: str, found: Sequence[Verdict]) -> tuple[str, ...]:
    wrong = [v for v in found if not v.is_right]
    groups = (
        (v.scenario for v in wrong if v.word == "blind"),
        (v.scenario for v in wrong if v.word == "fooled"),
        (v.scenario for v in wrong if v.word == "erratic" and v.expected in ("tracks", "steady")),
        (v.scenario for v in wrong if v.expected == "blind" and v.word in ("tracks", "erratic")),
    )
    right = sum(v.is_right for v in found)
    return (name, f"{right} of {len(found)}", *(_listed(group) for group in groups))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or text.DASH


def _gallery(dataset: DatasetView) -> Figure | None:
    """One picture per damage, from whichever encoder left it: the images are the same for all."""
    pictures: dict[str, Picture] = {}
    for job, exhibit in exhibits.images(job for jobs in dataset.jobs.values() for job in jobs):
        if exhibit.name.startswith(GALLERY) and exhibit.name not in pictures:
            caption = text.visible(exhibit.caption, 200)
            shown = exhibits.picture(job, exhibit, label=caption, alt=f"{caption}, {dataset.title}")
            if shown is not None:
                pictures[exhibit.name] = shown
    if not pictures:
        return None
    return Figure(
        id=f"damage-{dataset.slug}",
        title=f"The damage, {dataset.title}",
        caption="The same held-out images below each other, from no damage to the worst. The other scenarios are made "
        "of features and have no pictures.",
        pictures=tuple(pictures.values()),
    )
