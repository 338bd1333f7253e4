"""What each tabular metric is called, means, ranges over, needs and costs. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Dimension = Literal["density", "structure", "efficacy", "privacy", "validity"]
Need = Literal["holdout", "test", "truth"]
Cost = Literal["light", "medium", "heavy"]

_INF = float("inf")
_SDMETRICS = "SDMetrics (DataCebo 2023)"
_ALAA = "Alaa et al. 2022, How Faithful is your Synthetic Data?"
_NAEEM = "Naeem et al. 2020, Reliable Fidelity and Diversity Metrics for Generative Models"
_TABSTRUCT = "Jiang, Simidjievski, Jamnik 2026, TabStruct: Measuring Structural Fidelity of Tabular Data"
_GIOMI = "Giomi et al. 2023, A Unified Framework for Quantifying Privacy Risk in Synthetic Data"
_BREUGEL = "van Breugel et al. 2023, Membership inference attacks against synthetic data through overfitting detection"
_YAO = "Yao et al. 2025, The DCR Delusion"
_OWN = "this project"


@dataclass(frozen=True)
class MetricSpec:
    """One number. `target` is the best value where that is neither end of the range [low, high].

    group: metrics of one group come from one computation. cost: light is linear in rows, medium compares all rows,
    heavy trains models. headline: whether the leaderboard shows it first.
    """

    name: str
    dimension: Dimension
    direction: Literal["max", "min", "none"]
    low: float
    high: float
    group: str
    citation: str
    cost: Cost = "light"
    needs: frozenset[Need] = frozenset()
    target: float | None = None
    headline: bool = False


def _specs() -> list[MetricSpec]:
    return [*_density(), *_structure(), *_efficacy(), *_privacy(), *_validity()]


def _density() -> list[MetricSpec]:
    def spec(name: str, group: str, cite: str, cost: Cost = "light", **more: object) -> MetricSpec:
        settings = {"direction": "max", "low": 0.0, "high": 1.0} | more
        return MetricSpec(name, "density", group=group, citation=cite, cost=cost, **settings)  # type: ignore[arg-type]

    return [
        spec("shape", "shape", _SDMETRICS),
        spec("shape_na", "shape_na", _OWN, headline=True),
        spec("trend_all", "trend_all", _SDMETRICS),
        spec("pair_tv", "pair_tv", _OWN, headline=True),
        spec("jensen_shannon", "jensen_shannon", "Lin 1991, Divergence Measures", direction="min"),
        spec("wasserstein", "wasserstein", "Kantorovich 1942", direction="min", high=11.0),
        spec("alpha_precision", "manifold", _ALAA, "medium"),
        spec("beta_recall", "manifold", _ALAA, "medium"),
        spec("authenticity", "manifold", _ALAA, "medium"),
        spec("precision", "manifold", _NAEEM, "medium"),
        spec("recall", "manifold", _NAEEM, "medium"),
        spec("density", "manifold", _NAEEM, "medium", high=_INF, target=1.0),
        spec("coverage", "manifold", _NAEEM, "medium"),
        spec(
            "mmd2",
            "mmd2",
            "Gretton et al. 2012, A Kernel Two-Sample Test",
            "medium",
            direction="min",
            low=-1.0,
            high=2.0,
        ),
        spec("c2st_auc", "c2st", "Lopez-Paz, Oquab 2017", "heavy", direction="none", target=0.5),
        spec("c2st", "c2st", "Lopez-Paz, Oquab 2017", "heavy", headline=True),
    ]


def _structure() -> list[MetricSpec]:
    def spec(name: str, group: str, need: Need, cost: Cost, high: float = 1.0, **more: object) -> MetricSpec:
        return MetricSpec(
            name,
            "structure",
            "max",
            0.0,
            high,
            group,
            _TABSTRUCT,
            cost,
            frozenset([need]),
            **more,  # type: ignore[arg-type]
        )

    return [
        spec("structure_skill", "utility", "test", "heavy", headline=True),
        spec("global_utility", "utility", "test", "heavy", high=2.0, target=1.0),
        spec("local_utility", "utility", "test", "heavy", high=2.0, target=1.0),
        spec("ci_fidelity", "ci_fidelity", "truth", "light", headline=True),
        spec("ci_effect", "ci_effect", "truth", "light"),
        spec("mechanism", "mechanism", "truth", "light", headline=True),
        spec("direction", "direction", "truth", "light"),
    ]


def _efficacy() -> list[MetricSpec]:
    test: frozenset[Need] = frozenset(["test"])
    cite = "Esteban, Hyland, Raetsch 2017, train on synthetic, test on real"
    return [
        MetricSpec("ml_gap", "efficacy", "max", -_INF, _INF, "efficacy", cite, "heavy", test, 0.0, True),
        MetricSpec("ml_augment", "efficacy", "max", -_INF, _INF, "efficacy", _OWN, "heavy", test, None, True),
        MetricSpec("ml_importance", "efficacy", "max", -1.0, 1.0, "efficacy", _OWN, "heavy", test),
    ]


def _privacy() -> list[MetricSpec]:
    holdout: frozenset[Need] = frozenset(["holdout"])

    def spec(name: str, group: str, cite: str, cost: Cost = "medium", **more: object) -> MetricSpec:
        settings = {"direction": "min", "low": 0.0, "high": 1.0, "needs": holdout} | more
        return MetricSpec(name, "privacy", group=group, citation=cite, cost=cost, **settings)  # type: ignore[arg-type]

    return [
        spec("mia_tpr01", "membership", _BREUGEL, target=0.01, headline=True),
        spec("mia_auc", "membership", _BREUGEL, target=0.5, headline=True),
        spec("exact_copies", "exact_copies", _OWN, "light", headline=True),
        spec("dcr_share", "closest_record", f"{_SDMETRICS}; {_YAO}", target=0.5),
        spec("dcr_ratio", "closest_record", _YAO, direction="none", high=_INF, target=1.0),
        spec("nndr", "manifold", _YAO, direction="max", needs=frozenset()),
        spec("singling_out", "singling_out", _GIOMI),
        spec("linkability", "linkability", _GIOMI),
        spec("attribute_inference", "attribute_inference", _GIOMI),
    ]


def _validity() -> list[MetricSpec]:
    def spec(name: str, direction: Literal["max", "min"] = "max", **more: object) -> MetricSpec:
        return MetricSpec(name, "validity", direction, 0.0, 1.0, name, _OWN, **more)  # type: ignore[arg-type]

    return [
        spec("category_adherence", headline=True),
        spec("range_adherence", headline=True),
        spec("decimals_adherence"),
        spec("missing_rates", "min"),
        spec("missing_patterns", "min"),
        spec("constraint_violations", "min", needs=frozenset(["holdout"]), headline=True),
        spec("rare_coverage"),
        spec("duplicate_rows", "min"),
        spec("high_cardinality"),
    ]


METRICS: Mapping[str, MetricSpec] = {spec.name: spec for spec in _specs()}
"""Every metric by name, in the order in which reports list them."""
