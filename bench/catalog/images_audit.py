"""The task `images.audit`: metrics of image quality under known damage."""

from __future__ import annotations

from bench.catalog.images_encoders import AUDIT
from bench.spec import MetricInfo, SizePlan, TaskInfo

#: Metric under audit -> its title.
AUDITED = {
    "chamfer_dev": "Chamfer deviation",
    "g2r_ratio": "Fidelity ratio",
    "r2g_ratio": "Coverage ratio",
    "self_ratio": "Self ratio",
    "g2r_median": "Fidelity ratio, medians",
    "r2g_median": "Coverage ratio, medians",
    "fd": "Fréchet distance",
    "fd_inf": "Fréchet, extrapolated",
    "kid": "Kernel distance",
    "rbf_mmd": "CMMD",
    "sw2": "Sliced Wasserstein",
    "precision": "Precision",
    "recall": "Recall",
    "density": "Density",
    "coverage": "Coverage",
    "sym_precision": "Symmetric precision",
    "sym_recall": "Symmetric recall",
    "clipped_density": "Clipped density",
    "clipped_coverage": "Clipped coverage",
    "p_precision": "P-precision",
    "p_recall": "P-recall",
    "inception_score": "Inception score",
    "class_tv": "Class histogram",
    "vendi_ratio": "Vendi ratio",
    "rank_ratio": "Effective rank ratio",
    "memorisation_ratio": "Memorisation ratio",
    "authenticity": "Authenticity",
    "copying_z": "Copying test",
    "cell_copying_z": "Copying test in cells",
    "fld_gap": "FLD gap",
}

AUDIT_METRICS = (
    MetricInfo(
        name="overall",
        direction="max",
        lo=0.0,
        hi=1.0,
        primary=True,
        title="All metrics",
        definition="Share of right verdicts over all metrics and scenarios, in the feature space of this encoder.",
        cite="this project, 2026",
    ),
    *(
        MetricInfo(
            name=name,
            direction="max",
            lo=0.0,
            hi=1.0,
            title=title,
            definition=f"{title}: share of scenarios in which it gets worse with the damage if it claims to measure "
            "what is damaged, and stays where it is if not.",
        )
        for name, title in AUDITED.items()
    ),
)

AUDIT_TASK = TaskInfo(
    name=AUDIT,
    title="Can the metrics be believed?",
    version=1,
    scoring=1,
    entry="bench.tasks.images.audit.task:ImageMetricAudit",
    sizes={
        "tiny": SizePlan(datasets=("digits",), repeats=1, settings={"n": 60, "levels": 2, "slow": False}),
        "small": SizePlan(datasets=("fashion",), repeats=1, settings={"n": 400, "levels": 4, "slow": False}),
        "full": SizePlan(
            datasets=("fashion", "cifar10"), repeats=3, settings={"n": 1_000, "levels": 5, "slow": True}
        ),
    },
    metrics=AUDIT_METRICS,
    summary="The metrics themselves, measured: real images are blurred, dropped, copied, contracted and more, and "
    "every metric is judged by whether it notices what it claims to measure, and nothing else.",
    protocol="own",
    protocol_note="Severities and verdicts are ours. A metric tracks a damage if it ends 3 standard deviations of "
    "held-out draws worse than real images and orders the severities (tau .8); within 3 it is blind, 3 on the better "
    "side fooled, else erratic. It should track what it claims to measure and be blind to the rest; where fidelity "
    "suffers, metrics of coverage may do either. What takes part is an encoder: it decides what a distance between "
    "images is.",
    only_tags=("encoder",),
)
