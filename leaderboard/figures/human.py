"""Metrics against people: do models that people mistake for real ones score better?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView, TaskView

TABLE = "models"  # name of the exhibit
SHOWN = {"fd": "Fréchet distance", "kd": "Kernel distance", "precision": "Precision", "recall": "Recall",
         "coverage": "Coverage"}  # fmt: skip
_RATE = "human_error_rate"
_FALLING = ("fd", "kd")  # lower is better
_SYMBOLS = ("circle", "square", "x", "diamond", "triangle-up")
Record = dict[str, Any]


def figures(task: TaskView) -> list[Figure]:
    """For each data set and table of metric values a scatter of human error rates against ranks."""
    found = (_figure(dataset, line) for dataset in task.datasets for line in dataset.lines)
    return [figure for figure in found if figure is not None]


def _figure(dataset: DatasetView, line: Line) -> Figure | None:
    models = [r for r in exhibits.records(dataset.jobs[line.key], TABLE) if exhibits.is_number(r.get(_RATE))]
    metrics = [
        name for name in SHOWN if models and all(exhibits.is_number(model.get(name)) for model in models)
    ]
    if not metrics:
        return None
    ranks = {name: _best_first(models, name) for name in metrics}
    return Figure(
        id=f"human-{dataset.slug}-{line.slug}",
        title=f"{dataset.title}, {line.title}: Spearman {_correlations(dataset, line, metrics)}",
        caption=f"{len(models)} published models, not run here: the share of images that people took for real and the "
        "rank by each metric (1 is best). A metric that agrees with people falls from upper left to lower right. "
        "Data: G. Stein et al. (2023), MIT licence, © Layer 6 AI.",
        traces=[_trace(models, name, ranks[name]) for name in metrics],
        layout={
            "xaxis": {"title": {"text": "human error rate"}},
            "yaxis": {"title": {"text": "rank by the metric"}},
        },
        table=DataTable(
            head=("Model", "Metric", "Value", "Rank", "Human error rate"),
            rows=tuple(
                (_name(model), SHOWN[name], f"{model[name]:g}", f"{rank:g}", f"{model[_RATE]:.3f}")
                for name in metrics
                for model, rank in zip(models, ranks[name], strict=True)
            ),
        ),
    )


def _correlations(dataset: DatasetView, line: Line, metrics: Sequence[str]) -> str:
    means = {name: dataset.estimate(line, name).mean for name in metrics}
    words = [f"{SHOWN[name]} {mean:.2f}" for name, mean in means.items() if mean is not None]
    return ", ".join(words).replace("-", text.MINUS)


def _trace(models: Sequence[Record], metric: str, ranks: Sequence[float]) -> dict[str, Any]:
    number = list(SHOWN).index(metric)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": SHOWN[metric],
        "x": [model[_RATE] for model in models],
        "y": list(ranks),
        "hovertext": [text.plotly(f"{_name(m)}: {SHOWN[metric]} {m[metric]:g}") for m in models],
        "hoverinfo": "text",
        "marker": {"size": 9, "symbol": _SYMBOLS[number], "color": f"--series-{number + 1}"},
    }


def _best_first(models: Sequence[Record], metric: str) -> list[float]:
    """Ranks from 1, the mean rank for ties."""
    values = np.array([model[metric] for model in models], dtype=float)
    values = values if metric in _FALLING else -values
    below = (values[:, None] > values).sum(axis=1)
    equal = (values[:, None] == values).sum(axis=1)
    return [float(rank) for rank in below + (equal + 1) / 2]


def _name(model: Record) -> str:
    return text.visible(str(model.get("model", "")), 40)
