"""Catalogue of the family `alignment`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.alignment_datasets import DATASETS
from bench.catalog.alignment_metrics import METRICS
from bench.catalog.alignment_models import MODELS
from bench.spec import SIZES, Size, SizePlan, TaskInfo

__all__ = ["DATASETS", "MODELS", "TASKS"]

_GENERATED = (
    "Generated stimuli with known truth beside the images that people answered, which are skipped unless they are in a "
    "mirror or may be downloaded."
)


def _sizes(
    tiny: str, small: tuple[str, ...], **settings: tuple[int | str, int | str, int | str]
) -> dict[Size, SizePlan]:
    plans: dict[Size, SizePlan] = {}
    for index, size in enumerate(SIZES):
        plans[size] = SizePlan(
            datasets=(tiny,) if size == "tiny" else small,
            repeats=1,
            settings={name: values[index] for name, values in settings.items()},
        )
    return plans


def _task(
    name: str, title: str, entry: str, summary: str, note: str, sizes: dict[Size, SizePlan]
) -> TaskInfo:
    return TaskInfo(
        name=f"alignment.{name}",
        title=title,
        version=1,
        scoring=1,
        entry=f"bench.tasks.alignment.{name}:{entry}",
        sizes=sizes,
        metrics=METRICS[name],
        summary=summary,
        protocol="own",
        protocol_note=note,
    )


TASKS: tuple[TaskInfo, ...] = (
    _task(
        "similarity",
        "Perceptual similarity",
        "Similarity",
        "Of two images with the same error, one mildly and one harshly distorted, does the model find the mild one "
        "nearer, as people do?",
        _GENERATED + " For generated pairs an ordering known of people stands for their answers; intervals resample "
        "patches.",
        _sizes("distortion-pairs", ("distortion-pairs", "bapps"), patches=(4, 20, 60), triplets=(60, 600, 36_344)),
    ),
    _task(
        "gloss",
        "Gloss",
        "Gloss",
        "Does bumpiness make a surface look glossier to the model as it does to people, and does it know gloss at all?",
        "The decoder of Storrs et al. (2021) on rendered surfaces of our own; the win curves of people are published. "
        "The headline asks for both parts, as contrast alone follows the curves of people.",
        _sizes("bumpy-surfaces", ("bumpy-surfaces",), train=(40, 400, 800), test=(20, 200, 200), scenes=(3, 20, 20)),
    ),
    _task(
        "uncertainty",
        "Response uncertainty",
        "Uncertainty",
        "Is the model unsure about the images that people, or an observer who knows the truth, are unsure about?",
        _GENERATED,
        _sizes("noisy-digits", ("noisy-digits", "cifar10h"), images=(40, 1_000, 10_000), train=(80, 800, 4_000)),
    ),
    _task(
        "robustness",
        "Robustness",
        "Robustness",
        "Do distortions hurt the model as they hurt people, and does it err on the same images?",
        _GENERATED + " In the generated world accuracies above chance are compared, as numbers of classes differ.",
        _sizes("stw10", ("stw10", "edge-silhouette"), images=(2, 50, 1_000), train=(80, 800, 4_000)),
    ),
    _task(
        "cue_conflict",
        "Shape against texture",
        "CueConflict",
        "Where shape and texture disagree, how far is the model's preference for shape from that of people?",
        _GENERATED,
        _sizes("stw10", ("stw10", "cue-conflict"), images=(20, 300, 1_000), train=(80, 800, 4_000)),
    ),
    _task(
        "attribution",
        "Diagnostic pixels",
        "Attribution",
        "Do the pixels that matter for the model's answer lie where the shape is?",
        "The mask of the shape stands for what people find diagnostic; the texture, which is diagnostic too, covers "
        "the whole image.",
        _sizes("stw10", ("stw10",), images=(10, 200, 1_000), train=(80, 800, 4_000),
               methods=("none", "none", "smoothgrad integrated_gradients")),
    ),
)  # fmt: skip
