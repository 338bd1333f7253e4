"""Figures of the family of molecules: trust in the scorer first, then windows, curves, scores, molecules, seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.leaderboard import exhibits, tables, text
from bench.leaderboard.exhibits import Picture
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.selectbench_trust import oracle, panel
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView
from bench.spec import MetricInfo

MOST_MODELS = 9
TENFOLD = 1.3642
SERIES = tuple(f"--series-{i}" for i in (1, 2, 3))
DASHES = ("solid", "dash", "dot")
Record = dict[str, Any]


def figures(task: TaskView) -> list[Figure]:
    """The figures of every case, in the order of the page; what the scores are worth comes first."""
    found: list[Figure | None] = []
    for dataset in task.datasets:
        order = _order(dataset, task.info.primary)
        found.append(oracle(dataset, order))
        if task.info.name == "selectbench.safety_panel":
            found.append(panel(dataset, order))
        found += [
            _windows(dataset, order),
            _curves(dataset, order),
            _matrix(dataset, order),
            _sizes(dataset, order),
            _seeds(dataset, order),
            _cards(dataset, order),
        ]
    return [figure for figure in found if figure is not None]


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


def records(dataset: DatasetView, line: Line, name: str, numbers: Sequence[str]) -> list[Record]:
    """Records of a job's table whose `numbers` are numbers."""
    return exhibits.numeric_records(dataset.jobs[line.key], name, numbers)


def _name(value: Any) -> str:
    return text.visible(str(value), 40)


def _windows(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Windows of each model's molecules beside those of the reference drugs on the same receptors."""
    groups: list[tuple[str, list[float]]] = []
    for line in order[:MOST_MODELS]:
        rows = records(dataset, line, "molecules", ("window",))
        drugs = records(dataset, line, "reference", ("window",))
        if drugs and not groups:
            groups.append(("reference drugs", [r["window"] for r in drugs]))
        if rows:
            groups.append((line.title, [r["window"] for r in rows]))
    if len(groups) < 2:
        return None
    traces = [
        {
            "type": "box",
            "name": text.plotly(name),
            "x": values,
            "boxpoints": "all",
            "jitter": 0.5,
            "pointpos": 0,
            "marker": {"color": "--series-2" if i == 0 else "--series-1", "size": 5},
            "line": {"width": 1},
            "showlegend": False,
        }
        for i, (name, values) in enumerate(groups)
    ]
    rows_ = tuple((name, f"{value:.2f}") for name, values in groups for value in sorted(values))
    return Figure(
        id=f"windows-{dataset.slug}",
        title=f"Windows against drugs, {dataset.title}",
        caption="How much stronger each molecule docks in its target than in the strongest off-target, kcal/mol. The "
        "reference drugs were chosen for no target at all: what they show is the offset of the receptors. The dotted "
        "line is a tenfold difference in predicted affinity.",
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "window, kcal/mol"}},
            "yaxis": {"autorange": "reversed", "automargin": True},
            "height": max(360, 120 + 46 * len(groups)),
            "shapes": [_line(x0=TENFOLD, x1=TENFOLD, y0=0, y1=1, yref="paper")],
        },
        table=DataTable(head=("Model", "Window"), rows=rows_[:200]),
    )


def _line(**place: Any) -> Record:
    return {"type": "line", "line": {"color": "--soft", "dash": "dot", "width": 1}, **place}


def _curves(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Success rate against the window asked for, all models in one chart."""
    found = []
    for line in order[:MOST_MODELS]:
        content = exhibits.content(dataset.jobs[line.key], "curve")
        xs, ys = (content.get("x"), content.get("y")) if isinstance(content, dict) else (None, None)
        if isinstance(xs, list) and isinstance(ys, list) and all(map(exhibits.is_number, [*xs, *ys])):
            found.append((line, list(zip(xs, ys, strict=False))))
    if not found:
        return None
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": text.plotly(line.title),
            "x": [x for x, _ in curve],
            "y": [y for _, y in curve],
            "line": {
                "color": SERIES[i % len(SERIES)],
                "dash": DASHES[i // len(SERIES) % len(DASHES)],
                "shape": "vh",
                "width": 2,
            },
        }
        for i, (line, curve) in enumerate(found)
    ]
    rows = tuple((line.title, f"{x:g}", f"{y:.3f}") for line, curve in found for x, y in curve[::5])
    return Figure(
        id=f"curve-{dataset.slug}",
        title=f"Success against the window required, {dataset.title}",
        caption="Share of the molecules requested that pass the gate, hit the target and have at least this window. "
        "At the dotted line it is SSR@10x.",
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "window required, kcal/mol"}},
            "yaxis": {"title": {"text": "success rate"}, "range": [-0.02, 1.02]},
            "shapes": [_line(x0=TENFOLD, x1=TENFOLD, y0=0, y1=1)],
        },
        table=DataTable(head=("Model", "Window", "Success rate"), rows=rows[:200]),
    )


def _matrix(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Heat map of the best contender: its molecules on all targets, the on-target first."""
    for line in order:
        rows = [r for r in records(dataset, line, "scores", ("score", "molecule")) if "target" in r]
        if rows:
            break
    else:
        return None
    ons = list(dict.fromkeys(_name(r.get("on")) for r in rows))
    targets = list(dict.fromkeys(_name(r["target"]) for r in rows))
    targets.sort(key=lambda t: (ons.index(t) if t in ons else len(ons), t))
    at = {(_name(r.get("on")), r["molecule"], _name(r["target"])): r["score"] for r in rows}
    molecules = list(dict.fromkeys(key[:2] for key in at))
    labels = [f"{on} {number:g}" for on, number in molecules]
    grid = [[at.get((*molecule, target)) for target in targets] for molecule in molecules]
    return Figure(
        id=f"matrix-{dataset.slug}",
        title=f"Scores of {line.title}, {dataset.title}",
        caption="Docking scores of its molecules, named by the target they were made for, on every target; the "
        "on-targets come first. Strong colour is strong binding, kcal/mol; empty cells were not docked.",
        traces=[
            {
                "type": "heatmap",
                "x": [text.plotly(t) for t in targets],
                "y": [text.plotly(label) for label in labels],
                "z": grid,
                "colorscale": [[0, "--series-1"], [1, "--surface"]],
                "hoverongaps": False,
            }
        ],
        layout={
            "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
            "xaxis": {"automargin": True, "side": "top", "type": "category"},
            "height": max(360, 140 + 26 * len(labels)),
        },
        table=DataTable(
            head=("Molecule", *targets),
            rows=tuple(
                (label, *("not docked" if v is None else f"{v:.2f}" for v in row))
                for label, row in zip(labels, grid, strict=True)
            )[:200],
        ),
    )


def _sizes(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Size against on-target score: what a larger molecule gains for nothing."""
    groups: list[tuple[str, list[Record]]] = []
    for line in order[:MOST_MODELS]:
        drugs = records(dataset, line, "reference", ("heavy_atoms", "score"))
        if drugs and not groups:
            groups.append(("reference drugs", drugs))
        rows = records(dataset, line, "molecules", ("heavy_atoms", "score"))
        if rows:
            groups.append((line.title, rows))
    if len(groups) < 2:
        return None
    symbols = ("circle", "diamond", "square")
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": text.plotly(name),
            "x": [r["heavy_atoms"] for r in rows],
            "y": [r["score"] for r in rows],
            "marker": {
                "color": "--soft" if i == 0 else SERIES[(i - 1) % len(SERIES)],
                "symbol": "cross" if i == 0 else symbols[(i - 1) // len(SERIES) % len(symbols)],
                "size": 8,
            },
        }
        for i, (name, rows) in enumerate(groups)
    ]
    table = tuple((name, f"{r['heavy_atoms']:g}", f"{r['score']:.2f}") for name, rows in groups for r in rows)
    return Figure(
        id=f"size-{dataset.slug}",
        title=f"Size and score, {dataset.title}",
        caption="Docking rewards size. A hit must beat drugs of its own size on the on-target, so that larger "
        "molecules gain nothing by being larger.",
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "heavy atoms"}},
            "yaxis": {"title": {"text": "on-target score, kcal/mol"}},
        },
        table=DataTable(head=("Model", "Heavy atoms", "Score"), rows=table[:200]),
    )


def _seeds(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Scores that guided a search against those of the evaluation: the winner's curse."""
    groups = [
        (line, rows)
        for line in order
        if (rows := records(dataset, line, "guidance", ("guidance", "evaluation")))
    ][:MOST_MODELS]
    if not groups:
        return None
    values = [r[k] for _, rows in groups for r in rows for k in ("guidance", "evaluation")]
    low, high = min(values), max(values)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": text.plotly(line.title),
            "x": [r["guidance"] for r in rows],
            "y": [r["evaluation"] for r in rows],
            "marker": {
                "color": SERIES[i % len(SERIES)],
                "symbol": ("circle", "diamond", "square")[i // 3 % 3],
            },
        }
        for i, (line, rows) in enumerate(groups)
    ]
    table = tuple(
        (line.title, _name(r.get("target")), f"{r['guidance']:.2f}", f"{r['evaluation']:.2f}")
        for line, rows in groups
        for r in rows
    )
    return Figure(
        id=f"seeds-{dataset.slug}",
        title=f"Guidance and evaluation, {dataset.title}",
        caption="The same molecules on the same targets: the score that the search saw, and the one that counts, from "
        "other conformers and random numbers. What was selected for looks better while it is selected: points of the "
        "on-target above the diagonal are that winner's curse.",
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "score while searching, kcal/mol"}},
            "yaxis": {"title": {"text": "score in the evaluation, kcal/mol"}},
            "shapes": [_line(x0=low, x1=high, y0=low, y1=high)],
        },
        table=DataTable(head=("Model", "Target", "Guidance", "Evaluation"), rows=table[:200]),
    )


def _cards(dataset: DatasetView, order: Sequence[Line]) -> Figure | None:
    """Drawings of each model's molecules with the widest windows."""
    pictures = tuple(p for line in order if (p := _card(dataset, line)))
    if not pictures:
        return None
    return Figure(
        id=f"cards-{dataset.slug}",
        title=f"Molecules, {dataset.title}",
        caption="At most eight valid molecules of each model's first repeat, widest window first, with on-target score "
        "and window in kcal/mol. The model's page lists all of them with targets, flags and nearest drug.",
        pictures=pictures,
    )


def _card(dataset: DatasetView, line: Line) -> Picture | None:
    found = [f for f in exhibits.images(dataset.jobs[line.key]) if f[1].name == "cards"]
    if not found:
        return None
    return exhibits.picture(
        *found[0],
        label=line.title,
        href=f"model/{line.slug}.html",
        alt=f"Structures of molecules of {line.title} for {dataset.title}",
    )
