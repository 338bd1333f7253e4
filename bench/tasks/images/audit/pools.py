"""The images of an audit: real ones in several roles and damaged ones, by name, drawn from the unit's seed.

Everything that can be made of feature vectors (dropped classes, copies, contraction, outliers) is made of those;
here is what has to be an image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.datasets.images import ImageDataset, ImageSplit, damage
from bench.errors import UsageError
from bench.spec import Context, Unit, derived_seed

Images = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]

DRAWS = 5  # of held-out images, each compared with reference images of its own
_FEWEST = 24  # k = 20 needs 21 samples of each set
STRANGERS = "digits"  # always there; shown to no other data set
#: Scenario -> (severities, damage of images at a severity).
DAMAGE: Mapping[str, tuple[tuple[float, ...], Callable[[Images, float, int], Images]]] = {
    "blur": ((0.4, 0.7, 1.0, 1.5, 2.5), lambda images, level, _: damage.blur(images, level)),
    "pixel_noise": ((0.02, 0.05, 0.1, 0.2, 0.4), damage.pixel_noise),
    "jpeg": ((50, 25, 12, 6, 2), lambda images, level, _: damage.jpeg(images, round(level))),
    "contrast": ((0.9, 0.75, 0.5, 0.3, 0.15), lambda images, level, _: damage.contrast(images, level)),
    "shift": ((1, 2, 3, 4, 6), lambda images, level, _: damage.shift(images, level)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditUnit:
    """A unit of the audit, worked out: the same for every encoder, and for collect and score.

    real: DRAWS n reference images, held: DRAWS n others, train: n that a model may have copied, reserve: up to n more
    of the class that is the last to be dropped.
    """

    dataset: ImageDataset
    n: int
    levels: int  # severities of each scenario
    seed: int
    real: ImageSplit
    held: ImageSplit
    train: ImageSplit
    reserve: ImageSplit
    order: tuple[int, ...]  # classes in the order in which they are dropped


def audit_unit(dataset: ImageDataset, unit: Unit) -> AuditUnit:
    """Draw the images of `unit`. Settings: `n` images a set, capped by the data; `levels` severities."""
    n = min(
        int(unit.setting("n")), unit.limit or 2**31, len(dataset.ref) // DRAWS, len(dataset.hold) // DRAWS
    )
    if n < _FEWEST:
        raise UsageError(f"the audit needs at least {_FEWEST} images a set, this unit has {n}")
    rng = np.random.default_rng(derived_seed(unit.seed, "images"))
    order = tuple(int(label) for label in rng.permutation(np.unique(dataset.hold.labels)))
    held, held_rest = _draw(dataset.hold, DRAWS * n, rng)
    train, train_rest = _draw(dataset.fit, n, rng)
    return AuditUnit(
        dataset=dataset,
        n=n,
        levels=int(unit.setting("levels")),
        seed=unit.seed,
        real=_draw(dataset.ref, DRAWS * n, rng)[0],
        held=held,
        train=train,
        reserve=_of_class(order[-1], n, held_rest, train_rest),
        order=order,
    )


def severities(levels: tuple[float, ...], count: int) -> tuple[float, ...]:
    """`count` of `levels`, evenly spread, the last one always among them."""
    count = min(count, len(levels))
    return tuple(levels[round((i + 1) * len(levels) / count) - 1] for i in range(count))


def pools(plan: AuditUnit, ctx: Context) -> dict[str, Images]:
    """Every image that has to be encoded, by the name of its set."""
    base = plan.held.images[: plan.n]
    found = {
        "real": plan.real.images,
        "held": plan.held.images,
        "train": plan.train.images,
        "reserve": plan.reserve.images,
        "strangers": strangers(plan, ctx),
        "midpoints": blends(plan),
        "mean": plan.train.images.mean(axis=0, keepdims=True).round().astype(np.uint8),
    }
    for name in DAMAGE:
        for index, images in enumerate(damaged(plan, name, base)):
            found[f"{name}-{index}"] = images
    return found


def sizes(plan: AuditUnit) -> dict[str, int]:
    """How many images each set has."""
    half = plan.n // 2
    found = {"real": len(plan.real), "held": len(plan.held), "train": plan.n, "reserve": len(plan.reserve)}
    found |= {"strangers": half, "midpoints": half, "mean": 1}
    return found | {
        f"{name}-{index}": plan.n
        for name, (levels, _) in DAMAGE.items()
        for index in range(len(severities(levels, plan.levels)))
    }


def damaged(plan: AuditUnit, name: str, images: Images) -> list[Images]:
    """`images` with the damage `name` at each severity."""
    levels, apply = DAMAGE[name]
    seed = derived_seed(plan.seed, name)
    return [apply(images, level, seed) for level in severities(levels, plan.levels)]


def blends(plan: AuditUnit) -> Images:
    """n / 2 mixtures of two held-out images that are in no first draw."""
    half = plan.n // 2
    others = plan.held.images[plan.n : plan.n + 2 * half]
    return damage.midpoints(others[:half], others[half:])


def strangers(plan: AuditUnit, ctx: Context) -> Images:
    """n / 2 images of another kind: digits brought to size; among digits, negatives of held-out ones."""
    count = plan.n // 2
    if plan.dataset.name == STRANGERS:
        return 255 - plan.held.images[plan.n : plan.n + count]
    other: ImageDataset = ctx.load_dataset(STRANGERS)
    images = np.concatenate([other.hold.images, other.ref.images])[:count]
    return damage.resized(images, plan.dataset.image_shape)


def _draw(split: ImageSplit, count: int, rng: np.random.Generator) -> tuple[ImageSplit, ImageSplit]:
    """`count` random images, and the rest."""
    rows = rng.permutation(len(split))
    return _rows(split, rows[:count]), _rows(split, rows[count:])


def _rows(split: ImageSplit, rows: npt.NDArray[np.int64]) -> ImageSplit:
    return ImageSplit(split.images[rows], split.labels[rows])


def _of_class(label: int, count: int, *splits: ImageSplit) -> ImageSplit:
    parts = [_rows(split, np.flatnonzero(split.labels == label)) for split in splits]
    images, labels = (np.concatenate([getattr(p, a) for p in parts])[:count] for a in ("images", "labels"))
    return ImageSplit(images, labels)
