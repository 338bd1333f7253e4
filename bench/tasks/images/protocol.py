"""What is fixed about a unit before any model is seen: sizes, seeds, reference images, encoders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.datasets.images import ImageDataset, ImageSplit
from bench.errors import UsageError
from bench.spec import Size, Unit, derived_seed

# The first encoder of a data set is its default; the others appear as facets.
ENCODERS_OF = {
    "digits": ("pixels",),
    "mnist5k": ("mnist-cnn", "pixels"),
    "fashion": ("fashion-cnn", "pixels"),
}
OTHER_DATASETS = ("efflite0-64", "pixels")
# More facets at size `full`, where they can be used. At smaller sizes a second network would cost more than models
# and metrics together: 2 s for 1,000 images and as much again for its 1,280 features, with every model and repeat.
FULL_ENCODERS = ("efflite0-64", "inception-fid", "dinov2-vitl14", "clip-vitl14-336")
MIN_IMAGES = 6  # the fifth nearest other image needs six


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUnit:
    """A unit of an image task, worked out; equal for collect and score and for every model."""

    dataset: ImageDataset
    encoders: tuple[str, ...]  # wanted, the default first; see `encoders.usable`
    n: int  # images asked of the model, and reference images they are compared with
    cap: str  # why n is less than the protocol asks for; "" if it is not
    fit_images: int  # a model gets this prefix of `fit`
    reference_rows: npt.NDArray[np.int64]
    seed: int

    def fit_split(self) -> ImageSplit:
        """The images a model may train on."""
        fit = self.dataset.fit
        return ImageSplit(fit.images[: self.fit_images], fit.labels[: self.fit_images])

    def reference_images(self) -> npt.NDArray[np.uint8]:
        """The `n` reference images of this unit."""
        return self.dataset.ref.images[self.reference_rows]


def encoders_of(dataset: str, size: Size) -> tuple[str, ...]:
    """Names of the encoders wanted, the default first; those but the default may turn out not to be usable."""
    wanted = ENCODERS_OF.get(dataset, OTHER_DATASETS)
    return tuple(dict.fromkeys((*wanted, *FULL_ENCODERS))) if size == "full" else wanted


def image_unit(dataset: ImageDataset, unit: Unit) -> ImageUnit:
    """Work out `unit`. Settings: `n` images, `fit` training images (capped by the data)."""
    wanted = int(unit.setting("n"))
    caps = {
        f"ref has {len(dataset.ref)} images": len(dataset.ref),
        f"hold has {len(dataset.hold)} images": len(dataset.hold),
    }
    if unit.limit is not None:
        caps[f"--limit {unit.limit}"] = unit.limit
    cap, lowest = min(caps.items(), key=lambda item: item[1])
    n = min(wanted, lowest)
    if n < MIN_IMAGES:
        raise UsageError(f"image metrics need at least {MIN_IMAGES} images, this unit has {n} ({cap})")
    rng = np.random.default_rng(derived_seed(unit.seed, "reference"))
    return ImageUnit(
        dataset=dataset,
        encoders=encoders_of(dataset.name, unit.size),
        n=n,
        cap=cap if n < wanted else "",
        fit_images=min(int(unit.setting("fit")), len(dataset.fit)),
        reference_rows=np.sort(rng.choice(len(dataset.ref), size=n, replace=False)),
        seed=unit.seed,
    )
