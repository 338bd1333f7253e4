"""Sheets of sample images for people to look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

_GAP = 2  # pixels between tiles, before magnification
_TILE = 64  # tiles are magnified by whole factors until they reach about this edge
_GROUND = 128


def write_sheet(images: npt.NDArray[np.uint8], path: Path, *, rows: int = 8, columns: int = 8) -> None:
    """Write the first rows x columns of `images` (uint8 (n, C, H, W), n >= 1) as a PNG grid.

    Small images are magnified by repeating pixels, never smoothed; missing tiles stay gray.
    """
    sheet = np.kron(_grid(images, rows, columns), _magnifier(images)).astype(np.uint8)
    picture = Image.fromarray(sheet[..., 0] if sheet.shape[2] == 1 else sheet)
    picture.save(path, format="PNG", optimize=True)


def _grid(images: npt.NDArray[np.uint8], rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """The tiles on gray ground, uint8 (height, width, C)."""
    _, channels, height, width = images.shape
    step_y, step_x = height + _GAP, width + _GAP
    grid = np.full((rows * step_y - _GAP, columns * step_x - _GAP, channels), _GROUND, dtype=np.uint8)
    for index, image in enumerate(images[: rows * columns]):
        y, x = index // columns * step_y, index % columns * step_x
        grid[y : y + height, x : x + width] = image.transpose(1, 2, 0)
    return grid


def _magnifier(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    factor = max(1, round(_TILE / max(images.shape[2:])))
    return np.ones((factor, factor, 1), dtype=np.uint8)
