"""Sample sheets: every image at its place, magnified without smoothing."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench.tasks.images.sheets import write_sheet


@pytest.mark.parametrize(("channels", "edge", "factor"), [(1, 8, 8), (1, 28, 2), (3, 32, 2), (3, 100, 1)])
def test_every_tile_is_its_image(tmp_path: Path, channels: int, edge: int, factor: int) -> None:
    images = np.random.default_rng(0).integers(0, 256, (64, channels, edge, edge), dtype=np.uint8)
    write_sheet(images, tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as picture:
        assert picture.mode == ("L" if channels == 1 else "RGB")
        sheet = np.asarray(picture).reshape(picture.height, picture.width, channels)
    for tile in (0, 7, 8, 63):
        row, column = (place * (edge + 2) * factor for place in divmod(tile, 8))
        shown = sheet[row : row + edge * factor, column : column + edge * factor]
        enlarged = images[tile].transpose(1, 2, 0).repeat(factor, 0).repeat(factor, 1)
        assert np.array_equal(shown, enlarged)


def test_missing_tiles_stay_gray(tmp_path: Path) -> None:
    write_sheet(np.zeros((3, 1, 8, 8), np.uint8), tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as picture:
        sheet = np.asarray(picture)
    assert (sheet[:64, :64] == 0).all()
    assert (sheet[100:] == 128).all()
