"""Task `alignment.attribution`: does a model look at the pixels that are diagnostic?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from bench.datasets.alignment import stw
from bench.metrics.alignment.attribution import (
    kept_mean,
    map_correlations,
    mask_energy,
    overlap,
    pointing,
    ranked_maps,
)
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.attributing import METHODS, maps_of, native_score, probe_score
from bench.tasks.alignment.readout import Probe
from bench.tasks.alignment.scores import labels, measure, replicates
from bench.tasks.alignment.seeing import features_of, require_vision
from bench.tasks.alignment.stimuli import amount, stw_pictures

GALLERY = "gallery"  # name of the exhibit
_EACH = 6  # best, median and worst images in the gallery


class Attribution(Task):
    """Artifact: `answers.npz` with `maps` float (trainings, images, 32, 32), not negative: how much each pixel matters
    for the true class. `smoothgrad` and `integrated_gradients`, of the same shape, are optional.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Gradients of the score of the true class, by the model's own head where it has one; else by a probe."""
        model = require_vision(adapter, unit.task)
        shown, world = self._shown(unit, ctx), ctx.load_dataset(unit.dataset)
        others = [
            name for name in str(unit.setting("methods")).split() if model.differentiable and name in METHODS
        ]
        method = "gradient" if model.differentiable else "occlusion"
        native = model.label_space == "stw10" and model.native_head

        def maps() -> dict[str, npt.NDArray[Any]]:
            score = native_score(model)
            if not native:
                learned = stw_pictures(world, ctx, train=True, n=int(unit.setting("train")))
                probe = Probe(features_of(model, learned.images, ctx.device), learned.shape)
                score = probe_score(model, probe, ctx.device)
            named = {"maps": method, **{name: name for name in others}}
            return {
                name: maps_of(how, model, score, shown.images, shown.shape, ctx.device)
                for name, how in named.items()
            }

        files.write(ctx.artifact_dir, files.stacked(list(files.over_runs(model, maps))))
        return {"method": method, "readout": "native" if native else "probe", "images": len(shown.shape)}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: images with their classes, and others to learn from."""
        shown, world = self._shown(unit, ctx), ctx.load_dataset(unit.dataset)
        learned = stw_pictures(world, ctx, train=True, n=int(unit.setting("train")))
        files.export_images(
            folder, images=shown.images, labels=shown.shape, train=learned.images, train_labels=learned.shape
        )
        n = len(shown.shape)
        return {
            "n": n,
            "files": {"images.npz": "uint8 images and train (n, 1, 32, 32), labels and train_labels"},
            "output": {files.FILE: f"maps: float (trainings, {n}, {stw.EDGE}, {stw.EDGE}), not negative"},
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite maps of the right shape."""
        self._read(artifact, unit)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Agreement of the maps with the mask of the shape."""
        found, shown = self._read(artifact, unit), self._shown(unit, ctx)
        masks, ranked = shown.masks, ranked_maps(shown.masks)
        rho = [map_correlations(maps=m, ranked=ranked) for m in found["maps"]]
        headline = [kept_mean(r) for r in rho]
        overlaps = [overlap(maps=m, reference=masks.astype(float)) for m in found["maps"]]
        metrics: dict[str, Measure | float] = {
            "rho": measure(headline),
            "iou": measure([o[0] for o in overlaps]),
            "dice": measure([o[1] for o in overlaps]),
            "mask_energy": measure([mask_energy(maps=m, masks=masks) for m in found["maps"]]),
            "pointing": measure([pointing(maps=m, masks=masks) for m in found["maps"]]),
        }
        facets: dict[str, Mapping[str, Measure | float]] = {}
        for name in ("smoothgrad", "integrated_gradients"):
            if name in found:
                scores = [kept_mean(map_correlations(maps=m, ranked=ranked)) for m in found[name]]
                facets[f"method={name}"] = {"rho": measure(scores)}
        method = str(artifact.notes.get("method", "as handed in"))
        items = np.mean(rho, axis=0)
        complete = bool(np.isfinite(items).all())
        return TaskOutput(
            metrics=metrics,
            facets=facets,
            samples={"rho": items.astype(np.float32)} if complete else None,
            sample_ids=np.arange(len(items)) if complete else None,
            flags=("occlusion",) if method == "occlusion" else (),
            exhibits=(*replicates(headline, ctx.exhibit_dir), _gallery(shown, found["maps"][0], rho[0], ctx)),
            notes={
                "method": method,
                "readout": str(artifact.notes.get("readout", "as handed in")),
                **labels(ctx.load_dataset(unit.dataset), "physical_truth"),
            },
        )

    def _shown(self, unit: Unit, ctx: Context) -> stw.Pictures:
        return stw_pictures(ctx.load_dataset(unit.dataset), ctx, train=False, n=amount(unit, "images"))

    def _read(self, artifact: Artifact, unit: Unit) -> dict[str, npt.NDArray[Any]]:
        shape = (amount(unit, "images"), stw.EDGE, stw.EDGE)
        return files.read(
            artifact, {"maps": shape}, dict.fromkeys(("smoothgrad", "integrated_gradients"), shape)
        )


def _gallery(
    shown: stw.Pictures, maps: npt.NDArray[Any], rho: npt.NDArray[np.float64], ctx: Context
) -> Exhibit:
    """Images, masks and maps, one below the other, of the best, median and worst images."""
    order = np.argsort(-np.nan_to_num(rho, nan=-2.0), kind="stable")
    middle = max(0, len(order) // 2 - _EACH // 2)
    blocks = [order[:_EACH], order[middle : middle + _EACH], order[-_EACH:]]
    sheet = np.concatenate([_block(shown, maps, rows) for rows in blocks])
    large = np.kron(sheet, np.ones((2, 2), dtype=np.uint8))
    Image.fromarray(large).save(ctx.exhibit_dir / "gallery.png", optimize=True)
    caption = (
        "Images, their diagnostic pixels and maps of the model; from above: best, median and worst images"
    )
    return Exhibit(name=GALLERY, kind="image", file="gallery.png", caption=caption)


def _block(shown: stw.Pictures, maps: npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    columns = [[shown.images[i, 0], 255 * shown.masks[i].astype(np.uint8), _bright(maps[i])] for i in rows]
    block = np.concatenate([np.concatenate([_framed(tile) for tile in column]) for column in columns], axis=1)
    return np.pad(block, ((2, 2), (0, 0)), constant_values=128)


def _bright(one: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    top = float(np.quantile(one, 0.99)) or 1.0
    return np.asarray(255 * np.clip(one / top, 0, 1), dtype=np.uint8)


def _framed(tile: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.pad(tile, 1, constant_values=128)
