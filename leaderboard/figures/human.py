"""Published metric values against people: do models that people mistake for real ones score better?

41 models of four data sets, with the human error rates and DINOv2 metrics of Stein et al. (2023); the tables and
their licence (MIT, Layer 6 AI) are in `static`.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.leaderboard import text
from bench.leaderboard.figures import DataTable, Figure

_FOLDER = Path(__file__).parent / "static"
SHOWN = {"fd": "Fréchet distance", "kd": "Kernel distance", "precision": "Precision", "recall": "Recall",
         "coverage": "Coverage"}  # fmt: skip
_FALLING = ("fd", "kd")  # lower is better
_SYMBOLS = ("circle", "square", "x", "diamond", "triangle-up")


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model with the share of its images that people took for real, and its published metrics."""

    dataset: str
    name: str
    human_error_rate: float
    metrics: dict[str, float]


def published_models() -> list[PublishedModel]:
    """The models with both a human error rate and metrics, in the order of the table."""
    rates = {(row["dataset"], row["model"]): row["human_error_rate"] for row in _read("human_error.csv")}
    return [
        PublishedModel(
            row["dataset"],
            row["model"],
            float(rates[row["dataset"], row["model"]]),
            {
                name: float(value)
                for name, value in row.items()
                if name not in ("dataset", "model") and not name.startswith("human") and value
            },
        )
        for row in _read("dgm_leaderboard.csv")
        if (row["dataset"], row["model"]) in rates
    ]


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation in [-1, 1] of two equally long sequences; ties get their mean rank."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def human_correlation(dataset: str, metric: str) -> float:
    """Spearman correlation of a published metric with the human error rate over the models of `dataset`.

    Raises ValueError when fewer than three models have the metric.
    """
    found = [m for m in published_models() if m.dataset == dataset and metric in m.metrics]
    if len(found) < 3:
        raise ValueError(f"{len(found)} published models of {dataset!r} have the metric {metric!r}")
    return spearman([m.metrics[metric] for m in found], [m.human_error_rate for m in found])


def figures() -> list[Figure]:
    """One scatter for each data set: human error rate against the rank that each metric gives."""
    models = published_models()
    return [_figure(name, models) for name in dict.fromkeys(m.dataset for m in models)]


def _figure(dataset: str, models: Sequence[PublishedModel]) -> Figure:
    mine = [m for m in models if m.dataset == dataset]
    correlations = ", ".join(
        f"{title} {human_correlation(dataset, metric):.2f}".replace("-", text.MINUS)
        for metric, title in SHOWN.items()
    )
    ranks = {metric: _best_first(mine, metric) for metric in SHOWN}
    return Figure(
        id=f"human-{dataset.lower()}",
        title=f"Published metrics and people, {dataset}: Spearman {correlations}",
        caption=f"{len(mine)} published models, not run here: the share of images that people took for real and the "
        "rank by each metric (1 is best). A metric that agrees with people falls from upper left to lower right. "
        "Data: G. Stein et al. (2023), DINOv2 features, MIT licence, © Layer 6 AI.",
        traces=[_trace(mine, metric, ranks[metric], i) for i, metric in enumerate(SHOWN)],
        layout={
            "xaxis": {"title": {"text": "human error rate"}},
            "yaxis": {"title": {"text": "rank by the metric"}},
        },
        table=DataTable(
            head=("Model", "Metric", "Value", "Rank", "Human error rate"),
            rows=tuple(
                (m.name, title, f"{m.metrics[metric]:g}", f"{rank:g}", f"{m.human_error_rate:.3f}")
                for metric, title in SHOWN.items()
                for m, rank in zip(mine, ranks[metric], strict=True)
            ),
        ),
    )


def _trace(
    models: Sequence[PublishedModel], metric: str, ranks: Sequence[float], number: int
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": SHOWN[metric],
        "x": [m.human_error_rate for m in models],
        "y": list(ranks),
        "hovertext": [text.plotly(f"{m.name}: {SHOWN[metric]} {m.metrics[metric]:g}") for m in models],
        "hoverinfo": "text",
        "marker": {"size": 9, "symbol": _SYMBOLS[number], "color": f"--series-{number + 1}"},
    }


def _best_first(models: Sequence[PublishedModel], metric: str) -> list[float]:
    sign = 1 if metric in _FALLING else -1
    return [float(rank) for rank in _ranks([sign * m.metrics[metric] for m in models])]


def _ranks(values: Sequence[float]) -> np.ndarray:
    """Ranks from 1, the mean rank for ties."""
    array = np.asarray(values, dtype=float)
    below = (array[:, None] > array).sum(1)
    equal = (array[:, None] == array).sum(1)
    ranks: np.ndarray = below + (equal + 1) / 2
    return ranks


def _read(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
