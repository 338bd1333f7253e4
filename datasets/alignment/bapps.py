"""`bapps`: triplets of photographs and what people said is nearer, the validation set of BAPPS.

Each triplet is a reference and two distorted versions, 64 x 64, with the share of five people who found the second one
nearer. Six kinds of distortion, 36,344 triplets; the archive of the authors is read without being unpacked.
"""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets import cache
from bench.datasets.alignment import sources
from bench.errors import MissingRequirement

KINDS = ("cnn", "color", "deblur", "frameinterp", "superres", "traditional")
FILE = cache.RemoteFile(
    name="twoafc_val.tar",
    group=sources.GROUP,
    url="https://perceptual-similarity.s3.us-west-2.amazonaws.com/dataset/twoafc_val.tar.gz",
    sha256="",
    size=3_000_000_000,
)
_PARTS = ("ref", "p0", "p1", "judge")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Triplets:
    """Images uint8 (n, 3, 64, 64), the share of people (n,) for image 1, and the kind of distortion of each."""

    references: npt.NDArray[np.uint8]
    first: npt.NDArray[np.uint8]
    second: npt.NDArray[np.uint8]
    chose_1: npt.NDArray[np.float64]
    kinds: tuple[str, ...]


class Bapps:
    """Reads as many triplets as are asked for."""

    name = "bapps"
    evidence, stimuli = "human_trials", "original"

    @functools.lru_cache(maxsize=1)  # noqa: B019 - one object per process
    def triplets(self, n: int) -> Triplets:
        """`n` triplets at most, the first of each kind in equal numbers."""
        per_kind = -(-n // len(KINDS))
        found: dict[tuple[str, int], dict[str, bytes]] = {}
        for path, content in sources.members(FILE, *(f"/{part}/" for part in _PARTS)):
            place = PurePosixPath(path)
            kind, part = place.parts[-3:-1]
            if kind in KINDS and place.stem.isdigit() and int(place.stem) < per_kind:
                found.setdefault((kind, int(place.stem)), {})[part] = content
        keys = sorted(
            (key for key, parts in found.items() if len(parts) == len(_PARTS)), key=lambda k: (k[1], k[0])
        )
        if not keys:
            raise MissingRequirement(f"{FILE.name} holds no triplets of {', '.join(KINDS)}; replace it")
        chosen = [found[key] for key in keys[:n]]
        return Triplets(
            references=_pictures(chosen, "ref"),
            first=_pictures(chosen, "p0"),
            second=_pictures(chosen, "p1"),
            chose_1=np.array([_share(parts["judge"]) for parts in chosen]),
            kinds=tuple(kind for kind, _ in keys[:n]),
        )


def locate() -> str | None:
    """None if the archive can be had, else why not."""
    return sources.locate((FILE,))


def load() -> Bapps:
    """The validation set. Source: R. Zhang et al. (2018), The unreasonable effectiveness of deep features."""
    return Bapps()


def _share(content: bytes) -> float:
    value = float(np.load(io.BytesIO(content), allow_pickle=False).ravel()[0])
    if not 0 <= value <= 1:
        raise MissingRequirement(f"{FILE.name}: an answer of people is {value}, not from 0 to 1; replace it")
    return value


def _pictures(triplets: list[dict[str, bytes]], part: str) -> Any:
    from PIL import Image

    decoded = []
    for parts in triplets:
        with Image.open(io.BytesIO(parts[part])) as picture:
            decoded.append(np.asarray(picture.convert("RGB")))
    return np.ascontiguousarray(np.stack(decoded).transpose(0, 3, 1, 2))
