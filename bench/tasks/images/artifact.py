"""What stands for a model when its images are scored, and what a model outside Python is given to work with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.adapters.image_files import read_npz_images
from bench.artifacts import load_npz, load_pictures
from bench.errors import InvalidOutput, MissingRequirement
from bench.metrics.images import GaussianStatistics, statistics_from_moments
from bench.spec import Artifact
from bench.tasks.images.contract import check_features, check_images
from bench.tasks.images.encoders import load_encoder
from bench.tasks.images.protocol import ImageUnit

IMAGES_FILE, FEATURES_FILE, MOMENTS_FILE = "images.npz", "features.npz", "statistics.npz"
IMAGES_FOLDER = "images"
_FORMS = f"{IMAGES_FILE} or {FEATURES_FILE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityArtifact:
    """The content of an artifact: images, uint8 (n, C, H, W), or float32 (n, d) features by encoder, or moments.

    Features are those of the default encoder and of whatever others were handed in.
    """

    images: npt.NDArray[np.uint8] | None = None
    features: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    moments: GaussianStatistics | None = None  # in the space of the default encoder


def read_artifact(artifact: Artifact, plan: ImageUnit, n: int | None = None) -> FidelityArtifact:
    """Read and check an artifact in any of its forms; `n=None` accepts any number from 1 on.

    Raises `InvalidOutput` naming the file and the cause.
    """
    names = artifact.names()
    forms = [form for form in (IMAGES_FILE, FEATURES_FILE, MOMENTS_FILE) if form in names]
    if any(name.startswith(f"{IMAGES_FOLDER}/") for name in names):
        forms.append(f"{IMAGES_FOLDER}/")
    if not forms:
        came = ", ".join(names[:10]) or "no file"
        raise InvalidOutput(
            f"the artifact needs {_FORMS}; it has {came} (a folder {IMAGES_FOLDER}/ of PNG, JPEG or WebP files "
            f"will do too, and of a model known by its moments only {MOMENTS_FILE})"
        )
    if len(forms) > 1:
        raise InvalidOutput(f"the artifact has both {forms[0]} and {forms[1]}; hand in one of them")
    if forms[0] == FEATURES_FILE:
        return FidelityArtifact(features=_features(artifact.path(FEATURES_FILE), plan, n))
    if forms[0] == MOMENTS_FILE:
        arrays = load_npz(artifact.path(MOMENTS_FILE), ["mu", "sigma"])
        return FidelityArtifact(moments=check_moments(arrays["mu"], arrays["sigma"], plan))
    return FidelityArtifact(images=_images(artifact.dir, forms[0], plan, n))


def check_moments(mean: Any, covariance: Any, plan: ImageUnit) -> GaussianStatistics:
    """Mean (d,) and covariance (d, d) in the space of the default encoder; else `InvalidOutput`."""
    name = plan.encoders[0]
    width = load_encoder(name).width(plan.dataset.image_shape)
    for part in (mean, covariance):
        if not isinstance(part, np.ndarray) or part.dtype.kind not in "fiu":
            raise InvalidOutput(f"{MOMENTS_FILE}: mu and sigma must be arrays of numbers")
    try:
        statistics = statistics_from_moments(mean=mean, covariance=covariance)
    except ValueError as error:
        raise InvalidOutput(f"{MOMENTS_FILE}: {error}") from None
    if len(statistics.mean) != width:
        raise InvalidOutput(
            f"{MOMENTS_FILE}: mu has {len(statistics.mean)} numbers; the encoder {name} of this data set has {width}"
        )
    return statistics


def export(plan: ImageUnit, folder: Path) -> dict[str, Any]:
    """Write `fit.npz` into `folder`; returns the fields of `unit.json`."""
    split = plan.fit_split()
    with (folder / "fit.npz").open("xb") as file:
        np.savez(file, images=split.images, labels=split.labels)
    shape = list(plan.dataset.image_shape)
    size = f"({plan.n}, {', '.join(map(str, shape))})"
    return {
        "n": plan.n,
        "image_shape": shape,
        "fit_images": len(split),
        "files": {"fit.npz": "images: uint8 (N, C, H, W), 0 is black; labels: whole numbers (N,)"},
        "output": {
            IMAGES_FILE: f"images: uint8 {size}",
            f"{IMAGES_FOLDER}/": f"or instead: {plan.n} PNG, JPEG or WebP files, 8 bits a channel, in order of name",
        },
    }


def _images(folder: Path, form: str, plan: ImageUnit, n: int | None) -> npt.NDArray[np.uint8]:
    shape = plan.dataset.image_shape
    if form == IMAGES_FILE:
        path = folder / IMAGES_FILE
        if load_npz(path, [], optional=["arr_0"]):  # as samplers of published models write it
            images: Any = read_npz_images(path, shape)
        else:
            images = load_npz(path, ["images"])["images"]
    else:
        images = load_pictures(folder / IMAGES_FOLDER, shape=shape)
    try:
        return check_images(images, shape=shape, n=n)
    except InvalidOutput as error:
        raise InvalidOutput(f"{form}: {error}") from None


def _features(path: Path, plan: ImageUnit, n: int | None) -> dict[str, npt.NDArray[np.float32]]:
    """By encoder: of the default one, and of those others that were handed in and can be compared here."""
    default, *others = plan.encoders
    dims = {}
    for name in plan.encoders:
        with suppress(MissingRequirement) if name in others else nullcontext():
            dims[name] = load_encoder(name).width(plan.dataset.image_shape)
    arrays = load_npz(path, [default], optional=list(dims)[1:])
    try:
        return {
            name: check_features(array, dim=dims[name], encoder=name, n=n) for name, array in arrays.items()
        }
    except InvalidOutput as error:
        raise InvalidOutput(f"{path.name}: {error}") from None
