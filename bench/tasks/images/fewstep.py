"""Task `images.fewstep`: what does a flow or diffusion model give with few evaluations of its network?

A model is fitted once and sampled at several numbers of function evaluations (NFE) from the same seed. Flows that
offer `velocity` are followed, too: a straight path can be walked in one step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from bench.artifacts import load_npz
from bench.datasets.images import ImageSplit
from bench.errors import InvalidOutput
from bench.metrics.images import (
    authenticity,
    frechet_distance,
    memorisation_ratio,
    neighbor_metrics,
    training_radii,
)
from bench.metrics.images.straightness import chord_straightness
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit, derived_seed
from bench.tasks.images.artifact import export
from bench.tasks.images.contract import check_images
from bench.tasks.images.deviation import bounded_deviation
from bench.tasks.images.encoders import FeatureEncoder, load_encoder
from bench.tasks.images.encoding import encode_cached
from bench.tasks.images.novelty import COPYING_BELOW
from bench.tasks.images.protocol import ImageUnit, image_unit
from bench.tasks.images.scores import BALL_K, CHAMFER_K, DEGENERATE
from bench.tasks.images.sheets import write_sheet

IMAGES_FILE, PATHS_FILE = "images.npz", "paths.npz"
PATH_STEPS, PATH_TIMES = 100, 10
FEW = 4  # the NFE of the task's own values
_COLUMNS = 8
_FEWEST_DISTINCT = 20  # below, nearest neighbours of a collapsed model are an accident
_PER_RUN = "no interval within a run: see the repeats, which differ in training, noise and reference images"

Images = npt.NDArray[np.uint8]


class FewSteps(Task):
    """Collects `n` images at each number of evaluations; compares each with as many reference images.

    Artifact: `images.npz` with `nfe_<number>` uint8 (n, C, H, W) for every number of the unit; of models with a
    velocity also `paths.npz` with `start`, `end` float32 (m, C, H, W) and `velocities` float32 (10, m, C, H, W) at the
    times 0, 0.1 ... 0.9 of a path that was followed in 100 Euler steps.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Fit once, sample at every number of evaluations, follow some paths."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        split = _fit_split(adapter, plan)
        adapter.fit(
            split.images.copy(),
            split.labels.copy(),
            seed=derived_seed(plan.seed, "fit"),
            device=ctx.device,
            budget_s=ctx.seconds_left,
        )
        seed, numbers = derived_seed(plan.seed, "sample"), evaluations(unit)
        arrays: dict[str, Images] = {}
        for done, nfe in enumerate(numbers):
            ctx.progress(done, len(numbers))
            arrays[_key(nfe)] = check_images(
                adapter.sample(plan.n, seed=seed, nfe=nfe), shape=plan.dataset.image_shape, n=plan.n
            ).copy()
        np.savez_compressed(ctx.artifact_dir / IMAGES_FILE, **arrays)  # type: ignore[arg-type]
        has_paths = callable(getattr(adapter, "velocity", None))
        if has_paths:
            paths = follow(adapter, int(unit.setting("paths")), plan.dataset.image_shape, seed, ctx.device)
            np.savez(ctx.artifact_dir / PATHS_FILE, **paths)  # type: ignore[arg-type]
        return {"n": plan.n, "fits_on": str(getattr(adapter, "fits_on", "fit")), "paths": has_paths}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`fit.npz`: the images a model may train on, with their labels."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        told = export(plan, folder)
        size = f"({plan.n}, {', '.join(map(str, plan.dataset.image_shape))})"
        keys = ", ".join(_key(nfe) for nfe in evaluations(unit))
        return {
            **told,
            "evaluations": list(evaluations(unit)),
            "output": {IMAGES_FILE: f"{keys}: uint8 {size}, sampled with that many evaluations, same seed"},
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Exactly `n` images of the right shape for every number of evaluations; paths that fit together."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        _read_images(artifact, plan, evaluations(unit))
        _straightness(artifact, plan)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Every metric at every number of evaluations; the task's own values are those with 4."""
        plan = image_unit(ctx.load_dataset(unit.dataset), unit)
        images = _read_images(artifact, plan, evaluations(unit))
        encoder = load_encoder(plan.encoders[0])
        scorer = _Scorer(plan, encoder, ctx, saw_held_out=artifact.notes.get("fits_on") == "hold")
        facets = {
            f"nfe={nfe}": scorer.measures(encoder.encode(made, device=ctx.device))
            for nfe, made in images.items()
        }
        write_sheet(
            np.concatenate([made[:_COLUMNS] for made in images.values()]),
            ctx.exhibit_dir / "steps.png",
            rows=len(images),
            columns=_COLUMNS,
        )
        caption = f"The same noise in a column, from above with {', '.join(map(str, images))} evaluations"
        return TaskOutput(
            metrics={**facets[f"nfe={FEW}"], "straightness": _straightness(artifact, plan)},
            facets=facets,
            flags=_flags(facets[f"nfe={max(images)}"]["memorisation_ratio"]),
            exhibits=(Exhibit(name="steps", kind="image", file="steps.png", caption=caption),),
            notes={
                "encoder": encoder.name,
                "encoder_sha256": encoder.weights_sha256,
                "n": plan.n,
                "n_capped_by": plan.cap,
                "fit_images": plan.fit_images,
                "k_chamfer": CHAMFER_K,
                "k_balls": BALL_K,
            },
        )


def _flags(memorisation: Measure) -> tuple[str, ...]:
    """The badge that images.fidelity gives, here for the largest number of evaluations."""
    is_copying = memorisation.value is not None and memorisation.value < COPYING_BELOW
    return ("copying",) if is_copying else ()


def evaluations(unit: Unit) -> tuple[int, ...]:
    """The numbers of evaluations of the setting `evaluations`, "1,2,4"; 4 is always among them."""
    return tuple(sorted({FEW, *(int(part) for part in str(unit.setting("evaluations")).split(","))}))


def follow(
    adapter: Any, count: int, shape: tuple[int, int, int], seed: int, device: str
) -> dict[str, npt.NDArray[np.float32]]:
    """Walk `count` paths from noise along the adapter's velocity, and note it at ten times."""
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(count, *shape, generator=generator).to(device)
    point, velocities = start, []
    for step in range(PATH_STEPS):
        speed = adapter.velocity(point, point.new_full((count,), step / PATH_STEPS))
        if not isinstance(speed, Tensor) or speed.shape != point.shape:
            came = tuple(speed.shape) if isinstance(speed, Tensor) else type(speed).__name__
            raise InvalidOutput(f"velocity must return a tensor like x, {tuple(point.shape)}, got {came}")
        if step % (PATH_STEPS // PATH_TIMES) == 0:
            velocities.append(speed.detach())
        point = point + speed.detach() / PATH_STEPS
    parts = {"start": start, "end": point, "velocities": torch.stack(velocities)}
    return {name: part.cpu().to(torch.float32).numpy() for name, part in parts.items()}


def _fit_split(adapter: Any, plan: ImageUnit) -> ImageSplit:
    fits_on = getattr(adapter, "fits_on", "fit")
    if fits_on not in ("fit", "hold") or not callable(getattr(adapter, "sample", None)):
        raise InvalidOutput(
            f"{type(adapter).__name__} must have sample(n, seed=..., nfe=...) and fit on 'fit', or on 'hold' if it "
            "is an oracle; derive it from bench.adapters.images.ImageGenerator"
        )
    return plan.fit_split() if fits_on == "fit" else plan.dataset.hold


def _key(nfe: int) -> str:
    return f"nfe_{nfe}"


def _read_images(artifact: Artifact, plan: ImageUnit, numbers: tuple[int, ...]) -> dict[int, Images]:
    arrays = load_npz(artifact.path(IMAGES_FILE), [_key(nfe) for nfe in numbers])
    found = {}
    for nfe in numbers:
        try:
            found[nfe] = check_images(arrays[_key(nfe)], shape=plan.dataset.image_shape, n=plan.n)
        except InvalidOutput as error:
            raise InvalidOutput(f"{IMAGES_FILE}[{_key(nfe)}]: {error}") from None
    return found


def _straightness(artifact: Artifact, plan: ImageUnit) -> Measure:
    if PATHS_FILE not in artifact.names():
        return Measure(value=None, reason="the model offers no velocity to follow")
    paths = load_npz(artifact.path(PATHS_FILE), ["start", "end", "velocities"])
    if any(part.dtype.kind != "f" for part in paths.values()):
        raise InvalidOutput(f"{PATHS_FILE}: start, end and velocities must be floats")
    if paths["start"].shape[1:] != plan.dataset.image_shape:
        raise InvalidOutput(
            f"{PATHS_FILE}: start must be (m, {', '.join(map(str, plan.dataset.image_shape))}), got "
            f"{paths['start'].shape}"
        )
    try:
        value = chord_straightness(**paths).value
    except ValueError as error:
        raise InvalidOutput(f"{PATHS_FILE}: {error}") from None
    if math.isnan(value):
        return Measure(value=None, reason="no path moves")
    return Measure(value=value, n=len(paths["start"]), reason=_PER_RUN)


class _Scorer:
    """Compares samples with the reference, training and held-out images of a unit."""

    def __init__(self, plan: ImageUnit, encoder: FeatureEncoder, ctx: Context, *, saw_held_out: bool) -> None:
        parts = (plan.dataset.ref.images, plan.fit_split().images, plan.dataset.hold.images)
        ref, self._train, hold = (
            torch.from_numpy(encode_cached(encoder, part, device=ctx.device, cache_dir=ctx.cache_dir)).to(
                ctx.device
            )
            for part in parts
        )
        self._real = ref[torch.from_numpy(plan.reference_rows).to(ref.device)]
        self._radii = training_radii(train=self._train)
        self._size = min(len(self._train), len(hold))
        self._held_out = hold[: self._size]
        self._saw_held_out = saw_held_out

    def measures(self, features: npt.NDArray[np.float32]) -> dict[str, Measure]:
        """Every metric of one set of samples, float32 (n, d)."""
        y = torch.from_numpy(features).to(self._real.device)
        found = neighbor_metrics(real=self._real, generated=y, ks=(CHAMFER_K,), ball_ks=(BALL_K,))
        chamfer, balls = found.chamfer[CHAMFER_K], found.precision_recall[BALL_K]
        values = {
            "chamfer_dev": bounded_deviation(chamfer),
            "r2g_ratio": chamfer.r2g_ratio,
            "g2r_ratio": chamfer.g2r_ratio,
            "fd": frechet_distance(real=self._real, generated=y).distance,
            "precision": balls.precision,
            "recall": balls.recall,
            "authenticity": authenticity(train=self._train, generated=y, radii=self._radii).share,
        }
        measures = {name: _measure(value, len(y)) for name, value in values.items()}
        return {**measures, "memorisation_ratio": self._memorisation(y)}

    def _memorisation(self, y: Tensor) -> Measure:
        if self._saw_held_out:
            return Measure(value=None, n=len(y), reason="the model was given the held-out images")
        if len(torch.unique(y, dim=0)) < _FEWEST_DISTINCT:
            return Measure(value=None, n=len(y), reason=f"fewer than {_FEWEST_DISTINCT} different images")
        found = memorisation_ratio(train=self._train[: self._size], held_out=self._held_out, generated=y)
        return _measure(found.ratio, len(y))


def _measure(value: float, n: int) -> Measure:
    if math.isnan(value):
        return Measure(value=None, n=n, reason=DEGENERATE)
    return Measure(value=value, n=n, reason=_PER_RUN)
