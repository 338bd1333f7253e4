"""Figures of the image family: sample sheets, Chamfer against Fréchet, fidelity against coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench.leaderboard import exhibits, text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

SHEET = "samples"  # name of the exhibit with a grid of samples
_ROLES = {"contender": ("models", "--series-1", "circle"), "baseline": ("baselines", "--series-2", "diamond"),
          "bound": ("upper bound", "--series-3", "square")}  # fmt: skip


def figures(task: TaskView) -> list[Figure]:
    """The figures of every dataset, in the order of the page."""
    found: list[Figure] = []
    for dataset in task.datasets:
        found += [f for f in (_sheets(dataset), _chamfer_against_fd(dataset), _plane(dataset)) if f]
    return found


def _sheets(dataset: DatasetView) -> Figure | None:
    """One sheet of samples per model: what the numbers are about."""
    order = [row.line for row in (*dataset.headline.pinned, *dataset.headline.rows)]
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
    title = f"Chamfer against Fréchet distance, {dataset.title}"
    caption = (
        "Both are lower-is-better. A model far to the left but high up has the right mean and covariance and "
        "still no realistic samples: Fréchet distances cannot see that."
    )
    axes = {"x": ("fd", "Fréchet distance"), "y": ("chamfer", "Chamfer distance")}
    return _scatter(dataset, f"chamfer-fd-{dataset.slug}", title, caption, axes, log=True)


def _plane(dataset: DatasetView) -> Figure | None:
    title = f"Fidelity and coverage, {dataset.title}"
    caption = (
        "Nearest-neighbour distances relative to those between real samples; (1, 1) is as near as real data. "
        "To the right: samples unlike any real one. Upwards: real samples that nothing resembles."
    )
    axes = {
        "x": ("g2r_ratio", "generated to real, ratio (fidelity)"),
        "y": ("r2g_ratio", "real to generated, ratio (coverage)"),
    }
    figure_id = f"plane-{dataset.slug}"
    return _scatter(dataset, figure_id, title, caption, axes, target=(1.0, 1.0))


def _scatter(
    dataset: DatasetView,
    figure_id: str,
    title: str,
    caption: str,
    axes: Mapping[str, tuple[str, str]],
    *,
    log: bool = False,
    target: tuple[float, float] | None = None,
) -> Figure | None:
    (x_name, x_title), (y_name, y_title) = axes["x"], axes["y"]
    points = [
        (line, x, y)
        for line in dataset.lines
        if (x := dataset.estimate(line, x_name)).mean is not None
        and (y := dataset.estimate(line, y_name)).mean is not None
    ]
    if not points:
        return None
    wide = log and all(_spans([e[i] for e in points]) for i in (1,))
    traces = list(_traces(points))
    if target is not None:
        traces.append(_target(target))
    return Figure(
        id=figure_id,
        title=title,
        caption=caption,
        traces=traces,
        layout={
            "xaxis": {"title": {"text": x_title}, "type": "log" if wide else "linear"},
            "yaxis": {"title": {"text": y_title}, "type": "log" if wide else "linear"},
        },
        table=_table(points, x_title, y_title),
    )


def _traces(points: list[tuple[Line, Estimate, Estimate]]) -> Iterable[dict[str, Any]]:
    for role, (name, colour, symbol) in _ROLES.items():
        mine = [p for p in points if p[0].role == role]
        if mine:
            yield {
                "type": "scatter",
                "mode": "markers+text",
                "name": name,
                "x": [x.mean for _, x, _ in mine],
                "y": [y.mean for _, _, y in mine],
                "error_x": _errors([x for _, x, _ in mine], colour),
                "error_y": _errors([y for _, _, y in mine], colour),
                "text": [text.visible(line.title, 40) for line, _, _ in mine],
                "textposition": "top center",
                "marker": {"size": 9, "symbol": symbol, "color": colour},
            }


def _errors(estimates: list[Estimate], colour: str) -> dict[str, Any]:
    up = [e.high - e.mean if e.high is not None and e.mean is not None else 0 for e in estimates]
    down = [e.mean - e.low if e.low is not None and e.mean is not None else 0 for e in estimates]
    style = {"color": colour, "thickness": 1.2, "width": 3}
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, **style}


def _target(point: tuple[float, float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "as near as real data",
        "x": [point[0]],
        "y": [point[1]],
        "marker": {"size": 14, "symbol": "cross-thin", "color": "--ink", "line": {"width": 2, "color": "--ink"}},
    }


def _table(points: list[tuple[Line, Estimate, Estimate]], x_title: str, y_title: str) -> DataTable:
    decimals = [text.decimals_for([p[i].mean or 0.0 for p in points]) for i in (1, 2)]  # type: ignore[union-attr]

    def shown(e: Estimate, places: int) -> str:
        if e.mean is None:
            return "not run"
        if e.low is None or e.high is None:
            return text.number(e.mean, places)
        return f"{text.number(e.mean, places)} {text.spread(e.mean, e.low, e.high, places)}"

    rows = [(line.title, shown(x, decimals[0]), shown(y, decimals[1])) for line, x, y in points]
    return DataTable(head=("Model", x_title, y_title), rows=tuple(rows))


def _spans(values: list[Any]) -> bool:
    """Whether the means are positive and range over more than a factor of 100."""
    means = [e.mean for e in values]
    return min(means) > 0 and max(means) / min(means) > 100
