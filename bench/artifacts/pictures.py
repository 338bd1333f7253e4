"""Reading a folder of picture files into one array."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.artifacts.files import open_plain
from bench.artifacts.folders import MAX_FILES, regular_files
from bench.errors import InvalidOutput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_MODES = {1: "L", 3: "RGB"}
_SPARE_BYTES = 2**20  # what headers, colour profiles and comments may add to the pixels


def load_pictures(
    folder: Path, *, shape: tuple[int, int, int], max_files: int = MAX_FILES
) -> npt.NDArray[np.uint8]:
    """All pictures below `folder` as uint8 (n, C, H, W) with (C, H, W) = `shape`, ordered by path.

    PNG, JPEG and WebP, 8 bits a channel, gray (C = 1) or RGB (C = 3). Nothing is converted or resized. A
    picture is decoded only after its announced size has been found to be `shape`, so a small file cannot
    unpack to a large one. Raises `InvalidOutput` naming the first file that is not as it should be.
    """
    import numpy as np

    if shape[0] not in _MODES:
        raise InvalidOutput(f"pictures have 1 or 3 channels, not {shape[0]}; hand in an .npz file")
    paths = sorted(regular_files(folder, max_files), key=lambda p: p.relative_to(folder).as_posix())
    images = np.empty((len(paths), *shape), dtype=np.uint8)
    for index, path in enumerate(paths):
        images[index] = _read(path, f"{folder.name}/{path.relative_to(folder).as_posix()}", shape)
    return images


def _read(path: Path, label: str, shape: tuple[int, int, int]) -> npt.NDArray[np.uint8]:
    """One picture as uint8 `shape`."""
    import numpy as np
    from PIL import Image

    layout = FORMATS.get(path.suffix.lower())
    if layout is None:
        raise InvalidOutput(f"{label} is no picture; expected only {', '.join(FORMATS)}")
    channels, height, width = shape
    with open_plain(path, 2 * channels * height * width + _SPARE_BYTES, label) as file:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                with Image.open(file, formats=(layout,)) as picture:
                    _check_header(picture, label, shape)
                    pixels = np.asarray(picture, dtype=np.uint8)
        except InvalidOutput:
            raise
        except MemoryError:
            raise
        except Exception as error:  # Pillow's decoders raise nearly anything
            message = f"{label} can't be read as {layout}: {type(error).__name__}: {error}"
            raise InvalidOutput(message) from error
    return pixels.reshape(height, width, channels).transpose(2, 0, 1)


def _check_header(picture: Any, label: str, shape: tuple[int, int, int]) -> None:
    channels, height, width = shape
    if picture.size != (width, height):
        came = f"{picture.size[0]} x {picture.size[1]}"
        raise InvalidOutput(f"{label} is {came} pixels (width x height); expected {width} x {height}")
    if getattr(picture, "n_frames", 1) != 1:
        raise InvalidOutput(f"{label} is an animation; expected one picture a file")
    if picture.mode != _MODES[channels]:
        raise InvalidOutput(
            f"{label} has the mode {picture.mode!r}; expected {_MODES[channels]!r} (8 bits, {channels} channels)"
        )
