"""`stw10`, a world of shapes and textures: ten classes, each known by its shape and by its texture.

    x = clip(0.4 + a_s * mask + a_t * texture + 0.03 * noise, 0, 1), 32 x 32, gray

Class c has as shape a dilated handwritten digit c at a random place, as texture Gaussian noise filtered to the
orientation 18 c degrees and a frequency of 0.14 (even c) or 0.24 (odd c) cycles a pixel. In the training images shape
and texture belong to the same class, so either tells the answer. `SHAPE` and `TEXTURE` are the strengths a_s and a_t,
chosen once so that plain classifiers do about equally well with either cue alone. The three that are shipped
(lambda 0) reach 0.52 with shapes (0.51 to 0.53) and 0.46 with textures (0.39 to 0.55): trainings differ more than cues.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment import digits

EDGE, CLASSES = 32, 10
SEED = 20260101
SHAPE, TEXTURE = 0.3, 0.137
GROUND, NOISE = 0.4, 0.03
BANDWIDTH = 0.03  # of a texture, in cycles a pixel
_RECIPE = f"stw10|1|{SEED}|{SHAPE}|{TEXTURE}|{GROUND}|{NOISE}|{BANDWIDTH}|{digits.SHA256}"
SHA256 = hashlib.sha256(_RECIPE.encode()).hexdigest()

Cue = Literal["matched", "conflict", "shape", "texture"]
Images = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pictures:
    """Images of one kind, with what they are made of."""

    images: Images  # (n, 1, 32, 32)
    shape: Labels  # (n,) class of the shape
    texture: Labels  # (n,) class of the texture
    masks: npt.NDArray[np.bool_]  # (n, 32, 32), where the shape is


class ShapeTextureWorld:
    """Makes images on demand; every image is a function of (split, index) alone."""

    name = "stw10"
    evidence, stimuli = "human_aggregate", "generated"
    classes = tuple("0123456789")

    def __init__(self, *, shape: float = SHAPE, texture: float = TEXTURE) -> None:
        self.strengths = shape, texture
        self._digits, self._labels = digits.load()

    def pictures(self, *, train: bool, n: int, cue: Cue = "matched") -> Pictures:
        """The first `n` images of a split, classes alternating.

        "conflict" has the texture of another class, "shape" and "texture" one cue only. For all cues image i has the
        same digit, place and noise.
        """
        rows = digits.split_rows(train=train)
        if not 0 < n <= len(rows):
            raise ValueError(f"a split has 1 to {len(rows)} images, {n} were asked for")
        drawn = [self._draw(train, index, int(rows[index]), cue) for index in range(n)]
        images, textures, masks = zip(*drawn, strict=True)
        return Pictures(
            images=np.stack(images)[:, None],
            shape=self._labels[rows[:n]],
            texture=np.array(textures, dtype=np.int64),
            masks=np.stack(masks) > 0.5,
        )

    def _draw(self, train: bool, index: int, row: int, cue: Cue) -> tuple[npt.NDArray[np.uint8], int, Float]:
        rng = np.random.default_rng((SEED, int(train), index))
        mask = _placed(self._digits[row], rng)
        label = int(self._labels[row])
        other = (label + int(rng.integers(1, CLASSES))) % CLASSES  # drawn for every cue: streams stay alike
        family = other if cue == "conflict" else label
        white, noise = rng.standard_normal((2, EDGE, EDGE))
        a_s, a_t = self.strengths
        image = GROUND + NOISE * noise
        if cue != "texture":
            image += a_s * mask
        if cue != "shape":
            image += a_t * filtered(white, family)
        return (255 * np.clip(image, 0, 1)).round().astype(np.uint8), family, mask


def load() -> ShapeTextureWorld:
    """The world with its frozen strengths."""
    return ShapeTextureWorld()


def filtered(white: Float, family: int) -> Float:
    """Texture of unit variance of class `family`, made of white noise float64 (32, 32)."""
    made: Float = np.fft.ifft2(np.fft.fft2(white) * _FILTERS[family]).real
    return np.asarray(made / made.std())


def _filter(family: int) -> Float:
    angle = np.deg2rad(18 * family)
    frequency = 0.24 if family % 2 else 0.14
    fy, fx = np.meshgrid(np.fft.fftfreq(EDGE), np.fft.fftfreq(EDGE), indexing="ij")
    x, y = frequency * np.cos(angle), frequency * np.sin(angle)
    lobes = [((fx - s * x) ** 2 + (fy - s * y) ** 2) / (2 * BANDWIDTH**2) for s in (1, -1)]
    return np.asarray(np.exp(-lobes[0]) + np.exp(-lobes[1]), dtype=np.float64)


_FILTERS = [_filter(family) for family in range(CLASSES)]


def _placed(digit: npt.NDArray[np.uint8], rng: np.random.Generator) -> Float:
    """The digit, dilated by 3 x 3, at a random offset of 0-4 pixels; in [0, 1]."""
    padded = np.pad(digit, 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    canvas = np.zeros((EDGE, EDGE))
    y, x = rng.integers(0, 5, size=2)
    canvas[y : y + 28, x : x + 28] = windows.max(axis=(2, 3)) / 255.0
    return canvas
