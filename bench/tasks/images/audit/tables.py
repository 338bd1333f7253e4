"""What an audit leaves for the site: the verdicts, and the values behind them, as JSON records."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from bench.spec import Exhibit
from bench.tasks.images.audit.findings import Findings, Judged

VERDICTS, CURVES = "verdicts", "curves"
HELD_OUT = "held_out"  # the scenario under which the draws stand among the curves
_DIGITS = 6


def tables(found: Findings, folder: Path) -> tuple[Exhibit, ...]:
    """Write both tables into `folder`."""
    _write([_verdict(judged) for judged in found.judged], folder / f"{VERDICTS}.json")
    _write(_curves(found), folder / f"{CURVES}.json")
    return (
        Exhibit(
            name=VERDICTS,
            kind="table",
            file=f"{VERDICTS}.json",
            caption="Every verdict: what the metric does, what it should do, its rank correlation with severity and "
            "its distance from held-out images at the worst severity, in standard deviations",
        ),
        Exhibit(
            name=CURVES,
            kind="table",
            file=f"{CURVES}.json",
            caption="Values of all metrics at every severity, after those on the held-out draws",
        ),
    )


def _verdict(judged: Judged) -> dict[str, Any]:
    return {
        "metric": judged.metric,
        "scenario": judged.scenario.name,
        "title": judged.scenario.title,
        "damages": "+".join(judged.scenario.damages) or "nothing",
        "verdict": judged.verdict.word,
        "expected": judged.expected,
        "tau": round(judged.verdict.tau, 3),
        "z": _rounded(judged.verdict.z),
    }


def _curves(found: Findings) -> list[dict[str, Any]]:
    rows = [(HELD_OUT, float(index), values) for index, values in enumerate(found.held_out)]
    rows += [
        (scenario.name, level, values)
        for scenario in found.scenarios
        for level, values in zip(scenario.levels, found.curves[scenario.name], strict=True)
    ]
    return [
        {
            "scenario": name,
            "severity": level,
            **{key: _rounded(value) for key, value in values.items() if math.isfinite(value)},
        }
        for name, level, values in rows
    ]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _write(records: list[dict[str, Any]], path: Path) -> None:
    path.write_text(json.dumps(records, allow_nan=False), encoding="utf-8")
