"""Metrics of one synthetic table: values, companions, reasons for what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.metrics.tabular.registry import METRICS
from bench.metrics.tabular.result import Result
from bench.spec import JSONScalar, Measure

# Numbers that a metric carries along and that stand in tables of their own: name -> metric, its facet.
COMPANIONS: Mapping[str, tuple[str, str]] = {
    "trend_strong": ("trend_all", "trend_strong"),
    "ci_kept": ("ci_fidelity", "ci_kept"),
    "dep_kept": ("ci_fidelity", "dep_kept"),
    "tstr": ("ml_gap", "tstr"),
    "trtr": ("ml_gap", "trtr"),
}
_ABSENT = {"trend_strong": "no pair depends strongly in the real rows"}
_BOOTSTRAP = "bootstrap over targets of the worst attack"
_METHODS = {
    "mia_auc": _BOOTSTRAP,
    "mia_tpr01": _BOOTSTRAP,
    "singling_out": "Wilson, by propagation",
    "linkability": "Wilson, by propagation",
    "attribute_inference": "Wilson, by propagation",
}
NO_INTERVAL = "no interval within a run; repeats show the spread"


def names_of(*dimensions: str) -> tuple[str, ...]:
    """Metrics of the given dimensions in the order of the registry."""
    return tuple(name for name, spec in METRICS.items() if spec.dimension in dimensions)


def measures(results: Mapping[str, Result]) -> dict[str, Measure]:
    """Every result and its companions as values with interval, count and reason."""
    found = {name: measure(name, result) for name, result in results.items()}
    for name, (metric, facet) in COMPANIONS.items():
        if metric in results:
            found[name] = _companion(name, results[metric], facet)
    return found


def measure(name: str, result: Result) -> Measure:
    """One result as a value, or as the reason why there is none."""
    if result.value is None:
        return Measure(value=None, n=result.n_used, reason=_short(result.reasons))
    left_out = f"{result.n_excluded} left out: {_short(result.reasons)}" if result.n_excluded else ""
    if result.interval is None:
        reason = "; ".join(part for part in (NO_INTERVAL, left_out) if part)
        return Measure(value=result.value, n=result.n_used, reason=reason)
    low, high = result.interval
    return Measure(
        value=result.value,
        ci_low=low,
        ci_high=high,
        ci_method=_METHODS.get(name, "within the run"),
        n=result.n_used,
        reason=left_out,
    )


def facets(results: Mapping[str, Result]) -> dict[str, dict[str, Measure]]:
    """What each attack reaches on its own."""
    found: dict[str, dict[str, Measure]] = {}
    for name in ("mia_auc", "mia_tpr01"):
        if name in results:
            for attack, value in results[name].facets.items():
                where = found.setdefault(f"attack={attack}", {})
                where[name] = Measure(value=value, n=results[name].n_used, reason=NO_INTERVAL)
    return found


def settings_of(results: Mapping[str, Result]) -> dict[str, JSONScalar]:
    """Which attack or learner a value belongs to."""
    return {
        f"{name}_{flag.partition('=')[0]}": flag.partition("=")[2]
        for name, result in results.items()
        for flag in result.flags
        if "=" in flag
    }


def left_out(results: Mapping[str, Result]) -> list[dict[str, Any]]:
    """Every excluded unit with its reason, for all metrics."""
    return [
        {"metric": name, "reason": reason} for name, result in results.items() for reason in result.reasons
    ]


def _companion(name: str, result: Result, facet: str) -> Measure:
    if result.value is None:
        return Measure(value=None, n=result.n_used, reason=_short(result.reasons))
    if facet not in result.facets:
        return Measure(value=None, reason=_ABSENT.get(name, f"{facet} is not defined here"))
    return Measure(value=result.facets[facet], n=result.n_used, reason=NO_INTERVAL)


def _short(reasons: Sequence[str], limit: int = 300) -> str:
    text = "; ".join(reasons[-1:] if len(reasons) > 3 else reasons) or "not measurable"
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 3 else ""
    return (text if len(text) <= limit else text[: limit - 1] + "…") + more
