"""Figures of sparse coders: the three-way frontier, what co-occurrence costs, latents in context, audited proxies."""

from __future__ import annotations

from typing import Any

from bench.leaderboard import text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.sae_audit import audit_figures
from bench.leaderboard.figures.sae_cost import against_co_occurrence, price
from bench.leaderboard.figures.sae_latents import latent_figure
from bench.leaderboard.figures.scatter import AxisOf, scatter
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

SERIES = tuple(f"--series-{i}" for i in (1, 2, 3, 4, 5))
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
        found += [against_co_occurrence(task), price(task)]
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
        caption="Every setting of the sweep of every coder, mean over repeats. Drag to turn it: only the true codes "
        "are at the corner where unexplained variance and polysemanticity are low.",
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
        "zaxis": {**axes["zaxis"], "type": "log", "tickvals": [1, 2, 5, 10, 20, 50]},
        "camera": {"eye": {"x": 1.8, "y": 1.8, "z": 1.0}},
    }


def _three(dataset: DatasetView, line: Line, facet: str) -> tuple[float, float, float] | None:
    means = [dataset.estimate(line, metric, facet).mean for metric in ("bits", "fvu", "poly")]
    first, second, third = means
    return (first, second, third) if first is not None and second is not None and third is not None else None


def _setting(facet: str) -> str:
    return facet or "headline"


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
