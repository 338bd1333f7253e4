"""Task `images.fidelity`: are generated images near to real ones, do they reach all of them, are they copies?"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from bench.adapters.images import FeatureSource, ImageGenerator, MomentSource
from bench.datasets.images import ImageSplit
from bench.errors import InvalidOutput
from bench.metrics.images import GaussianStatistics, equalise
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit, derived_seed
from bench.tasks.images.artifact import (
    FEATURES_FILE,
    IMAGES_FILE,
    MOMENTS_FILE,
    FidelityArtifact,
    check_moments,
    export,
    read_artifact,
)
from bench.tasks.images.contract import check_features, check_images
from bench.tasks.images.encoders import load_encoder, usable
from bench.tasks.images.encoding import encode_cached
from bench.tasks.images.moments import moment_scores
from bench.tasks.images.novelty import Novelty, known_images, novelty
from bench.tasks.images.protocol import ImageUnit, image_unit
from bench.tasks.images.scores import BALL, BALL_K, CHAMFER_K, FidelityScores, fidelity_scores
from bench.tasks.images.sheets import write_sheet

_PROBE = 8  # images drawn twice to see that equal seeds give equal images
_PROBE_TOLERANCE = 1.0  # mean difference in gray levels that rounding on a GPU may cause

Array = npt.NDArray[np.float32]


class ImageFidelity(Task):
    """Collects `n` images (or feature vectors) and compares them with as many reference images.

    Artifact: `images.npz` with `images` uint8 (n, C, H, W), or a folder `images` of picture files, or
    `features.npz` with one float32 (n, d) array for each encoder (the default's at least), or `statistics.npz`
    with the moments `mu` and `sigma`, of which only the Frechet distance follows. Seeds of fitting and sampling are
    `derived_seed(unit.seed, "fit" or "sample")`.
    """

    def collect(
        self, adapter: ImageGenerator | FeatureSource | MomentSource | Any, unit: Unit, ctx: Context
    ) -> Mapping[str, JSONScalar]:
        """Fit and sample. Times are not noted: the artifact must be the same again for the same seed."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        if callable(getattr(adapter, "sample", None)):
            return _collect_images(adapter, plan, ctx)
        if callable(getattr(adapter, "features", None)):
            return _collect_features(adapter, plan, ctx)
        if callable(getattr(adapter, "moments", None)):
            return _collect_moments(adapter, plan, ctx)
        raise InvalidOutput(
            f"{type(adapter).__name__} has neither sample(n, seed=...) nor features(n, seed=..., encoder=...); "
            "derive it from bench.adapters.images.ImageGenerator or FeatureSource"
        )

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`fit.npz`: the images a model may train on, with their labels."""
        return export(image_unit(ctx.load_dataset(unit.dataset), unit), folder)

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Exactly `n` images of the right shape, or feature vectors for each encoder, or moments."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        read_artifact(artifact, plan, n=plan.n)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Every metric with the data set's default encoder, and the others as facets."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        given: FidelityArtifact = read_artifact(artifact, plan)
        if given.moments is not None:
            return self._score_moments(given.moments, plan, ctx)
        images = given.images
        started = time.monotonic()
        names, gaps = usable(plan.encoders, device=ctx.device)
        generated = given.features if images is None else _encode(images, names, ctx)
        gaps |= {
            name: f"no features of encoder {name} were handed in" for name in names if name not in generated
        }
        default, *others = (name for name in names if name in generated)
        real = {name: _reference(name, plan, ctx) for name in (default, *others)}
        encoded = time.monotonic()
        scores = {
            name: _scores(real[name], generated[name], plan, ctx, intervals=name == default) for name in real
        }
        known = _novelty(real[default], generated[default], artifact, plan, ctx)
        notes = {
            **_protocol_notes(plan, len(generated[default])),
            "distinct_reference_rows": scores[default].distinct_real,
            "pictures": "none: features only" if images is None else len(images),
            "encode_seconds": round(encoded - started, 3),
            "metric_seconds": round(time.monotonic() - encoded, 3),
        }
        facets = {facet: values for facet, values in scores[default].measures.items() if facet}
        facets |= {f"encoder={name}": scores[name].measures[""] for name in others}
        facets |= {
            f"encoder={name}": {
                metric: Measure(value=None, reason=why) for metric in scores[default].measures[""]
            }
            for name, why in gaps.items()
        }
        return TaskOutput(
            metrics={**scores[default].measures[""], **known.measures},
            facets=facets,
            flags=_flags(scores[default].flags, copying=known.copying),
            exhibits=() if images is None else _exhibits(images, known, plan, unit, ctx),
            notes=notes,
        )

    def _score_moments(self, moments: GaussianStatistics, plan: ImageUnit, ctx: Context) -> TaskOutput:
        """The Frechet distance, and for every other metric why there is none."""
        real = torch.from_numpy(_reference(plan.encoders[0], plan, ctx))
        measures, flags = moment_scores(real, moments, (metric.name for metric in self.info.metrics))
        return TaskOutput(
            metrics=measures,
            flags=flags,
            notes={**_protocol_notes(plan, plan.n), "n_generated": None, "pictures": "none: moments only"},
        )


def reference_features(plan: ImageUnit, ctx: Context) -> dict[str, Array]:
    """Features of the unit's reference images, one float32 (n, d) array for each encoder that can be used here."""
    names, _ = usable(plan.encoders, device=ctx.device)
    return {name: _reference(name, plan, ctx) for name in names}


def _reference(name: str, plan: ImageUnit, ctx: Context) -> Array:
    images = plan.dataset.ref.images
    features = encode_cached(load_encoder(name), images, device=ctx.device, cache_dir=ctx.cache_dir)
    return features[plan.reference_rows]


def _collect_images(adapter: Any, plan: ImageUnit, ctx: Context) -> dict[str, JSONScalar]:
    fits_on = getattr(adapter, "fits_on", "fit")
    if fits_on not in ("fit", "hold"):
        raise InvalidOutput(f"fits_on is {fits_on!r}; use 'fit', or 'hold' for an oracle")
    split: ImageSplit = plan.fit_split() if fits_on == "fit" else plan.dataset.hold
    seed = derived_seed(plan.seed, "sample")
    ctx.progress(0, 2)
    adapter.fit(  # copies: the adapter may write into its arrays
        split.images.copy(),
        split.labels.copy(),
        seed=derived_seed(plan.seed, "fit"),
        device=ctx.device,
        budget_s=ctx.seconds_left,
    )
    ctx.progress(1, 2)
    images = check_images(adapter.sample(plan.n, seed=seed), shape=plan.dataset.image_shape, n=plan.n)
    np.savez_compressed(ctx.artifact_dir / IMAGES_FILE, images=images)
    _check_repeatable(adapter, plan, seed)  # last, as an adapter may use its array again
    ctx.progress(2, 2)
    return {"n": plan.n, "fits_on": fits_on, "fit_images": len(split)}


def _check_repeatable(adapter: Any, plan: ImageUnit, seed: int) -> None:
    """Draw a few images twice with one seed; they must agree up to rounding."""
    n, shape = min(_PROBE, plan.n), plan.dataset.image_shape
    first, second = (
        check_images(adapter.sample(n, seed=seed), shape=shape, n=n).astype(np.int16) for _ in range(2)
    )
    difference = float(np.abs(first - second).mean())
    if difference > _PROBE_TOLERANCE:
        raise InvalidOutput(
            f"two calls of sample(n={n}, seed={seed}) differ by {difference:.1f} gray levels on average; "
            "draw all randomness from `seed`"
        )


def _collect_features(adapter: Any, plan: ImageUnit, ctx: Context) -> dict[str, JSONScalar]:
    reference = reference_features(plan, ctx)
    adapter.fit_features(reference, seed=derived_seed(plan.seed, "fit"))
    seed = derived_seed(plan.seed, "sample")
    arrays = {
        name: check_features(
            adapter.features(plan.n, seed=seed, encoder=name), dim=real.shape[1], encoder=name, n=plan.n
        )
        for name, real in reference.items()
    }
    np.savez(ctx.artifact_dir / FEATURES_FILE, **arrays)  # type: ignore[arg-type]
    return {"n": plan.n, "fits_on": "ref features", "fit_images": 0}


def _collect_moments(adapter: Any, plan: ImageUnit, ctx: Context) -> dict[str, JSONScalar]:
    mean, covariance = adapter.moments(plan.encoders[0])
    check_moments(mean, covariance, plan)
    np.savez(ctx.artifact_dir / MOMENTS_FILE, mu=mean, sigma=covariance)
    return {"fits_on": "nothing: moments were handed in"}


def _encode(images: npt.NDArray[np.uint8], names: Iterable[str], ctx: Context) -> dict[str, Array]:
    return {name: load_encoder(name).encode(images, device=ctx.device) for name in names}


def _scores(
    real: Array, generated: Array, plan: ImageUnit, ctx: Context, *, intervals: bool
) -> FidelityScores:
    x, y = (torch.from_numpy(part).to(ctx.device) for part in (real, generated))
    x, y = equalise(x, y, seed=derived_seed(plan.seed, "equalise"))
    return fidelity_scores(x, y, seed=derived_seed(plan.seed, "intervals"), intervals=intervals)


def _novelty(real: Array, generated: Array, artifact: Artifact, plan: ImageUnit, ctx: Context) -> Novelty:
    """Novelty against the images the model could train on and the held-out ones."""
    encoder = load_encoder(plan.encoders[0])
    fit, hold = (
        encode_cached(encoder, images, device=ctx.device, cache_dir=ctx.cache_dir)
        for images in (plan.fit_split().images, plan.dataset.hold.images)
    )
    x, y, train, held_out = (torch.from_numpy(part).to(ctx.device) for part in (real, generated, fit, hold))
    x, y = equalise(x, y, seed=derived_seed(plan.seed, "equalise"))
    return novelty(
        real=x,
        generated=y,
        known=known_images(train=train, held_out=held_out, cache_dir=ctx.cache_dir),
        saw_held_out=artifact.notes.get("fits_on") == "hold",
        seed=derived_seed(plan.seed, "novelty"),
    )


def _flags(flags: tuple[str, ...], *, copying: bool) -> tuple[str, ...]:
    """Copies of training images explain a distance below that of real ones better than `below-real`."""
    return (*(flag for flag in flags if flag != "below-real"), "copying") if copying else flags


def _protocol_notes(plan: ImageUnit, n_generated: int) -> dict[str, JSONScalar]:
    encoder = load_encoder(plan.encoders[0])
    return {
        "encoder": encoder.name,
        "encoder_sha256": encoder.weights_sha256,
        "resize_mode": encoder.resize_mode,
        "n": min(plan.n, n_generated),
        "n_generated": n_generated,
        "n_reference": plan.n,
        "n_capped_by": plan.cap,
        "k_chamfer": CHAMFER_K,
        "k_balls": BALL_K,
        "ball": BALL,
    }


def _exhibits(
    images: npt.NDArray[np.uint8], known: Novelty, plan: ImageUnit, unit: Unit, ctx: Context
) -> tuple[Exhibit, ...]:
    """The first 64 generated images and the nearest training ones; with the first repeat also real ones."""
    write_sheet(images, ctx.exhibit_dir / "samples.png")
    samples = Exhibit(
        name="samples",
        kind="image",
        file="samples.png",
        caption=f"First {min(64, len(images))} generated images, not selected",
    )
    shown = (samples, _nearest_pairs(images, known, plan, ctx))
    if unit.repeat != 0:
        return shown
    write_sheet(plan.reference_images(), ctx.exhibit_dir / "reference.png")
    caption = f"Real images of {plan.dataset.name} (reference)"
    return *shown, Exhibit(name="reference", kind="image", file="reference.png", caption=caption)


def _nearest_pairs(images: npt.NDArray[np.uint8], known: Novelty, plan: ImageUnit, ctx: Context) -> Exhibit:
    """Generated images beside the training images they are nearest to."""
    images, _ = equalise(images, plan.reference_images(), seed=derived_seed(plan.seed, "equalise"))
    fit = plan.fit_split().images
    tiles = [tile for pair in known.pairs for tile in (images[pair.generated], fit[pair.train])]
    write_sheet(np.stack(tiles), ctx.exhibit_dir / "nearest-training.png", rows=4, columns=8)
    return Exhibit(
        name="nearest-training",
        kind="image",
        file="nearest-training.png",
        caption=f"The {len(known.pairs)} generated images nearest to a training image, each to the left of that one",
    )
