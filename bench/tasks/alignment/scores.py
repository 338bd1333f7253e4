"""From metric results of the trainings of a model to measures, and what the sweep over lambda needs of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.metrics.alignment.result import METHOD, Score
from bench.spec import Exhibit, JSONScalar, Measure

REPLICATES = "replicates"  # name of the exhibit
KEPT = 200  # replicates per training that are kept for the sweep


def measure(scores: Sequence[Score]) -> Measure:
    """The mean over trainings; the interval resamples trainings and items together."""
    values = [s.value for s in scores]
    missing = next((s for s in scores if s.value is None), None)
    if missing is not None:
        return Measure(value=None, n=missing.n_used, reason=missing.reason)
    mean = float(np.mean([v for v in values if v is not None]))
    drawn = [s.drawn for s in scores if s.drawn is not None]
    n = scores[0].n_used
    if len(drawn) < len(scores):
        return Measure(value=mean, n=n, reason="no interval: not a function of means over items")
    if len(scores) == 1:
        return Measure(value=mean, ci_low=scores[0].low, ci_high=scores[0].high, ci_method=METHOD, n=n)
    table = np.stack(drawn)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(table), size=(len(table), table.shape[1]))
    means = table[rows, np.arange(table.shape[1])].mean(axis=0)
    low, high = np.percentile(means[np.isfinite(means)], [2.5, 97.5])
    return Measure(
        value=mean,
        ci_low=min(float(low), mean),
        ci_high=max(float(high), mean),
        ci_method=f"percentile bootstrap over {len(table)} trainings and items, {table.shape[1]:,} resamples",
        n=n,
    )


def known(values: Sequence[float | None], *, n: int | None = None, why: str = "not defined") -> Measure:
    """The mean of plain values over trainings, without an interval."""
    found = [v for v in values if v is not None and np.isfinite(v)]
    if len(found) < len(values) or not found:
        return Measure(value=None, n=n, reason=why)
    return Measure(value=float(np.mean(found)), n=n, reason="no interval: not a mean over items")


def ceiled(value: Measure, ceiling: float | None, why: str) -> tuple[Measure, Measure]:
    """(the ceiling, value / ceiling): the exact quotient, not clipped; None with a reason where there is none."""
    if ceiling is None:
        return Measure(value=None, reason=why), Measure(value=None, reason=why)
    top = Measure(value=ceiling, reason="no interval: a property of the people")
    if value.value is None:
        return top, Measure(value=None, reason=value.reason)
    if ceiling <= 0:
        return top, Measure(value=None, reason="the ceiling is not positive")
    ends = [None if end is None else end / ceiling for end in (value.ci_low, value.ci_high)]
    return top, Measure(
        value=value.value / ceiling, ci_low=ends[0], ci_high=ends[1], ci_method=value.ci_method, n=value.n,
        reason=value.reason,
    )  # fmt: skip


def above(value: Measure, ceiling: float | None) -> bool:
    """Whether a value is above the human ceiling; such values are shown as they are, and flagged."""
    return ceiling is not None and value.value is not None and value.value > ceiling


def replicates(scores: Sequence[Score], folder: Path) -> tuple[Exhibit, ...]:
    """Bootstrap replicates of the headline by training; the same resamples for every model of equal items."""
    drawn = [(run, s.drawn[:KEPT]) for run, s in enumerate(scores) if s.drawn is not None]
    pairs = [(run, float(v)) for run, values in drawn for v in values if np.isfinite(v)]
    if len(pairs) < KEPT * len(scores):
        return ()
    content = {"x": [run for run, _ in pairs], "y": [round(v, 6) for _, v in pairs]}
    (folder / "replicates.json").write_text(json.dumps(content), encoding="utf-8")
    caption = f"Bootstrap replicates of the headline, {KEPT} for each training of the model (x)"
    return (Exhibit(name=REPLICATES, kind="series", file="replicates.json", caption=caption),)


def labels(data: Any, evidence: str = "") -> dict[str, JSONScalar]:
    """What the scores rest on and how the images came to the model, as notes; they stand beside every number."""
    return {"evidence": evidence or data.evidence, "stimuli": data.stimuli}
