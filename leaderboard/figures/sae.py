"""Figures of sparse coders: the three-way frontier, what co-occurrence costs, latents in context, audited proxies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.leaderboard import text
from bench.leaderboard.cells import Estimate
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.sae_audit import audit_figures
from bench.leaderboard.figures.sae_latents import latent_figure
from bench.leaderboard.figures.scatter import AxisOf, scatter
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

CO_OCCURRENCE = {"pairs-03": 0.03, "pairs-25": 0.25, "pairs-50": 0.5, "pairs-80": 0.8, "pairs-95": 0.95}
TRUTH, TRAINED = "frozen-truth", "sae-topk"  # what monosemanticity costs is their difference
SERIES = tuple(f"--series-{i}" for i in (1, 2, 3, 4, 5))
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_TICKS = [1, 1.2, 1.5, 2, 3, 5, 8, 12]
_FACETS = ("", "sparsity=0.5", "sparsity=2", "width=0.5", "width=2")
_ROLES = (
    ("contender", "models", SERIES[0]),
    ("baseline", "baselines", SERIES[1]),
    ("bound", "upper bounds", SERIES[2]),
)


def figures(task: TaskView) -> list[Figure]:
    """The figures of each task of the family."""
    name = task.info.name
    if name == "sae.proxy_audit":
        return audit_figures(task)
    found: list[Figure | None] = []
    if name == "sae.cooccurrence":
        found += [_against_co_occurrence(task), _tax(task)]
    if name == "sae.synth":
        found += [figure for dataset in task.datasets for figure in _frontier(dataset)]
    if name == "sae.lm":
        for dataset in task.datasets:
            found += [_kept(dataset), _probes(dataset), latent_figure(dataset)]
    return [figure for figure in found if figure is not None]


def _frontier(dataset: DatasetView) -> list[Figure | None]:
    """Rate and distortion, polysemanticity and distortion, and the three together."""
    bits, fvu = AxisOf("bits", "bits per row"), AxisOf("fvu", "unexplained variance")
    poly = AxisOf("poly", "polysemanticity")
    return [
        _surface(dataset),
        scatter(
            dataset,
            figure_id=f"rate-distortion-{dataset.slug}",
            title=f"Rate and distortion, {dataset.title}",
            caption="Fewer bits and less unexplained variance are better: towards the lower left.",
            x=bits,
            y=fvu,
        ),
        scatter(
            dataset,
            figure_id=f"poly-distortion-{dataset.slug}",
            title=f"Polysemanticity and distortion, {dataset.title}",
            caption="What a coder gains in reconstruction it may pay for in latents that stand for several "
            "concepts. 1 is "
            "monosemantic.",
            x=fvu,
            y=poly,
        ),
    ]


def _surface(dataset: DatasetView) -> Figure | None:
    """All settings of all coders in space: rate, distortion, polysemanticity."""
    points = [
        (line, facet, values)
        for line in dataset.lines
        if line.limit is None
        for facet in _FACETS
        if (values := _three(dataset, line, facet)) is not None
    ]
    if len(points) < 3:
        return None
    traces: list[dict[str, Any]] = []
    for role, name, colour in _ROLES:
        mine = [p for p in points if p[0].role == role]
        if mine:
            traces.append(
                {
                    "type": "scatter3d",
                    "mode": "markers",
                    "name": name,
                    **{axis: [p[2][i] for p in mine] for i, axis in enumerate("xyz")},
                    "hovertext": [text.plotly(f"{p[0].title} {_setting(p[1])}") for p in mine],
                    "hoverinfo": "text",
                    "marker": {"size": 5, "color": colour},
                }
            )
    rows = tuple((p[0].title, _setting(p[1]), *(f"{v:.4g}" for v in p[2])) for p in points)
    return Figure(
        id=f"surface-{dataset.slug}",
        title=f"Rate, distortion, polysemanticity, {dataset.title}",
        caption="Every setting of the sweep of every coder, mean over repeats. Drag to turn it: no coder is at the "
        "corner "
        "where all three are low.",
        traces=traces,
        layout={"height": 520, "scene": _scene(("bits per row", "unexplained variance", "polysemanticity"))},
        table=DataTable(
            head=("Model", "Setting", "Bits", "Unexplained variance", "Polysemanticity"), rows=rows[:200]
        ),
    )


def _scene(titles: tuple[str, str, str]) -> dict[str, Any]:
    axes = {
        f"{axis}axis": {
            "title": {"text": title},
            "gridcolor": "--rule-strong",
            "color": "--ink",
            "backgroundcolor": "rgba(0,0,0,0)",
        }
        for axis, title in zip("xyz", titles, strict=True)
    }
    return {
        **axes,
        "zaxis": {**axes["zaxis"], "type": "log"},
        "camera": {"eye": {"x": 1.5, "y": 1.5, "z": 0.9}},
    }


def _three(dataset: DatasetView, line: Line, facet: str) -> tuple[float, float, float] | None:
    means = [dataset.estimate(line, metric, facet).mean for metric in ("bits", "fvu", "poly")]
    first, second, third = means
    return (first, second, third) if first is not None and second is not None and third is not None else None


def _setting(facet: str) -> str:
    return facet or "headline"


def _against_co_occurrence(task: TaskView) -> Figure | None:
    """A line per model that has at least three worlds of pairs."""
    worlds = [(CO_OCCURRENCE[d.name], d) for d in task.datasets if d.name in CO_OCCURRENCE]
    worlds.sort(key=lambda item: item[0])
    curves = [(title_, points) for title_, points in _curves(worlds) if len(points) >= min(3, len(worlds))]
    if len(worlds) < 2 or not curves:
        return None
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": text.plotly(name),
            "x": [c for c, _ in points],
            "y": [e.mean for _, e in points],
            "error_y": _errors([e for _, e in points]),
            "line": {"color": SERIES[i % len(SERIES)], "dash": DASHES[i % len(DASHES)], "width": 2},
        }
        for i, (name, points) in enumerate(curves[:6])
    ]
    rows = tuple((name, f"{c:g}", f"{e.mean:.4g}", _spread(e)) for name, points in curves for c, e in points)
    return Figure(
        id="co-occurrence",
        title="Polysemanticity against co-occurrence",
        caption="The more often two concepts come together, the more a coder that is trained to reconstruct merges "
        "them, "
        "while the same measure stays at 1 for the true concepts. Bars: 95 % intervals over repeats.",
        traces=traces,
        layout={
            "xaxis": {"title": {"text": "probability of the partner, given a concept"}, "range": [-0.02, 1]},
            "yaxis": {
                "title": {"text": "polysemanticity (log)"},
                "type": "log",
                "tickmode": "array",
                "tickvals": _TICKS,
            },
        },
        table=DataTable(head=("Model", "Co-occurrence", "Polysemanticity", "Interval"), rows=rows),
    )


def _curves(
    worlds: Sequence[tuple[float, DatasetView]],
) -> list[tuple[str, list[tuple[float, Estimate]]]]:
    found: dict[str, tuple[str, list[tuple[float, Estimate]]]] = {}
    for c, dataset in worlds:
        for line in dataset.lines:
            estimate = dataset.estimate(line, "poly")
            if line.limit is None and estimate.mean is not None:
                found.setdefault(line.model, (line.title, []))[1].append((c, estimate))
    return list(found.values())


def _errors(estimates: Sequence[Estimate]) -> dict[str, Any]:
    def reach(e: Estimate, end: float | None) -> float:
        return abs(end - e.mean) if end is not None and e.mean is not None else 0.0

    return {
        "type": "data",
        "symmetric": False,
        "array": [reach(e, e.high) for e in estimates],
        "arrayminus": [reach(e, e.low) for e in estimates],
        "thickness": 1.2,
        "width": 3,
    }


def _spread(e: Estimate) -> str:
    return f"{e.low:.4g} to {e.high:.4g}" if e.low is not None and e.high is not None else "no interval"


def _tax(task: TaskView) -> Figure | None:
    """What the true, monosemantic atoms lose against atoms that were learned, at the same sparsity."""
    rows = []
    for dataset in task.datasets:
        if dataset.name not in CO_OCCURRENCE:
            continue
        by_model = {line.model: line for line in dataset.lines if line.limit is None}
        if TRUTH not in by_model or TRAINED not in by_model:
            continue
        truth, trained = by_model[TRUTH], by_model[TRAINED]
        shown = [
            _difference(_paired(dataset, truth, metric), _paired(dataset, trained, metric))
            for metric in ("fvu", "bits")
        ]
        rows.append((f"{CO_OCCURRENCE[dataset.name]:g}", *shown))
    if not rows:
        return None
    return Figure(
        id="tax",
        title="The price of monosemanticity",
        caption="The coder with the true concepts as atoms and a learned encoder, less the TopK coder at the same "
        "number of "
        "latents and the same sparsity, paired by repeat; 95 % t interval. Above 0: forcing latents to be monosemantic "
        "costs reconstruction or bits.",
        table=DataTable(
            head=("Co-occurrence", "Unexplained variance, difference", "Bits, difference"),
            rows=tuple(sorted(rows)),
        ),
    )


def _paired(dataset: DatasetView, line: Line, metric: str) -> dict[int, float]:
    return {
        job.repeat: found.value
        for job in dataset.jobs[line.key]
        if job.ok and (found := job.values.get("", {}).get(metric)) is not None and found.value is not None
    }


def _difference(first: dict[int, float], second: dict[int, float]) -> str:
    from bench.stats.intervals import mean_t

    common = sorted(first.keys() & second.keys())
    if not common:
        return "not measured"
    gaps = [first[r] - second[r] for r in common]
    if len(gaps) < 2:
        return f"{gaps[0]:+.4f} (one repeat)"
    interval = mean_t(gaps)
    return f"{sum(gaps) / len(gaps):+.4f} ({interval.low:+.4f} to {interval.high:+.4f}, {len(gaps)} repeats)"


def _kept(dataset: DatasetView) -> Figure | None:
    return scatter(
        dataset,
        figure_id=f"recovered-{dataset.slug}",
        title=f"What the model keeps, {dataset.title}",
        caption="Loss recovered when activations are replaced by reconstructions, against the bits of the code. "
        "Upwards and "
        "to the left is better.",
        x=AxisOf("bits", "bits per token"),
        y=AxisOf("recovered_mean", "loss recovered"),
    )


def _probes(dataset: DatasetView) -> Figure | None:
    """Area under the curve against the number of latents, with all dimensions as a line."""
    shown = [
        (line, [dataset.estimate(line, f"probe_k{k}").mean for k in (1, 16)])
        for line in dataset.lines
        if line.limit is None
    ]
    shown = [(line, values) for line, values in shown if all(v is not None for v in values)]
    dense = next(
        (v for line in dataset.lines if (v := dataset.estimate(line, "probe_dense").mean) is not None), None
    )
    if not shown:
        return None
    shown.sort(key=lambda item: -(item[1][1] or 0.0))
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": f"{k} latent{'s' if k > 1 else ''}",
            "x": [text.plotly(line.title) for line, _ in shown],
            "y": [values[i] for _, values in shown],
            "marker": {"color": SERIES[i]},
        }
        for i, k in enumerate((1, 16))
    ]
    if dense is not None:
        names = [text.plotly(line.title) for line, _ in shown]
        rule = {"color": "--ink", "dash": "dot", "width": 1.5}
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "dense",
                "x": names,
                "y": [dense] * len(names),
                "line": rule,
            }
        )
    rows = tuple((line.title, *(f"{v:.4f}" for v in values)) for line, values in shown)
    return Figure(
        id=f"probes-{dataset.slug}",
        title=f"Probes, {dataset.title}",
        caption="Area under the ROC curve of probes on 1 and 16 latents, mean over sets of texts; dotted: all "
        "dimensions. "
        "Random atoms stand in the same chart: what they reach needs no training.",
        traces=traces,
        layout={"barmode": "group", "yaxis": {"range": [0.5, 1]}, "xaxis": {"automargin": True}},
        table=DataTable(head=("Model", "1 latent", "16 latents"), rows=rows),
    )
