"""Task `alignment.similarity`: of two images with equal error, does a model find the same one nearer as people do?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment.bapps import Bapps, Triplets
from bench.datasets.alignment.distortions import FAMILIES, HARSH, MILD, PAIRED, SEVERITIES
from bench.metrics.alignment.ranks import average_ranks, rank_correlations
from bench.metrics.alignment.result import Score, mean_score, undefined
from bench.metrics.alignment.similarity import (
    cosine_distance,
    standardised_distance,
    two_alternative_items,
    two_alternatives_ceiling,
)
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.scores import above, ceiled, labels, measure, replicates
from bench.tasks.alignment.seeing import check_batches, features_of, require_vision
from bench.tasks.alignment.stimuli import amount, distorted

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shown:
    references: npt.NDArray[np.uint8]  # (n, 3, H, W)
    images: npt.NDArray[np.uint8]  # (n, *grid, 3, H, W): what each reference is compared with
    triplets: Triplets | None  # with the answers of people; None for the generated pairs

    @property
    def grid(self) -> tuple[int, ...]:
        return self.images.shape[:-3]


class Similarity(Task):
    """Artifact: `answers.npz` with `cosine` and optionally `euclidean`, float: distances of the compared images to
    their references, (trainings, patches, 8, 8) by family of distortion and severity, or (trainings, triplets, 2). Any
    other measure of distance may stand in their place.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Distances in the model's features."""
        model = require_vision(adapter, unit.task)
        shown = _shown(unit, ctx)
        n, flat = len(shown.references), shown.images.reshape(-1, *shown.references.shape[1:])

        def distances() -> dict[str, npt.NDArray[Any]]:
            check_batches(model, shown.references, ctx.device)
            own, other = (features_of(model, images, ctx.device) for images in (shown.references, flat))
            repeated = np.repeat(own, len(flat) // n, axis=0)
            found = {
                "cosine": cosine_distance(x=repeated, y=other),
                "euclidean": standardised_distance(x=repeated, y=other, references=own),
            }
            return {name: d.reshape(shown.grid).astype(np.float32) for name, d in found.items()}

        files.write(ctx.artifact_dir, files.stacked(list(files.over_runs(model, distances))))
        return {"references": n, "compared": len(flat)}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: references and what they are compared with."""
        shown = _shown(unit, ctx)
        files.export_images(folder, references=shown.references, compared=shown.images)
        grid = ", ".join(map(str, shown.grid))
        return {
            "n": len(shown.references),
            "files": {"images.npz": f"uint8 references (n, 3, 64, 64), compared ({grid}, 3, 64, 64)"},
            "output": {files.FILE: f"cosine: float (trainings, {grid}), distance of each to its reference"},
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite distances of the right shape."""
        self._read(artifact, _shown(unit, ctx))

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Agreement over references; a patch is an item, as its pairs belong together."""
        shown = _shown(unit, ctx)
        found = self._read(artifact, shown)
        items = {name: [_items(d, shown.triplets) for d in values] for name, values in found.items()}
        headline = [mean_score(values) for values in items["cosine"]]
        ceiling = 1.0
        dose = Measure(value=None, reason="these images have no severity")
        if shown.triplets is None:
            dose = measure([_dose_response(d) for d in found["cosine"]])
        else:
            ceiling, _ = two_alternatives_ceiling(chose_1=shown.triplets.chose_1)
        value = measure(headline)
        top, quotient = ceiled(value, ceiling, "")
        euclidean = Measure(value=None, reason="no euclidean distances were handed in")
        if "euclidean" in items:
            euclidean = measure([mean_score(values) for values in items["euclidean"]])
        return TaskOutput(
            metrics={
                "two_afc": value,
                "two_afc_euclidean": euclidean,
                "dose_response": dose,
                "ceiling": top,
                "ceiled": quotient,
            },
            facets=_by_kind(found["cosine"], items["cosine"], shown.triplets),
            samples={"two_afc": np.mean(items["cosine"], axis=0).astype(np.float32)},
            sample_ids=np.arange(len(shown.references)),
            flags=("above-ceiling",) if above(value, ceiling) else (),
            exhibits=replicates(headline, ctx.exhibit_dir),
            notes=labels(ctx.load_dataset(unit.dataset)),
        )

    def _read(self, artifact: Artifact, shown: _Shown) -> dict[str, npt.NDArray[Any]]:
        return files.read(artifact, {"cosine": shown.grid}, {"euclidean": shown.grid})


def _shown(unit: Unit, ctx: Context) -> _Shown:
    data = ctx.load_dataset(unit.dataset)
    if isinstance(data, Bapps):
        found = data.triplets(amount(unit, "triplets"))
        return _Shown(
            references=found.references, images=np.stack([found.first, found.second], axis=1), triplets=found
        )
    references, images = distorted(data, ctx, amount(unit, "patches"))
    return _Shown(references=references, images=images, triplets=None)


def _items(distances: npt.NDArray[Any], triplets: Triplets | None) -> Float:
    """The agreement on each reference, (n,)."""
    if triplets is None:
        return _by_patch(distances)
    d = distances.astype(np.float64)
    return two_alternative_items(d0=d[:, 0], d1=d[:, 1], chose_1=triplets.chose_1)


def _by_kind(
    distances: npt.NDArray[Any], items: list[Float], triplets: Triplets | None
) -> dict[str, Mapping[str, Measure | float]]:
    """Agreement for each kind of distortion."""
    facets: dict[str, Mapping[str, Measure | float]] = {}
    if triplets is None:
        for index, name in enumerate(FAMILIES):
            scores = [mean_score(_by_patch(d, only=index)) for d in distances]
            facets[f"distortion={name}"] = {"two_afc": measure(scores)}
        return facets
    kinds = np.array(triplets.kinds)
    for name in dict.fromkeys(triplets.kinds):
        scores = [mean_score(values[kinds == name]) for values in items]
        facets[f"distortion={name}"] = {"two_afc": measure(scores)}
    return facets


def _by_patch(distances: npt.NDArray[Any], only: int | None = None) -> Float:
    """The agreement on each patch, (n,)."""
    d = distances[:, :, list(PAIRED)].astype(np.float64)
    mild = [i for i in range(len(MILD)) if only is None or only >= len(MILD) or i == only]
    harsh = [
        len(MILD) + i for i in range(len(HARSH)) if only is None or only < len(MILD) or len(MILD) + i == only
    ]
    first, second = np.broadcast_arrays(d[:, mild][:, :, None], d[:, harsh][:, None])
    shape = first.shape
    items = two_alternative_items(d0=first.ravel(), d1=second.ravel(), chose_1=np.zeros(first.size))
    return np.asarray(items.reshape(shape).mean(axis=(1, 2, 3)))


def _dose_response(distances: npt.NDArray[Any]) -> Score:
    """Mean correlation of distance with severity, per patch."""
    n = len(distances)
    rows = distances.reshape(-1, len(SEVERITIES)).astype(np.float64)
    found = rank_correlations(
        maps=rows, ranked=average_ranks(np.tile(np.arange(len(SEVERITIES)), (len(rows), 1)))
    )
    if not np.isfinite(found).all():
        return undefined("distances to all severities of a distortion are equal")
    return mean_score(found.reshape(n, -1).mean(axis=1))
