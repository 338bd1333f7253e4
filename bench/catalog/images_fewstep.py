"""The task `images.fewstep`: quality against the number of function evaluations."""

from __future__ import annotations

from dataclasses import replace

from bench.catalog.images_metrics import FIDELITY_METRICS, NOVELTY_METRICS
from bench.spec import MetricInfo, SizePlan, TaskInfo

FEWSTEP = "images.fewstep"
_SHARED = (
    "chamfer_dev",
    "r2g_ratio",
    "g2r_ratio",
    "fd",
    "precision",
    "recall",
    "memorisation_ratio",
    "authenticity",
)
_ALL = {metric.name: metric for metric in (*FIDELITY_METRICS, *NOVELTY_METRICS)}

FEWSTEP_METRICS = (
    *(
        replace(
            _ALL[name], definition=f"{_ALL[name].definition} With 4 evaluations; the facets have the others."
        )
        for name in _SHARED
    ),
    MetricInfo(
        name="straightness",
        direction="min",
        lo=0.0,
        title="Straightness",
        definition="Mean squared difference between the velocity on a path and the straight line to its end, over "
        "the mean squared length: 0 for paths that one step can walk.",
        cite="X. Liu, C. Gong and Q. Liu (2023), Flow straight and fast: learning to generate and transfer data with "
        "rectified flow",
    ),
)

FEWSTEP_TASK = TaskInfo(
    name=FEWSTEP,
    title="Few steps",
    version=1,
    scoring=1,
    entry="bench.tasks.images.fewstep:FewSteps",
    sizes={
        "tiny": SizePlan(
            datasets=("digits",),
            repeats=1,
            settings={"n": 60, "fit": 200, "evaluations": "1,4", "paths": 8},
        ),
        "small": SizePlan(
            datasets=("digits",),
            repeats=3,
            settings={"n": 250, "fit": 10_000, "evaluations": "1,2,4,8,16,64", "paths": 64},
        ),
        "full": SizePlan(
            datasets=("fashion", "cifar10"),
            repeats=3,
            settings={"n": 5_000, "fit": 60_000, "evaluations": "1,2,4,8,16,50,64", "paths": 256},
        ),
    },
    metrics=FEWSTEP_METRICS,
    summary="Flow and diffusion models at 1, 2, 4 and more evaluations of their network: how soon are the images good, "
    "how straight are the paths, and what do many steps return?",
    protocol="own",
    protocol_note="The table shows 4 evaluations, its facets the other numbers. One training a repeat serves all of "
    "them. Intervals are over repeats.",
    only_tags=("nfe", "yardstick"),
)
