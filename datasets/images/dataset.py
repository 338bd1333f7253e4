"""The type every image data set is loaded into.

Nothing heavy is imported here: presence checks (`locate`) of the loaders run while listing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Role = Literal["fit", "ref", "hold"]
ROLES: tuple[Role, ...] = ("fit", "ref", "hold")


@dataclass(frozen=True, slots=True, eq=False)
class ImageSplit:
    """Images uint8 (N, C, H, W), C in {1, 3}, and their classes int64 (N,)."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        shape, dtype = self.images.shape, self.images.dtype
        if dtype != "uint8" or len(shape) != 4 or shape[1] not in (1, 3):
            raise ValueError(f"images must be uint8 (N, C, H, W) with C 1 or 3, got {dtype} {shape}")
        if self.labels.dtype != "int64" or self.labels.shape != shape[:1]:
            raise ValueError(
                f"labels must be int64 ({shape[0]},), got {self.labels.dtype} {self.labels.shape}"
            )
        for array in (self.images, self.labels):
            array.flags.writeable = False

    def __len__(self) -> int:
        return int(self.images.shape[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImageDataset:
    """Real images in three disjoint roles, in a fixed random order; the arrays are read-only.

    A prefix of a role is therefore a random subset of it. Gray values span 0 (black) to 255 (white)
    whatever the origin's range was.
    """

    name: str
    fit: ImageSplit  # models may train on it
    ref: ImageSplit  # reference of all quality metrics
    hold: ImageSplit  # a second real sample: upper bound and noise floor
    classes: tuple[str, ...]  # name of class i

    def split(self, role: Role) -> ImageSplit:
        """The images of one role."""
        splits: dict[Role, ImageSplit] = {"fit": self.fit, "ref": self.ref, "hold": self.hold}
        return splits[role]

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """(C, H, W) of every image."""
        _, c, h, w = self.fit.images.shape
        return c, h, w


def content_sha256(dataset: ImageDataset) -> str:
    """SHA-256 over shape, pixels and labels of the three roles in order: the identity of a data set."""
    digest = hashlib.sha256()
    for role in ROLES:
        split = dataset.split(role)
        digest.update(f"{role}{split.images.shape}".encode())
        digest.update(split.images.tobytes())
        digest.update(split.labels.astype("<i8").tobytes())
    return digest.hexdigest()


def verified(dataset: ImageDataset, sha256: str) -> ImageDataset:
    """Return `dataset` if its content is the one its card promises."""
    found = content_sha256(dataset)
    if found != sha256:
        raise MissingRequirement(
            f"data set {dataset.name!r} has content {found}, expected {sha256}: the installed copy is "
            "another version or damaged; reinstall the package that carries it"
        )
    return dataset
