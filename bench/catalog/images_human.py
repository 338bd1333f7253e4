"""The task `images.human_correlation`: published metrics against people."""

from __future__ import annotations

from bench.spec import DatasetInfo, Direction, MetricInfo, ModelInfo, SizePlan, TaskInfo

HUMAN = "images.human_correlation"
_STEIN = (
    "G. Stein et al. (2023), Exposing flaws of generative model evaluation metrics and their unfair treatment of "
    "diffusion models"
)
_DATASETS = ("human-cifar10", "human-imagenet256", "human-lsun-bedroom", "human-ffhq256")


def _metric(name: str, title: str, direction: Direction, what: str) -> MetricInfo:
    wish = {
        "min": "-1 if people take more images for real the smaller it is",
        "max": "1 if people take more images for real the larger it is",
        "none": "shown for completeness: it does not claim to measure realism",
    }[direction]
    return MetricInfo(
        name=name,
        direction=direction,
        lo=-1.0,
        hi=1.0,
        primary=name == "fd",
        title=title,
        definition=f"Spearman correlation of {what} with the human error rate over the models: {wish}.",
        cite=_STEIN,
    )


HUMAN_METRICS = (
    _metric("fd", "Fréchet distance", "min", "the Fréchet distance"),
    _metric(
        "fd_inf", "Fréchet, extrapolated", "min", "the Fréchet distance extrapolated to infinite samples"
    ),
    _metric("kd", "Kernel distance", "min", "the kernel distance"),
    _metric("fls", "Feature likelihood", "max", "the feature likelihood score"),
    _metric("precision", "Precision", "max", "precision"),
    _metric("recall", "Recall", "max", "recall"),
    _metric("density", "Density", "max", "density"),
    _metric("coverage", "Coverage", "max", "coverage"),
    _metric("authpct", "Authenticity", "none", "the share of authentic samples"),
    _metric("ct", "Copying test", "none", "the copying test"),
    _metric("ct_mod", "Copying test, modified", "none", "the modified copying test"),
    _metric("fls_pog", "Overfit Gaussians", "none", "the share of overfit Gaussians"),
)

HUMAN_DATASETS = tuple(
    DatasetInfo(
        name=name,
        entry=f"bench.datasets.images.human:{loader}",
        title=title,
        summary=f"{count} published models of {what}, with the share of their images that people took for real.",
        license="MIT",
        data="real",
        evidence="human_aggregate",
        sha256="eb0f90d18a100d96b4a3a13c643dffab16e563ceb46270f2f812d25ce4c0f008",
        url="https://github.com/layer6ai-labs/dgm-eval",
        citation=_STEIN,
    )
    for name, loader, title, count, what in (
        (_DATASETS[0], "load_cifar10", "People on CIFAR-10", 13, "CIFAR-10"),
        (_DATASETS[1], "load_imagenet", "People on ImageNet", 11, "ImageNet at 256 x 256"),
        (_DATASETS[2], "load_bedrooms", "People on LSUN bedrooms", 8, "the bedrooms of LSUN"),
        (_DATASETS[3], "load_faces", "People on FFHQ", 9, "faces of FFHQ at 256 x 256"),
    )
)

HUMAN_MODELS = (
    ModelInfo(
        name="published-dinov2",
        version="1",
        families=("images",),
        entry="bench.models.images.published:PublishedMetrics",
        title="Published, DINOv2",
        summary="The metric values as published, with features of DINOv2 ViT-L/14.",
        license="MIT",
        url="https://github.com/layer6ai-labs/dgm-eval",
        paper=_STEIN,
        tags=("metric-table", "deterministic"),
        only_tasks=(HUMAN,),
    ),
)

_EXACT = SizePlan(datasets=_DATASETS, repeats=1)
HUMAN_TASK = TaskInfo(
    name=HUMAN,
    title="Metrics and people",
    version=1,
    scoring=1,
    entry="bench.tasks.images.human_correlation:HumanCorrelation",
    sizes={"tiny": SizePlan(datasets=_DATASETS[:1], repeats=1), "small": _EXACT, "full": _EXACT},
    metrics=HUMAN_METRICS,
    summary="41 published models, not run here: does a metric rank them as people do, who were asked which images are "
    "real?",
    protocol="paper",
    protocol_note="Human error rates and metric values as published; the rank correlations and their intervals are "
    "computed here. With 8 to 13 models a data set the intervals are wide.",
    only_tags=("metric-table",),
)
