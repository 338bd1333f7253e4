"""Anchored scores: every metric between what independent columns and what fresh real rows reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.leaderboard import text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView
from bench.spec import TaskInfo
from bench.stats.anchors import Anchored, anchored

REAL = "real_holdout"
# Metric -> the model at 0; what fresh real rows reach is 100.
LOWER: Mapping[str, str] = {
    "shape_na": "independent",
    "pair_tv": "independent",
    "trend_all": "independent",
    "c2st": "independent",
    "constraint_violations": "independent",
    "structure_skill": "independent",
    "global_utility": "independent",
    "ci_fidelity": "independent",
    "mechanism": "independent",
    "ml_gap": "independent",
    "ml_importance": "independent",
    "mia_tpr01": "copy",
    "mia_auc": "copy",
    "exact_copies": "copy",
    "dcr_share": "copy",
    "linkability": "copy",
    "attribute_inference": "copy",
}
LIMIT = 120.0  # of the drawing; the table has the numbers


def anchored_scores(dataset: DatasetView, line: Line) -> dict[str, Anchored]:
    """Anchored score of each metric of the page that has an anchor, or why there is none."""
    by_model = {found.model: found for found in dataset.lines if found.limit is None}
    scores = {}
    for metric, lower in LOWER.items():
        mean = dataset.estimate(line, metric).mean
        if mean is None:
            continue
        ends = [
            dataset.estimate(by_model[name], metric).mean if name in by_model else None
            for name in (lower, REAL)
        ]
        low, high = ends
        if low is None or high is None:
            absent = lower if low is None else REAL
            scores[metric] = Anchored(None, f"the anchor {absent} has no value here")
        else:
            scores[metric] = anchored(mean, low=low, high=high)
    return scores


def anchored_radar(task: TaskInfo, dataset: DatasetView, shown: Sequence[Line]) -> Figure | None:
    """The figure; without drawing where fewer than three metrics are defined, None where none is."""
    found = [(line, anchored_scores(dataset, line)) for line in shown if line.role == "contender"]
    titles = {m.name: m.title or m.name for m in task.metrics}
    metrics = [m for m in LOWER if any(m in s and s[m].value is not None for _, s in found)]
    if not metrics:
        return None
    traces = [
        {
            "type": "scatterpolar",
            "name": text.plotly(line.title),
            "r": [_clipped(scores.get(m)) for m in (*metrics, metrics[0])],
            "theta": [text.plotly(titles[m]) for m in (*metrics, metrics[0])],
            "line": {"color": f"--series-{i % 3 + 1}", "dash": ("solid", "dash")[i // 3 % 2]},
        }
        for i, (line, scores) in enumerate(found)
    ]
    rows = tuple((line.title, *(_word(scores.get(m)) for m in metrics)) for line, scores in found)
    return Figure(
        id=f"anchored-{dataset.slug}",
        title=f"Anchored scores, {dataset.title}",
        caption="100: as fresh real rows; 0: as independent columns, or for privacy as a copy of the training rows. "
        "Not clipped in the table. A metric whose anchors lie within 0.01 of each other is left out.",
        traces=traces if len(metrics) >= 3 else (),
        layout={"polar": {"radialaxis": {"range": [0, LIMIT], "angle": 90}, "bgcolor": "rgba(0,0,0,0)"}},
        table=DataTable(head=("Model", *(titles[m] for m in metrics)), rows=rows),
    )


def _clipped(score: Anchored | None) -> float | None:
    if score is None or score.value is None:
        return None
    return min(LIMIT, max(0.0, score.value))


def _word(score: Anchored | None) -> str:
    if score is None:
        return "not measured"
    return f"{score.value:.1f}" if score.value is not None else "undefined"
