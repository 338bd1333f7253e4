"""`folder`: pictures of your own, from the folder named by BENCH_IMAGE_FOLDER.

PNG, JPEG or WebP files of one size and one mode, gray or RGB, at any depth. Folders directly below the chosen one
are classes; without any there is a single class. Half of the pictures are for fitting, a quarter each for reference
and hold-out.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets import cache
from bench.datasets.images.dataset import ImageDataset, ImageSplit
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VARIABLE = "BENCH_IMAGE_FOLDER"
SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp"})
MODES = {"L": 1, "RGB": 3}
FEWEST = 24  # a quarter of which has the six that nearest-neighbour metrics need


def chosen() -> Path | None:
    """The folder that BENCH_IMAGE_FOLDER names, or None."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser().resolve() if named else None


def locate() -> str | None:
    """None if there are enough pictures, else why not."""
    folder = chosen()
    if folder is None:
        return f"no folder of pictures is named; set {VARIABLE}"
    if not folder.is_dir():
        return f"{VARIABLE} names {folder}, which is no folder"
    found = len(pictures(folder))
    return None if found >= FEWEST else f"{folder} has {found} pictures; at least {FEWEST} are needed"


def load() -> ImageDataset:
    """The pictures in the order of `default_rng(0).permutation`, divided 2 : 1 : 1 into fit, ref and hold."""
    import numpy as np

    absence = locate()
    folder = chosen()
    if absence or folder is None:
        raise MissingRequirement(str(absence))
    paths = pictures(folder)
    names = [_class_of(path, folder) for path in paths]
    classes = tuple(sorted(set(names)))
    images = _read(paths, folder)
    labels = np.array([classes.index(name) for name in names], dtype=np.int64)
    order = np.random.default_rng(0).permutation(len(paths))
    quarter = len(paths) // 4
    roles = order[2 * quarter :], order[:quarter], order[quarter : 2 * quarter]
    fit, ref, hold = (ImageSplit(images[rows], labels[rows]) for rows in roles)
    return ImageDataset(name="folder", fit=fit, ref=ref, hold=hold, classes=classes)


def pictures(folder: Path) -> list[Path]:
    """The picture files below `folder`, ordered by their relative path; hidden ones and links are left out."""
    found = [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not path.is_symlink()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def content_sha256(folder: Path) -> str:
    """SHA-256 over names and bytes of the pictures: the identity of the data set.

    Kept in the cache for as long as names, sizes and times of change stay what they are.
    """
    paths = pictures(folder)
    states = [
        (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns) for path in paths
    ]
    listing = hashlib.sha256(json.dumps([str(folder), states]).encode()).hexdigest()
    record = cache.cache_folder() / "image-folders" / listing
    with suppress(OSError, ValueError):
        known = record.read_text(encoding="ascii")
        if len(known) == 64:
            return known
    digest = hashlib.sha256()
    for (name, size, _), path in zip(states, paths, strict=True):
        digest.update(json.dumps([name, size]).encode())
        digest.update(path.read_bytes())
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        part = record.with_name(f".{listing}.{secrets.token_hex(8)}.part")
        part.write_text(digest.hexdigest(), encoding="ascii")
        part.replace(record)
    return digest.hexdigest()


def _class_of(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).parts
    return parts[0] if len(parts) > 1 else "all"


def _read(paths: list[Path], folder: Path) -> npt.NDArray[np.uint8]:
    """uint8 (n, C, H, W); the first picture decides size and mode."""
    import numpy as np
    from PIL import Image

    rows: list[npt.NDArray[np.uint8]] = []
    first = ""
    for path in paths:
        name = path.relative_to(folder).as_posix()
        try:
            with Image.open(path) as picture:
                form = f"{picture.width} x {picture.height} {picture.mode}"
                first = first or form
                if picture.mode not in MODES or form != first:
                    raise MissingRequirement(
                        f"{folder}: {name} is {form}; all pictures must be L or RGB, and as the first one, {first}"
                    )
                pixels = np.asarray(picture, dtype=np.uint8)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise MissingRequirement(f"{folder}: {name} can't be read: {error}") from error
        rows.append(pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1))
    return np.stack(rows)
