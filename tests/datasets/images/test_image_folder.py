"""A folder of the user's own pictures as a data set."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench.datasets.images import folder
from bench.errors import MissingRequirement

SUFFIX = ("png", "jpg", "webp")


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """30 gray pictures, 12 x 10, in the classes cat and dog; picture i has the gray value 8 i, nearly."""
    root = tmp_path / "pictures"
    for index in range(30):
        home = root / ("cat" if index < 15 else "dog") / "deep"
        home.mkdir(parents=True, exist_ok=True)
        flat = np.full((10, 12), 8 * index, np.uint8)
        Image.fromarray(flat).save(home / f"{index:02}.{SUFFIX[index % 3]}", lossless=True)
    monkeypatch.setenv("BENCH_IMAGE_FOLDER", str(root))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    return root


def value(image: np.ndarray) -> int:
    return round(float(image.mean()) / 8)


def convert_webp(root: Path) -> None:
    """WebP has no gray mode; the fixture's WebP files would be RGB."""
    for path in root.rglob("*.webp"):
        with Image.open(path) as picture:
            picture.convert("L").save(path.with_suffix(".png"))
        path.unlink()


def test_pictures_are_divided_and_labelled(pictures: Path) -> None:
    convert_webp(pictures)
    assert folder.locate() is None
    dataset = folder.load()
    assert (len(dataset.fit), len(dataset.ref), len(dataset.hold)) == (16, 7, 7)
    assert dataset.image_shape == (1, 10, 12)
    assert dataset.classes == ("cat", "dog")
    seen = set()
    for split in (dataset.fit, dataset.ref, dataset.hold):
        for image, label in zip(split.images, split.labels, strict=True):
            assert label == (value(image) >= 15)
            seen.add(value(image))
    assert seen == set(range(30))
    again = folder.load()
    assert np.array_equal(again.fit.images, dataset.fit.images)


def test_pictures_without_classes_are_one_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for index in range(24):
        Image.fromarray(rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)).save(tmp_path / f"{index}.png")
    monkeypatch.setenv("BENCH_IMAGE_FOLDER", str(tmp_path))
    dataset = folder.load()
    assert dataset.classes == ("all",)
    assert dataset.image_shape == (3, 4, 5)


def test_mixed_modes_are_refused_by_name(pictures: Path) -> None:
    with pytest.raises(
        MissingRequirement, match=r"cat/deep/02.webp is 12 x 10 RGB; .* as the first one, 12 x 10 L"
    ):
        folder.load()


def test_another_size_is_refused_by_name(pictures: Path) -> None:
    convert_webp(pictures)
    Image.fromarray(np.zeros((9, 12), np.uint8)).save(pictures / "cat" / "zz.png")
    with pytest.raises(MissingRequirement, match=r"cat/zz.png is 12 x 9 L"):
        folder.load()


def test_damaged_pictures_are_refused_by_name(pictures: Path) -> None:
    convert_webp(pictures)
    (pictures / "cat" / "deep" / "00.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    with pytest.raises(MissingRequirement, match=r"cat/deep/00.png can't be read"):
        folder.load()


def test_hidden_files_and_links_are_left_out(pictures: Path) -> None:
    (pictures / ".thumbnails").mkdir()
    Image.fromarray(np.zeros((1, 1), np.uint8)).save(pictures / ".thumbnails" / "a.png")
    (pictures / "link.png").symlink_to(pictures / "cat" / "deep" / "00.png")
    (pictures / "notes.txt").write_text("no picture")
    assert len(folder.pictures(pictures)) == 30


@pytest.mark.parametrize(("named", "message"), [(None, "set BENCH_IMAGE_FOLDER"), ("absent", "is no folder")])
def test_absence_is_explained(
    named: str | None, message: str, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if named is None:
        monkeypatch.delenv("BENCH_IMAGE_FOLDER")
    else:
        monkeypatch.setenv("BENCH_IMAGE_FOLDER", str(pictures / named))
    assert message in str(folder.locate())
    with pytest.raises(MissingRequirement, match=message):
        folder.load()


def test_too_few_pictures_are_explained(pictures: Path) -> None:
    for path in list(pictures.rglob("*.*"))[:10]:
        path.unlink()
    assert "has 20 pictures; at least 24 are needed" in str(folder.locate())


def test_identity_follows_names_and_bytes(pictures: Path, tmp_path: Path) -> None:
    first = folder.content_sha256(pictures)
    assert folder.content_sha256(pictures) == first
    path = pictures / "cat" / "deep" / "00.png"
    os.utime(path, ns=(1, 1))
    assert folder.content_sha256(pictures) == first  # another time of change, the same bytes
    path.rename(path.with_name("99.png"))
    renamed = folder.content_sha256(pictures)
    assert renamed != first
    Image.fromarray(np.full((10, 12), 3, np.uint8)).save(path.with_name("99.png"))
    assert folder.content_sha256(pictures) not in (first, renamed)
    for record in (tmp_path / "cache").rglob("*"):
        if record.is_file():
            record.write_text("damaged")
    assert folder.content_sha256(pictures) not in (first, renamed, "damaged")


def test_the_registry_knows_the_folder_only_if_it_is_named(pictures: Path) -> None:
    code = (
        "import json\n"
        "from bench.registry import builtin\n"
        "found = builtin()\n"
        "card = found.datasets.get('folder')\n"
        "sizes = found.tasks['images.fidelity'].info.sizes\n"
        "print(json.dumps([card and card.info.sha256, 'folder' in sizes['small'].datasets]))"
    )

    def catalogue(environment: dict[str, str]) -> list[object]:
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        result: list[object] = json.loads(done.stdout)
        return result

    assert catalogue(dict(os.environ)) == [folder.content_sha256(pictures), True]
    without = {name: text for name, text in os.environ.items() if name != "BENCH_IMAGE_FOLDER"}
    assert catalogue(without) == [None, False]
