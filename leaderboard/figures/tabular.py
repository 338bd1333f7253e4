"""Figures of the tabular family: columns, pairs, structure, graphs, attacks, anchored scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from bench.leaderboard import exhibits, tables, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.scatter import AxisOf, Point, scatter_of
from bench.leaderboard.figures.tabular_anchors import anchored_radar
from bench.leaderboard.figures.tabular_columns import gallery
from bench.leaderboard.figures.tabular_graph import statements
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.spec import MetricInfo

MOST_MODELS = 6  # of a chart with a series per model
SERIES = tuple(f"--series-{i}" for i in (1, 2, 3))
DASHES = ("solid", "dash", "dot")
Record = dict[str, Any]


def figures(task: TaskView) -> list[Figure]:
    """The figures of every data set, in the order of the page."""
    found: list[Figure | None] = []
    for dataset in task.datasets:
        order = _order(dataset, task.info.primary)
        found.append(anchored_radar(task.info, dataset, order[:MOST_MODELS]))
        if task.info.name == "tabular.fidelity":
            found += [_shapes(dataset, order), _pairs(dataset, order)]
        elif task.info.name == "tabular.structure":
            found += [_structure(dataset, order), _graph(dataset, order)]
        elif task.info.name == "tabular.privacy":
            found.append(_attacks(dataset, order))
    return [figure for figure in found if figure is not None]


def across(tasks: Sequence[TaskView]) -> list[Figure]:
    """Fidelity against privacy on the data sets that both tasks have."""
    views = {task.info.name: {d.name: d for d in task.datasets} for task in tasks}
    private = views.get("tabular.privacy", {})
    pairs = [(d, private[d.name]) for d in views.get("tabular.fidelity", {}).values() if d.name in private]
    found = [_fidelity_against_privacy(*pair) for pair in pairs]
    return [figure for figure in found if figure is not None]


def _fidelity_against_privacy(faithful: DatasetView, private: DatasetView) -> Figure | None:
    points = [
        Point(line, x, y)
        for line in faithful.lines
        if line.limit is None
        and (x := faithful.estimate(line, "c2st")).mean is not None
        and (y := private.estimate(line, "mia_tpr01")).mean is not None
    ]
    figure = scatter_of(
        points,
        figure_id=f"fidelity-privacy-{faithful.slug}",
        title=f"Fidelity and privacy, {faithful.title}",
        caption="To the right: rows that a classifier cannot tell from real ones. Upwards: training rows that an "
        "attacker finds at 1 % false positives. Fresh real rows stand at the cross; copies pass the one test and fail "
        "the other. The two tasks draw their rows anew from the same data set.",
        x=AxisOf("c2st", "two-sample test"),
        y=AxisOf("mia_tpr01", "members found"),
        target=(1.0, 0.01),
    )
    if figure is None:
        return None
    # Intervals of two repeats reach far beyond what a share can be.
    wide = {**figure.layout["xaxis"], "range": [-0.05, 1.08]}
    return replace(figure, layout={**figure.layout, "xaxis": wide})


def _order(dataset: DatasetView, metric: MetricInfo) -> list[Line]:
    """Contenders best first, then baselines; limited results and models without a value are left out."""
    shown = [
        (line, mean)
        for line in dataset.lines
        if line.limit is None and (mean := dataset.estimate(line, metric.name).mean) is not None
    ]
    shown.sort(
        key=lambda item: (item[0].role != "contender", -tables.goodness(metric, item[1]), item[0].model)
    )
    return [line for line, _ in shown]


def content(dataset: DatasetView, line: Line, name: str) -> Any:
    """What the line's first good repeat left under the exhibit `name`; None if nothing usable."""
    return exhibits.content(dataset.jobs[line.key], name)


def _records(dataset: DatasetView, line: Line, name: str, numbers: Sequence[str]) -> list[Record]:
    """Records of a job's table whose `numbers` are numbers."""
    return exhibits.numeric_records(dataset.jobs[line.key], name, numbers)


def _name(value: Any) -> str:
    return text.visible(str(value), 40)


def _shapes(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """The columns of the best contender that has them, real beside synthetic."""
    for line in order:
        records = _records(dataset, line, "distributions", ("real", "synthetic"))
        if records:
            return gallery(dataset, line, records)
    return None


def _pairs(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Heat map of the pairs of the best contender: 1 is as in the real rows."""
    for line in order:
        records = _records(dataset, line, "pairs", ("pair_tv",))
        if records:
            break
    else:
        return None
    names = list(dict.fromkeys(_name(r[k]) for r in records for k in ("first", "second") if k in r))
    at = {(_name(r.get("first")), _name(r.get("second"))): r["pair_tv"] for r in records}
    grid = [[at.get((a, b), at.get((b, a))) for b in names] for a in names]
    labels = [text.plotly(name) for name in names]
    rows = tuple((a, b, f"{v:.4f}") for (a, b), v in sorted(at.items(), key=lambda item: item[1]))
    return Figure(
        id=f"pairs-{dataset.slug}",
        title=f"Pairs of columns of {line.title}, {dataset.title}",
        caption="1 - total variation of the joint tables, numbers in ten bins. Pale pairs are those whose dependence "
        "is lost; diagonal and constant columns are empty.",
        traces=[
            {
                "type": "heatmap",
                "x": labels,
                "y": labels,
                "z": grid,
                "zmin": min(at.values()),
                "zmax": 1,
                "colorscale": [[0, "--surface"], [1, "--series-1"]],
                "hoverongaps": False,
            }
        ],
        layout={"yaxis": {"autorange": "reversed", "automargin": True}, "xaxis": {"automargin": True}},
        table=DataTable(head=("First", "Second", "Similarity"), rows=rows[:200]),
    )


def _structure(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Bars per column: how much of each column's predictability the best models keep."""
    found = [(line, _records(dataset, line, "columns", ("value",))) for line in order[:MOST_MODELS]]
    found = [(line, records) for line, records in found if records][: len(SERIES)]
    if not found:
        return None
    traces = [
        {
            "type": "bar",
            "name": text.plotly(line.title),
            "x": [text.plotly(_name(r.get("column"))) for r in records],
            "y": [r["value"] for r in records],
            "marker": {"color": SERIES[i]},
        }
        for i, (line, records) in enumerate(found)
    ]
    rows = tuple((line.title, _name(r.get("column")), f"{r['value']:.4f}") for line, rs in found for r in rs)
    return Figure(
        id=f"structure-{dataset.slug}",
        title=f"Structure by column, {dataset.title}",
        caption="How well each column is predicted from the others by models trained on synthetic rows, relative to "
        "real rows. Columns that real rows do not predict are left out.",
        traces=traces,
        layout={"barmode": "group", "yaxis": {"range": [0, 1.02]}, "xaxis": {"automargin": True}},
        table=DataTable(head=("Model", "Column", "Kept"), rows=rows[:200]),
    )


def _graph(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """The graph with the statements that the best contender breaks."""
    for line in order:
        edges = _records(dataset, line, "graph", ())
        if edges:
            return statements(
                dataset, line, edges, _records(dataset, line, "broken-statements", ("p_value",))
            )
    return None


def _attacks(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """ROC of the worst attack of each model; the left edge, where few are accused wrongly, is what counts."""
    curves = [(line, curve) for line in _spread(order) if (curve := _curve(dataset, line))]
    if not curves:
        return None
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": text.plotly(line.title),
            "x": [x for x, _ in curve],
            "y": [y for _, y in curve],
            "line": {
                "color": SERIES[i % len(SERIES)],
                "dash": DASHES[i // len(SERIES) % len(DASHES)],
                "width": 2,
            },
        }
        for i, (line, curve) in enumerate(curves)
    ]
    grid = [10 ** (-3 + i / 20) for i in range(61)]
    guess = {"color": "--soft", "dash": "dot", "width": 1}
    traces.append(
        {"type": "scatter", "mode": "lines", "name": "guessing", "x": grid, "y": grid, "line": guess}
    )
    rows = tuple((line.title, f"{x:.4g}", f"{y:.4g}") for line, curve in curves for x, y in curve[::10])
    return Figure(
        id=f"attacks-{dataset.slug}",
        title=f"Membership attacks, {dataset.title}",
        caption="Share of training rows found against share of fresh rows accused wrongly, by the attack that is best "
        "at 1 % false positives, first repeat. On the dotted line the attacker guesses.",
        traces=traces,
        layout={
            "xaxis": {"type": "log", "title": {"text": "false positives (log)"}, "range": [-3, 0]},
            "yaxis": {"title": {"text": "true positives"}, "range": [0, 1.02]},
        },
        table=DataTable(head=("Model", "False positives", "True positives"), rows=rows[:200]),
    )


def _spread(order: Sequence[Line]) -> Iterable[Line]:
    """The best contenders, and the first baselines for comparison."""
    contenders = [line for line in order if line.role == "contender"]
    return [*contenders[:MOST_MODELS], *[line for line in order if line.role != "contender"][-3:]]


def _curve(dataset: DatasetView, line: Line) -> list[tuple[float, float]]:
    """The ROC without false positive rate 0, which a logarithmic axis does not have."""
    found = content(dataset, line, "roc")
    if not isinstance(found, dict):
        return []
    xs, ys = found.get("x"), found.get("y")
    if not (isinstance(xs, list) and isinstance(ys, list)) or len(xs) != len(ys):
        return []
    pairs = zip(xs, ys, strict=True)
    return [
        (float(x), float(y)) for x, y in pairs if exhibits.is_number(x) and exhibits.is_number(y) and x > 0
    ][:5_000]
