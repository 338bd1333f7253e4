"""Figures of human alignment: the sweep, shape bias, accuracy by severity, gloss, distortions, galleries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.leaderboard import exhibits, tables, text
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures import alignment_sweep as sweep
from bench.leaderboard.figures.drawing import shorten
from bench.leaderboard.figures.scatter import AxisOf, scatter
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

MOST = 5  # models of a chart with a series for each
SHOWN_ALWAYS = ("cnn-disc", "jem-050")  # the ends of the comparison that the family is about
_SYMBOLS = ("circle", "square", "diamond", "x", "triangle-up")
# Win rates of people by bump height, experiment 3a of Storrs et al. (2021).
PEOPLE_WIN = (0.098, 0.251, 0.425, 0.587, 0.690, 0.741, 0.708)
Record = dict[str, Any]


def figures(task: TaskView) -> list[Figure]:
    """The figures of every data set of a task, in the order of the page."""
    found: list[Figure | None] = []
    for dataset in task.datasets:
        order = _order(task, dataset)
        for make in _OF_TASK.get(task.info.name, ()):
            found += make(dataset, order)
    return [figure for figure in found if figure is not None]


def across(tasks: Sequence[TaskView]) -> list[Figure]:
    """The sweep over lambda: verdicts, overlay, and a curve for each benchmark."""
    found = sweep.sweeps(tasks)
    figures = [sweep.report(found), sweep.overlay(found), *(sweep.panel(s, i) for i, s in enumerate(found))]
    return [figure for figure in figures if figure is not None]


def _order(task: TaskView, dataset: DatasetView) -> list[Line]:
    """Contenders best first, then the rest; models without a value are left out."""
    metric = task.info.primary
    known = [
        (line, mean)
        for line in dataset.lines
        if line.limit is None and (mean := dataset.estimate(line, metric.name).mean) is not None
    ]
    known.sort(key=lambda k: (k[0].role != "contender", -tables.goodness(metric, k[1]), k[0].model))
    return [line for line, _ in known]


def _few(order: Sequence[Line]) -> list[Line]:
    """A few models to draw: the best, and those that are always shown."""
    best = [line for line in order if line.model not in SHOWN_ALWAYS][: MOST - len(SHOWN_ALWAYS)]
    return best + [line for line in order if line.model in SHOWN_ALWAYS]


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def _trace(name: str, x: Sequence[Any], y: Sequence[Any], number: int) -> dict[str, Any]:
    """A line of the chart; people (number -1) are thick and dark."""
    line: dict[str, Any] = {
        "color": f"--series-{number % 5 + 1}",
        "dash": ("solid", "dash", "dot")[number // 5 % 3],
    }
    if number < 0:
        line = {"color": "--ink", "width": 3}
    return {
        "type": "scatter", "mode": "lines+markers", "name": text.plotly(shorten(name)), "x": list(x), "y": list(y),
        "line": line,
    }  # fmt: skip


def _severity(dataset: DatasetView, order: Sequence[Line]) -> list[Figure | None]:
    """Accuracy by level of each manipulation, beside people."""
    tables_of = {line.key: _conditions(dataset, line) for line in order}
    shown = [line for line in _few(order) if tables_of[line.key]]
    if not shown:
        return []
    first = tables_of[shown[0].key]
    names = list(dict.fromkeys(r["manipulation"] for r in first))
    found: list[Figure | None] = []
    for number, name in enumerate(names):
        rows = [r for r in first if r["manipulation"] == name]
        if len(rows) < 2:
            continue
        levels = [str(r["level"]) for r in rows]
        traces = [_trace("People (16 categories)", levels, [r["people"] for r in rows], -1)]
        body = [("People", *(f"{r['people']:.3f}" for r in rows))]
        for i, line in enumerate(shown):
            own = [r["accuracy"] for r in tables_of[line.key] if r["manipulation"] == name]
            if len(own) == len(levels):
                traces.append(_trace(line.title, levels, own, i))
                body.append((line.title, *(f"{v:.3f}" for v in own)))
        found.append(
            Figure(
                id=f"severity-{dataset.slug}-{number}",
                title=f"Accuracy under {text.visible(name, 40)}, {dataset.title}",
                caption="The best models by the gap to people, and the two that the sweep compares. People saw other "
                "images, of 16 categories; the models choose between 10 classes, so guessing is 0.1, not 0.06.",
                traces=traces,
                layout={
                    "xaxis": {"title": {"text": "level"}, "type": "category"},
                    "yaxis": {"title": {"text": "accuracy"}},
                },
                table=DataTable(head=("Model", *levels), rows=tuple(body)),
            )
        )  # fmt: skip
    return found


def _conditions(dataset: DatasetView, line: Line) -> list[Record]:
    rows = exhibits.records(dataset.jobs[line.key], "conditions")
    return [
        r for r in rows if _number(r.get("accuracy")) and _number(r.get("people")) and "manipulation" in r
    ]


def _by_category(dataset: DatasetView, order: Sequence[Line]) -> list[Figure | None]:
    """Shape bias per category of the shape, with people where they are known."""
    shown = [(line, exhibits.records(dataset.jobs[line.key], "categories")) for line in _few(order)]
    shown = [(line, rows) for line, rows in shown if rows]
    if not shown:
        return []
    names = [text.visible(str(r.get("category")), 30) for r in shown[0][1]]
    people = [r.get("people") for r in shown[0][1]]
    traces = [
        _dots(line.title, [r.get("shape_bias") for r in rows], names, i)
        for i, (line, rows) in enumerate(shown)
    ]
    if any(map(_number, people)):
        traces.append(
            {
                **_dots("People", people, names, 0),
                "marker": {"color": "--ink", "size": 12, "symbol": "line-ns-open"},
            }
        )
    body = [(line.title, *(_text(r.get("shape_bias")) for r in rows)) for line, rows in shown]
    return [
        Figure(
            id=f"bias-{dataset.slug}",
            title=f"Shape bias by category, {dataset.title}",
            caption="To the right the shape decides, to the left the texture. Over all categories people are at 0.96.",
            traces=traces,
            layout={
                "xaxis": {"title": {"text": "shape bias"}, "range": [-0.02, 1.02]},
                "yaxis": {"type": "category"},
            },
            table=DataTable(head=("Model", *names), rows=(*body, ("People", *map(_text, people)))),
        )
    ]


def _dots(name: str, values: Sequence[Any], categories: Sequence[str], number: int) -> dict[str, Any]:
    known = [(v, c) for v, c in zip(values, categories, strict=False) if _number(v)]
    return {
        "type": "scatter", "mode": "markers", "name": text.plotly(shorten(name)), "x": [v for v, _ in known],
        "y": [c for _, c in known],
        "marker": {"color": f"--series-{number % 5 + 1}", "size": 9, "symbol": _SYMBOLS[number % 5]},
    }  # fmt: skip


def _text(value: Any) -> str:
    return f"{value:.3f}" if _number(value) else "not given"


def _win_curves(dataset: DatasetView, order: Sequence[Line]) -> list[Figure | None]:
    """Gloss by bump height, beside people."""
    curves = [(line, exhibits.content(dataset.jobs[line.key], "win-curve")) for line in _few(order)]
    known = [(line, c["x"], c["y"]) for line, c in curves if _is_curve(c)]
    if not known:
        return []
    heights = known[0][1]
    traces = [_trace("People (3a)", heights, PEOPLE_WIN, -1)]
    traces += [_trace(line.title, x, y, i) for i, (line, x, y) in enumerate(known)]
    rows = [("People", *map(_text, PEOPLE_WIN)), *((line.title, *map(_text, y)) for line, _, y in known)]
    return [
        Figure(
            id=f"gloss-{dataset.slug}",
            title=f"Which bump height looks glossier, {dataset.title}",
            caption="Share of comparisons with the other heights of the same surface that a height wins, at one "
            "reflectance: a model that sees the reflectance alone is flat. People saw other surfaces.",
            traces=traces,
            layout={"xaxis": {"title": {"text": "bump height"}}, "yaxis": {"title": {"text": "wins"}}},
            table=DataTable(head=("Model", *(f"{h:g}" for h in heights)), rows=tuple(rows)),
        )
    ]


def _is_curve(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    axes = content.get("x"), content.get("y")
    return all(isinstance(a, list) and len(a) == len(PEOPLE_WIN) and all(map(_number, a)) for a in axes)


def _distortions(dataset: DatasetView, order: Sequence[Line]) -> list[Figure | None]:
    """Agreement by kind of distortion."""
    facets = [f.facet for f in dataset.facets if f.facet.startswith("distortion=")]
    names = [f.partition("=")[2] for f in facets]
    rows = []
    for line in _few(order):
        means = [dataset.estimate(line, "two_afc", f).mean for f in facets]
        if means and all(m is not None for m in means):
            rows.append((line, means))
    if not rows:
        return []
    return [
        Figure(
            id=f"distortion-{dataset.slug}",
            title=f"Agreement by kind of distortion, {dataset.title}",
            caption="Pairs with that kind on one side. 0.5 is guessing; below it, the harsh kind is nearer.",
            traces=[_dots(line.title, means, names, i) for i, (line, means) in enumerate(rows)],
            layout={
                "xaxis": {"title": {"text": "agreement with the order people see"}},
                "yaxis": {"type": "category"},
            },
            table=DataTable(
                head=("Model", *names), rows=tuple((line.title, *map(_text, m)) for line, m in rows)
            ),
        )
    ]


def _gallery(dataset: DatasetView, order: Sequence[Line]) -> list[Figure | None]:
    """Where each model looks."""
    pictures = tuple(p for line in order if (p := _picture(dataset, line)))
    if not pictures:
        return []
    return [
        Figure(
            id=f"gallery-{dataset.slug}",
            title=f"Where models look, {dataset.title}",
            caption="Images, pixels of the shape, and maps: from above the six best, median and worst images of "
            "each model; bright is important.",
            pictures=pictures,
        )
    ]


def _picture(dataset: DatasetView, line: Line) -> Picture | None:
    for job, exhibit in exhibits.images(dataset.jobs[line.key]):
        if exhibit.name == "gallery":
            return exhibits.picture(
                job,
                exhibit,
                label=line.title,
                href=f"model/{line.slug}.html",
                alt=f"Attribution maps of {line.title}",
            )
    return None


def _plane(dataset: DatasetView, order: Sequence[Line]) -> list[Figure | None]:
    """Consistency with people against accuracy; only where people answered the images."""
    return [
        scatter(
            dataset,
            figure_id=f"kappa-{dataset.slug}",
            title=f"Error consistency and accuracy, {dataset.title}",
            caption="A model may be right as often as people and err on other images. The label oracle is always right "
            "and shares none of their errors; people, one left out, show what can be reached.",
            x=AxisOf("accuracy", "accuracy"),
            y=AxisOf("kappa", "error consistency with people"),
        )
    ]


_OF_TASK = {
    "alignment.robustness": (_severity, _plane),
    "alignment.cue_conflict": (_by_category,),
    "alignment.gloss": (_win_curves,),
    "alignment.similarity": (_distortions,),
    "alignment.attribution": (_gallery,),
}
