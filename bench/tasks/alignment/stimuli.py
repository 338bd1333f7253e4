"""What the tasks show: rendered once, kept between jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment import distortions, manipulations, mixture, stw, surfaces
from bench.datasets.alignment.published import ACCURACY
from bench.spec import Context, Unit
from bench.tasks.caching import cached_array

Labels = npt.NDArray[np.int64]
Images = npt.NDArray[Any]
Cue = stw.Cue
_CUES: tuple[Cue, ...] = ("matched", "conflict", "shape", "texture")
MANIPULATION_SEED = 20260101


def amount(unit: Unit, name: str) -> int:
    """How many items a setting asks for, at most the run's limit."""
    wanted = int(unit.setting(name))
    return wanted if unit.limit is None else max(1, min(wanted, unit.limit))


def kept(ctx: Context, name: str, compute: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """`compute()`, or what an earlier job of this half kept under the same name."""
    return cached_array(ctx.cache_dir / "alignment" / f"{name}.npy", compute, fits=lambda a: a.size > 0)


def stw_pictures(
    world: stw.ShapeTextureWorld, ctx: Context, *, train: bool, n: int, cue: Cue = "matched"
) -> stw.Pictures:
    """As `world.pictures`, from the cache if it is there: pixels, mask and classes of an image are one row of bytes."""

    def compute() -> npt.NDArray[np.uint8]:
        made = world.pictures(train=train, n=n, cue=cue)
        parts = [
            made.images.reshape(n, -1),
            made.masks.reshape(n, -1),
            made.shape[:, None],
            made.texture[:, None],
        ]
        return np.concatenate([part.astype(np.uint8) for part in parts], axis=1)

    rows = kept(ctx, f"stw-{stw.SHA256[:12]}-{'train' if train else 'test'}-{cue}-{n}", compute)
    size = stw.EDGE * stw.EDGE
    return stw.Pictures(
        images=rows[:, :size].reshape(n, 1, stw.EDGE, stw.EDGE),
        masks=rows[:, size : 2 * size].reshape(n, stw.EDGE, stw.EDGE).astype(bool),
        shape=rows[:, -2].astype(np.int64),
        texture=rows[:, -1].astype(np.int64),
    )


def distorted(pairs: distortions.DistortionPairs, ctx: Context, n: int) -> tuple[Images, Images]:
    """References (n, 3, 64, 64) and distorted images (n, families, severities, 3, 64, 64)."""

    def compute() -> npt.NDArray[np.uint8]:
        made = pairs.distorted(n)
        return np.concatenate(
            [made.references[:, None], made.distorted.reshape(n, -1, *made.references.shape[1:])], 1
        )

    packed = kept(ctx, f"distortions-{distortions.SHA256[:12]}-{n}", compute)
    shape = (n, len(distortions.FAMILIES), len(distortions.SEVERITIES), *packed.shape[2:])
    return packed[:, 0], packed[:, 1:].reshape(shape)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GlossSet:
    """Renders to learn from, to test on, and the bump series."""

    train: Images
    test: Images
    series: Images  # scenes x levels in turn

    @staticmethod
    def glossy(n: int) -> npt.NDArray[np.bool_]:
        """Matte and glossy take turns in the sets of two kinds."""
        return np.asarray(np.arange(n) % 2 == 1)


def gloss_set(world: surfaces.BumpySurfaces, ctx: Context, *, train: int, test: int, scenes: int) -> GlossSet:
    """All renders of the gloss task."""
    tag = surfaces.SHA256[:12]
    return GlossSet(
        train=kept(ctx, f"gloss-{tag}-train-{train}", lambda: world.two_kinds(train, train=True).images),
        test=kept(ctx, f"gloss-{tag}-test-{test}", lambda: world.two_kinds(test, train=False).images),
        series=kept(ctx, f"gloss-{tag}-series-{scenes}", lambda: world.bump_series(scenes).images),
    )


def noisy_digits(world: mixture.NoisyDigits, ctx: Context, *, n: int, train: bool) -> tuple[Images, Images]:
    """Images float32 (n, 1, 32, 32) of the mixture, and the posterior float64 (n, 10) of each."""

    def compute() -> npt.NDArray[np.float64]:
        made = world.samples(n, train=train)
        return np.concatenate([made.images.reshape(n, -1).astype(np.float64), made.posterior], axis=1)

    packed = kept(ctx, f"mixture-{mixture.SHA256[:12]}-{'train' if train else 'test'}-{n}", compute)
    size = mixture.EDGE * mixture.EDGE
    return packed[:, :size].reshape(n, 1, mixture.EDGE, mixture.EDGE).astype(np.float32), packed[:, size:]


def manipulated(pictures: stw.Pictures, ctx: Context) -> Images:
    """float32 (conditions * n, 1, 32, 32): the same images under every condition, one condition after another."""
    n = len(pictures.images)

    def compute() -> npt.NDArray[np.float32]:
        clean = pictures.images[:, 0] / 255.0
        made = [
            manipulations.manipulated(clean, name, level, seed=MANIPULATION_SEED)
            for name, level in manipulations.conditions()
        ]
        return np.concatenate(made)[:, None].astype(np.float32)

    return kept(ctx, f"manipulated-{stw.SHA256[:12]}-{n}", compute)


def human_accuracies() -> list[float]:
    """Accuracy of people under each condition, in the order of `manipulated`."""
    return [accuracy for levels in ACCURACY.values() for accuracy in levels.values()]
