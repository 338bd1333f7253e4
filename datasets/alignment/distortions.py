"""`distortion-pairs`: natural patches, each distorted mildly and harshly with the same RMS error.

Of two images that differ from a patch by the same error, people find the mildly distorted one (brighter, stretched in
contrast, moved, other gamma) more alike than the harshly distorted one (noise, blur, blocks, salt and pepper). That is
an ordering known of people, not their answers to these images. Source: Z. Wang et al. (2004), Image quality assessment:
from error visibility to structural similarity.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.datasets import packaged
from bench.datasets.alignment.manipulations import blurred
from bench.errors import MissingRequirement

EDGE, PATCHES, SEED = 64, 60, 20260101
SEVERITIES = tuple(2 * k / 255 for k in range(1, 9))  # RMS errors
PAIRED = (1, 3, 5, 7)  # the severities at which mild meets harsh: 4, 8, 12 and 16 of 255
MILD = ("luminance", "contrast", "shift", "gamma")
HARSH = ("noise", "blur", "blocks", "salt")
FAMILIES = MILD + HARSH
TOLERANCE = 0.1 / 255
PHOTOGRAPHS = {
    "datasets/images/china.jpg": "8378025ad2519d649d02e32bd98990db4ab572357d9f09841c2fbfbb4fefad29",
    "datasets/images/flower.jpg": "a77f6ec41e353afdf8bdff2ea981b2955535d8d83294f8cfa49cf4e423dd5638",
}
SHA256 = hashlib.sha256(f"distortion-pairs|1|{SEED}|{sorted(PHOTOGRAPHS.items())}".encode()).hexdigest()
_MARGIN = 8  # pixels around a patch, into which it may be moved
_LEAST_DETAIL = 0.09  # RMS within blocks of 8 x 8; without detail no blur reaches the largest error
_PACKAGE = ("sklearn", "scikit-learn")

Float = npt.NDArray[np.float64]
Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distorted:
    """References uint8 (n, 3, 64, 64), distorted images (n, families, severities, 3, 64, 64), and the errors made."""

    references: Images
    distorted: Images
    errors: Float  # (n, families, severities), RMS in [0, 1] before rounding to whole gray levels


class DistortionPairs:
    """Cuts and distorts patches on demand."""

    name = "distortion-pairs"
    evidence, stimuli = "human_aggregate", "generated"

    def distorted(self, n: int = PATCHES) -> Distorted:
        """The first `n` patches with all distortions."""
        wide = _patches()[:n]
        clean = _inner(wide)
        images = np.empty((n, len(FAMILIES), len(SEVERITIES), EDGE, EDGE, 3), dtype=np.uint8)
        errors = np.empty(images.shape[:3])
        for i, name in enumerate(FAMILIES):
            for j, target in enumerate(SEVERITIES):
                made = _at_error(_MAKERS[name], wide, clean, target, name)
                errors[:, i, j] = _rms(made, clean)
                images[:, i, j] = _bytes(made)
        return Distorted(
            references=_bytes(clean).transpose(0, 3, 1, 2),
            distorted=images.transpose(0, 1, 2, 5, 3, 4),
            errors=errors,
        )


def locate() -> str | None:
    """None if the photographs are there, else the reason and the remedy."""
    faults = (packaged.absence(_PACKAGE[0], file, _PACKAGE[1]) for file in PHOTOGRAPHS)
    return next((fault for fault in faults if fault), None)


def load() -> DistortionPairs:
    """The patches of the two photographs of scikit-learn (china.jpg, flower.jpg; CC BY)."""
    return DistortionPairs()


def _patches() -> Float:
    """Float64 (60, 80, 80, 3): patches with enough detail and no extreme brightness, in random order."""
    rng = np.random.default_rng(SEED)
    found: list[Float] = []
    photographs = [_photograph(*item) for item in PHOTOGRAPHS.items()]
    size = EDGE + 2 * _MARGIN
    while len(found) < PATCHES:
        photo = photographs[len(found) % len(photographs)]
        y, x = (int(rng.integers(0, extent - size + 1)) for extent in photo.shape[:2])
        patch = photo[y : y + size, x : x + size]
        inner = patch[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN]
        if 0.25 < inner.mean() < 0.75 and _rms(inner[None], _block_means(inner[None]))[0] > _LEAST_DETAIL:
            found.append(patch)
    return np.stack(found)


def _photograph(file: str, sha256: str) -> Float:
    from PIL import Image

    path = packaged.path(_PACKAGE[0], file, _PACKAGE[1])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != sha256:
        raise MissingRequirement(f"{path} has SHA-256 {digest}, expected {sha256}; reinstall scikit-learn")
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.float64) / 255


def _inner(wide: Float) -> Float:
    return wide[:, _MARGIN:-_MARGIN, _MARGIN:-_MARGIN]


def _bytes(images: Float) -> Images:
    return (255 * images).round().astype(np.uint8)


def _rms(a: Float, b: Float) -> Float:
    return np.asarray(np.sqrt(((a - b) ** 2).mean(axis=(1, 2, 3))))


Maker = Callable[
    [Float, Float, np.random.Generator], Float
]  # (wide patches, strength in [0, 1] of each) -> images


def _at_error(make: Maker, wide: Float, clean: Float, target: float, name: str) -> Float:
    """Images whose RMS error is `target` within the tolerance, by search for each patch's strength.

    False position alternates with bisection: errors are nearly linear in most strengths, but not in all.
    """
    low, high = np.zeros(len(wide)), np.ones(len(wide))
    least, most = np.zeros(len(wide)), _rms(_made(make, wide, high, name), clean)
    for step in range(40):
        share = np.clip((target - least) / np.maximum(most - least, 1e-12), 0.02, 0.98)
        strength = low + (share if step % 3 < 2 else 0.5) * (high - low)
        made = _made(make, wide, strength, name)
        error = _rms(made, clean)
        if (np.abs(error - target) < TOLERANCE).all():
            return made
        below = error < target
        low, least = np.where(below, strength, low), np.where(below, error, least)
        high, most = np.where(below, high, strength), np.where(below, most, error)
    worst = int(np.abs(error - target).argmax())
    raise RuntimeError(f"{name}: patch {worst} reaches an RMS error of {error[worst]:.4f}, not {target:.4f}")


def _made(make: Maker, wide: Float, strength: Float, name: str) -> Float:
    return np.clip(make(wide, strength[:, None, None, None], _stream(name)), 0, 1)


def _stream(name: str) -> np.random.Generator:
    return np.random.default_rng((SEED, zlib.crc32(name.encode())))


def _luminance(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    return _inner(wide) + 0.2 * t


def _contrast(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    x = _inner(wide)
    middle = x.mean(axis=(1, 2, 3), keepdims=True)
    return np.asarray(middle + (1 + t) * (x - middle))


def _shift(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    """Moved to the right and down by up to 4 pixels, with linear interpolation."""
    distance = 4 * t
    whole, part = np.floor(distance).astype(int), distance - np.floor(distance)

    def moved(by: npt.NDArray[np.int64]) -> Float:
        starts = _MARGIN - by.ravel()
        return np.stack([p[s : s + EDGE, s : s + EDGE] for p, s in zip(wide, starts, strict=True)])

    return np.asarray((1 - part) * moved(whole) + part * moved(whole + 1))


def _gamma(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    return np.asarray(_inner(wide) ** np.exp(t))


def _noise(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    x = _inner(wide)
    return np.asarray(x + 0.2 * t * rng.standard_normal(x.shape))


def _blur(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    x = _inner(wide).transpose(0, 3, 1, 2)
    return np.stack([blurred(p, 16 * s**2) for p, s in zip(x, t.ravel(), strict=True)]).transpose(0, 2, 3, 1)


def _blocks(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    """Every block of 8 x 8 drawn towards its mean, as when few coefficients of it are kept."""
    x = _inner(wide)
    return np.asarray(x + t * (_block_means(x) - x))


def _block_means(x: Float) -> Float:
    blocks = x.reshape(len(x), EDGE // 8, 8, EDGE // 8, 8, 3).mean(axis=(2, 4), keepdims=True)
    return np.broadcast_to(blocks, (len(x), EDGE // 8, 8, EDGE // 8, 8, 3)).reshape(x.shape)


def _salt(wide: Float, t: Float, rng: np.random.Generator) -> Float:
    """A twentieth of the pixels drawn towards black or white."""
    x = _inner(wide)
    chosen = rng.random((*x.shape[:3], 1)) < 0.05
    ends = (rng.random((*x.shape[:3], 1)) < 0.5).astype(np.float64)
    return np.where(chosen, x + t * (ends - x), x)


_MAKERS: dict[str, Maker] = {
    "luminance": _luminance, "contrast": _contrast, "shift": _shift, "gamma": _gamma,
    "noise": _noise, "blur": _blur, "blocks": _blocks, "salt": _salt,
}  # fmt: skip
