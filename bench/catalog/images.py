"""Catalogue of the family `images`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.images_audit import AUDIT_TASK
from bench.catalog.images_datasets import DATASETS as PICTURES
from bench.catalog.images_datasets import OWN_PICTURES
from bench.catalog.images_encoders import ENCODERS
from bench.catalog.images_fewstep import FEWSTEP_TASK
from bench.catalog.images_human import HUMAN_DATASETS, HUMAN_MODELS, HUMAN_TASK
from bench.catalog.images_metrics import FIDELITY_METRICS, NOVELTY_METRICS
from bench.catalog.images_models import MODELS as GENERATORS
from bench.catalog.images_sanity import METRIC_PAIRS, SANITY_DATASET, SANITY_TASK
from bench.spec import DatasetInfo, ModelInfo, SizePlan, TaskInfo

__all__ = ["DATASETS", "MODELS", "TASKS"]

DATASETS: tuple[DatasetInfo, ...] = (*PICTURES, *HUMAN_DATASETS, SANITY_DATASET)
MODELS: tuple[ModelInfo, ...] = (*GENERATORS, *ENCODERS, *HUMAN_MODELS, *METRIC_PAIRS)
TASKS: tuple[TaskInfo, ...] = (
    TaskInfo(
        name="images.fidelity",
        title="Image fidelity",
        version=1,
        scoring=3,
        entry="bench.tasks.images.fidelity:ImageFidelity",
        sizes={
            "tiny": SizePlan(datasets=("digits",), repeats=1, settings={"n": 100, "fit": 10_000}),
            "small": SizePlan(
                datasets=("digits", "mnist5k", "fashion", *OWN_PICTURES),
                repeats=3,
                settings={"n": 1_000, "fit": 10_000},
            ),
            "full": SizePlan(
                datasets=("fashion", "cifar10", *OWN_PICTURES),
                repeats=3,
                settings={"n": 5_000, "fit": 60_000},
            ),
        },
        metrics=FIDELITY_METRICS + NOVELTY_METRICS,
        summary="Compares generated images with as many real ones the model has not seen: how near they are, and "
        "how much of the real ones they reach.",
        protocol="own",
        protocol_note="The Chamfer definitions are ours, as the code of the abstract that argues for them is not "
        "public; Fréchet and kernel distances, precision, recall, density and coverage are as published. The "
        "memorisation ratio is ours, the other metrics of novelty and diversity as published; they use "
        "the default encoder alone. "
        "Intervals within a run, with the default encoder: 10 disjoint blocks (fd, kid), 5 random halves by the "
        "delete-half jackknife (the others).",
    ),
    FEWSTEP_TASK,
    AUDIT_TASK,
    HUMAN_TASK,
    SANITY_TASK,
)
