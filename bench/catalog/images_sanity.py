"""The task `images.sanity`: pairs of metrics on sets of points whose likeness is known."""

from __future__ import annotations

from bench.spec import DatasetInfo, MetricInfo, ModelInfo, Resources, SizePlan, TaskInfo

SANITY = "images.sanity"
_RAISA = (
    "O. Räisä, B. van Breugel and M. van der Schaar (2025), Position: All Current Generative Fidelity and Diversity "
    "Metrics are Flawed"
)

#: Check -> its title.
CHECKS = {
    "mean_shift": "Mean",
    "outlier": "Mean, one outlier",
    "std_ratio": "Spread",
    "thinned_modes": "Modes thinned",
    "dropped_modes": "Modes dropped",
    "invented_modes": "Modes invented",
    "sphere": "Sphere",
    "cubes_n": "Cubes, both sizes",
    "cubes_m": "Cubes, one size",
    "torus": "Ball in a torus",
    "two_modes": "Two modes as one",
    "scaled_dimension": "Unit of a dimension",
    "pareto": "Mean, heavy tail",
    "disjoint_dimension": "One dimension apart",
    "rounded": "Whole numbers",
}
_GROUPS = (
    ("passed", "All checks", "Share of verdicts passed, by both metrics of the pair, in all checks."),
    ("fidelity", "Fidelity", "Share of verdicts that the metric of fidelity passes."),
    ("diversity", "Diversity", "Share of verdicts that the metric of diversity passes."),
    ("shape", "Shape", "Share of checks in which the curve has the shape that it should have."),
    (
        "values",
        "Values",
        "Share of checks in which equal sets give 1, disjoint ones 0, and the like, within .05.",
    ),
)

SANITY_METRICS = (
    *(
        MetricInfo(
            name=name,
            direction="max",
            lo=0.0,
            hi=1.0,
            primary=name == "passed",
            title=title,
            definition=words,
            cite=_RAISA,
        )
        for name, title, words in _GROUPS
    ),
    *(
        MetricInfo(
            name=name,
            direction="max",
            lo=0.0,
            hi=1.0,
            title=title,
            definition=f"{title}: share of the four verdicts passed, on shape and values of both metrics.",
            cite=_RAISA,
        )
        for name, title in CHECKS.items()
    ),
)

SANITY_DATASET = DatasetInfo(
    name="known-likeness",
    entry="bench.datasets.images.sanity:load",
    title="Points of known likeness",
    summary="Gaussians, mixtures, spheres, cubes and tori in 1 to 1,001 dimensions, in pairs of which it is known how "
    "much they have in common.",
    license="Apache-2.0",
    data="generated",
    evidence="physical_truth",
    sha256="667725d5038c97ebe3061a72484a67f4fe7277effa43d27cbcb5642b1b141013",
    citation=_RAISA,
)

METRIC_PAIRS = tuple(
    ModelInfo(
        name=f"pair-{name}",
        version="1",
        families=("images",),
        entry="bench.models.images.metric_pair:NamedPair",
        title=title,
        summary=summary,
        params={"pair": name},
        license="Apache-2.0",
        paper=paper,
        tags=("metric-pair",),
        only_tasks=(SANITY,),
    )
    for name, title, summary, paper in (
        (
            "precision-recall",
            "Precision, recall",
            "Shares inside the balls of the other set, k = 5.",
            "T. Kynkäänniemi et al. (2019), Improved Precision and Recall Metric for Assessing Generative Models",
        ),
        (
            "density-coverage",
            "Density, coverage",
            "Depth inside balls of real points, and balls reached, k = 5.",
            "M. F. Naeem et al. (2020), Reliable Fidelity and Diversity Metrics for Generative Models",
        ),
        (
            "symmetric",
            "Symmetric",
            "Symmetric precision and recall: balls of both sets, k = 5.",
            "M. Khayatkhoei and W. AbdAlmageed (2023), Emergent Asymmetry of Precision and Recall for Measuring "
            "Fidelity and Diversity of Generative Models in High Dimensions",
        ),
        (
            "probabilistic",
            "Probabilistic",
            "P-precision and P-recall: soft balls of one size, k = 4.",
            "D. Park and S. Kim (2023), Probabilistic Precision and Recall Towards Reliable Evaluation of Generative "
            "Models",
        ),
        (
            "clipped",
            "Clipped",
            "Clipped density and coverage, bounded and calibrated, k = 5.",
            "N. Salvy et al. (2026), Enhanced Generative Model Evaluation with Clipped Density and Coverage",
        ),
        ("chamfer", "Chamfer ratios", "min(1, 1 / ratio) of the fidelity and the coverage ratio.", ""),
        (
            "chamfer-median",
            "Chamfer ratios, medians",
            "The same with medians for means.",
            "",
        ),
    )
)

SANITY_TASK = TaskInfo(
    name=SANITY,
    title="Do metrics pass the simplest checks?",
    version=1,
    scoring=1,
    entry="bench.tasks.images.sanity.task:MetricSanity",
    sizes={
        "tiny": SizePlan(
            datasets=("known-likeness",), repeats=1, settings={"n": 60, "levels": 3, "draws": 1}
        ),
        "full": SizePlan(
            datasets=("known-likeness",), repeats=1, settings={"n": 1_000, "levels": 51, "draws": 10}
        ),
    },
    metrics=SANITY_METRICS,
    summary="Pairs of metrics are the contestants, on made sets of points: equal sets should give 1, disjoint ones 0, "
    "lost modes should cost diversity and invented ones fidelity.",
    protocol="paper",
    protocol_note="15 checks with criteria as published, on means over 10 draws. Ours: where the ten modes of one "
    "check lie, the same k for all metrics, P-precision with its own, and ratios as min(1, 1 / ratio). No size small: "
    "with fewer points or draws the verdicts mean nothing.",
    resources=Resources(timeout_s=6 * 3600.0),
    only_tags=("metric-pair",),
)
