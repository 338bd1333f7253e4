"""Task `alignment.similarity`: of two images with equal error, does a model find the same one nearer as people do?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment.distortions import FAMILIES, HARSH, MILD, PAIRED, SEVERITIES
from bench.metrics.alignment.ranks import average_ranks, rank_correlations
from bench.metrics.alignment.result import Score, mean_score, undefined
from bench.metrics.alignment.similarity import cosine_distance, standardised_distance, two_alternative_items
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.scores import labels, measure, replicates
from bench.tasks.alignment.seeing import check_batches, features_of, require_vision
from bench.tasks.alignment.stimuli import amount, distorted

Float = npt.NDArray[np.float64]
_PER_PATCH = (len(FAMILIES), len(SEVERITIES))


class Similarity(Task):
    """Artifact: `answers.npz` with `cosine` and optionally `euclidean`, float (trainings, patches, 8, 8): the distance
    of every distorted image to its reference, by family of distortion and severity. Any other measure of distance may
    stand in their place.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Distances in the model's features."""
        model = require_vision(adapter, unit.task)
        n = amount(unit, "patches")
        references, images = distorted(ctx.load_dataset(unit.dataset), ctx, n)
        flat = images.reshape(-1, *references.shape[1:])

        def distances() -> dict[str, npt.NDArray[Any]]:
            check_batches(model, references, ctx.device)
            own, other = features_of(model, references, ctx.device), features_of(model, flat, ctx.device)
            repeated = np.repeat(own, len(flat) // n, axis=0)
            found = {
                "cosine": cosine_distance(x=repeated, y=other),
                "euclidean": standardised_distance(x=repeated, y=other, references=own),
            }
            return {name: d.reshape(n, *_PER_PATCH).astype(np.float32) for name, d in found.items()}

        files.write(ctx.artifact_dir, files.stacked(list(files.over_runs(model, distances))))
        return {"patches": n}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: references and distorted images."""
        n = amount(unit, "patches")
        references, images = distorted(ctx.load_dataset(unit.dataset), ctx, n)
        files.export_images(folder, references=references, distorted=images)
        return {
            "n": n,
            "files": {"images.npz": "uint8 references (n, 3, 64, 64), distorted (n, 8, 8, 3, 64, 64)"},
            "output": {
                files.FILE: f"cosine: float (trainings, {n}, 8, 8), distance of each to its reference"
            },
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite distances of the right shape."""
        self._read(artifact, unit)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Agreement over patches; a patch is an item, as its pairs belong together."""
        found = self._read(artifact, unit)
        headline = [_agreement(d) for d in found["cosine"]]
        metrics: dict[str, Measure | float] = {
            "two_afc": measure(headline),
            "two_afc_euclidean": _of(found, "euclidean", _agreement),
            "dose_response": measure([_dose_response(d) for d in found["cosine"]]),
        }
        facets: dict[str, Mapping[str, Measure | float]] = {}
        for index, name in enumerate(FAMILIES):
            scores = [_agreement(d, only=index) for d in found["cosine"]]
            facets[f"distortion={name}"] = {"two_afc": measure(scores)}
        return TaskOutput(
            metrics=metrics,
            facets=facets,
            samples={"two_afc": np.mean([_by_patch(d) for d in found["cosine"]], axis=0).astype(np.float32)},
            sample_ids=np.arange(found["cosine"].shape[1]),
            exhibits=replicates(headline, ctx.exhibit_dir),
            notes=labels(ctx.load_dataset(unit.dataset)),
        )

    def _read(self, artifact: Artifact, unit: Unit) -> dict[str, npt.NDArray[Any]]:
        shape = (amount(unit, "patches"), *_PER_PATCH)
        return files.read(artifact, {"cosine": shape}, {"euclidean": shape})


def _of(found: Mapping[str, npt.NDArray[Any]], name: str, function: Any) -> Measure:
    if name not in found:
        return Measure(value=None, reason=f"no {name} distances were handed in")
    return measure([function(d) for d in found[name]])


def _agreement(distances: npt.NDArray[Any], only: int | None = None) -> Score:
    """Mean agreement with the order that people see; `only` keeps pairs with that family."""
    return mean_score(_by_patch(distances, only))


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
