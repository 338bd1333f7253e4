"""What `evaluate` returns: every metric with its evidence, as a table, a file or a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from bench.metrics.tabular.registry import METRICS, MetricSpec
from bench.metrics.tabular.result import Result
from bench.tasks.tabular import details
from bench.tasks.tabular.page import render


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """One metric. `value` is None where nothing could be measured; `reasons` then say why.

    n_used, n_excluded: units that entered, and those that the real data leave undefined. detail: one row per unit.
    companions: further numbers of the same measurement. interval: 95 %, where the metric has one.
    """

    spec: MetricSpec
    value: float | None
    n_used: int
    n_excluded: int
    reasons: tuple[str, ...]
    detail: pd.DataFrame
    companions: Mapping[str, float]
    flags: tuple[str, ...]
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, name: str, result: Result) -> Score:
        """The score of metric `name`."""
        return cls(
            METRICS[name],
            result.value,
            result.n_used,
            result.n_excluded,
            result.reasons,
            pd.DataFrame(dict(result.detail)),
            dict(result.facets),
            result.flags,
            result.interval,
        )

    @property
    def reason(self) -> str:
        """Why there is no value; "" if there is one."""
        return "" if self.value is not None else "; ".join(self.reasons[-3:]) or "not measurable"


@dataclass(frozen=True, slots=True, eq=False)
class Report(Mapping[str, Score]):
    """Scores by metric name; sizes, badges and remarks on the synthetic table."""

    scores: Mapping[str, Score]
    sizes: Mapping[str, int]  # rows by table
    badges: tuple[str, ...]
    remarks: tuple[tuple[str, str, int], ...]  # column ("" is the table), what is odd, rows
    distributions: tuple[Mapping[str, Any], ...]  # column, kind, at, real, synthetic

    def __getitem__(self, name: str) -> Score:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def table(self) -> pd.DataFrame:
        """One row per metric: dimension, metric, value, ci_low, ci_high, best, n_used, n_excluded, reason."""
        return pd.DataFrame([_row(name, score) for name, score in self.scores.items()])

    def to_parquet(self, path: str | Path) -> None:
        """Write `table()`."""
        self.table().to_parquet(path, index=False)

    def to_html(self, path: str | Path) -> None:
        """Write a page that stands alone: no script, nothing is loaded."""
        Path(path).write_text(render("report.html", report=self, groups=self._groups()), encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the details, ready for JSON."""
        rows = self.table().astype(object)
        return {
            "rows": dict(self.sizes),
            "badges": list(self.badges),
            "remarks": [{"column": c, "remark": r, "rows": n} for c, r, n in self.remarks],
            "metrics": rows.where(rows.notna(), None).to_dict("records"),
        }

    def _groups(self) -> list[tuple[str, list[Mapping[str, Any]]]]:
        """Distributions by column, in order."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for record in self.distributions:
            found.setdefault(str(record["column"]), []).append(record)
        return list(found.items())


def _row(name: str, score: Score) -> dict[str, Any]:
    low, high = score.interval or (None, None)
    return {
        "dimension": score.spec.dimension,
        "metric": name,
        "value": score.value,
        "ci_low": low,
        "ci_high": high,
        "best": best_of(score.spec),
        "n_used": score.n_used,
        "n_excluded": score.n_excluded,
        "reason": score.reason,
    }


def best_of(spec: MetricSpec) -> float | None:
    """The value of an ideal generator; None where more is always better."""
    if spec.target is not None:
        return spec.target
    if spec.direction == "none":
        return None
    best = spec.high if spec.direction == "max" else max(spec.low, 0.0)
    return best if abs(best) != float("inf") else None


def distributions_of(*arguments: Any) -> tuple[Mapping[str, Any], ...]:
    """As `details.distributions`, frozen."""
    return tuple(details.distributions(*arguments))
