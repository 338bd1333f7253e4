"""CIFAR-10 from a fabricated archive: found, verified, divided, and nothing in it executed."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bench.catalog.images import DATASETS
from bench.datasets.images import cifar10
from bench.errors import MissingRequirement

SHARED = Path(__file__).parents[4] / "shared" / "data" / "image_fidelity" / "cifar10_jpeg_2k.parquet"
BATCHES = (*cifar10.TRAIN, *cifar10.TEST)
Contents = dict[str, bytes]


def batch(images: np.ndarray, labels: list[int]) -> bytes:
    """As the authors' files: a pickle of bytes to arrays, which Python 2 wrote."""
    return pickle.dumps({b"data": images.reshape(len(images), -1), b"labels": labels}, protocol=2)


def fabricated(rows: int = 8) -> Contents:
    rng = np.random.default_rng(0)
    return {
        name: batch(rng.integers(0, 256, (rows, 3072), dtype=np.uint8), [(k + 3) % 10 for k in range(rows)])
        for name in BATCHES
    }


def archive(contents: Contents) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Contents], Path]:
    """Put an archive of the contents into the folder BENCH_CIFAR10 and expect their checksums."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BENCH_CIFAR10", str(folder))
    for name in ("BENCH_MIRROR", "BENCH_ALLOW_DOWNLOAD"):
        monkeypatch.delenv(name, raising=False)

    def put(contents: Contents) -> Path:
        for table in (cifar10.TRAIN, cifar10.TEST):
            for name in table:
                md5 = hashlib.md5(contents[name], usedforsecurity=False).hexdigest()
                monkeypatch.setitem(table, name, md5)
        path = folder / "cifar-10-python.tar.gz"
        path.write_bytes(gzip.compress(archive(contents), compresslevel=1))
        return path

    return put


def test_a_compressed_archive_is_read(place: Callable[[Contents], Path]) -> None:
    contents = fabricated()
    place(contents)
    assert cifar10.locate() is None
    dataset = cifar10.load()
    assert (len(dataset.fit), len(dataset.ref), len(dataset.hold)) == (40, 4, 4)
    assert dataset.image_shape == (3, 32, 32)
    order = np.random.default_rng(0).permutation(40)
    first: Any = pickle.loads(contents[BATCHES[order[0] // 8]], encoding="bytes")
    expected = first[b"data"][order[0] % 8].reshape(3, 32, 32)
    assert np.array_equal(dataset.fit.images[0], expected)
    assert dataset.fit.labels[0] == first[b"labels"][order[0] % 8]
    shown = {image.tobytes() for image in np.concatenate([dataset.ref.images, dataset.hold.images])}
    assert len(shown) == 8


def test_pictures_of_the_real_classes_keep_their_labels(place: Callable[[Contents], Path]) -> None:
    if not SHARED.exists():
        pytest.skip("cifar10_jpeg_2k.parquet is not in ../shared/data beside the repository")
    import pyarrow.parquet as pq

    rows = pq.read_table(SHARED).to_pylist()[::40]
    pictures = np.stack([np.asarray(Image.open(io.BytesIO(row["jpeg"]))) for row in rows])
    flat = pictures.transpose(0, 3, 1, 2).reshape(len(rows), -1)
    labels = [cifar10.CLASSES.index(row["label"]) for row in rows]
    contents = {name: batch(flat[k::6], labels[k::6]) for k, name in enumerate(BATCHES)}
    place(contents)
    dataset = cifar10.load()
    known = {image.tobytes(): label for image, label in zip(flat, labels, strict=True)}
    for split in (dataset.fit, dataset.ref, dataset.hold):
        for image, label in zip(split.images, split.labels, strict=True):
            assert known[image.tobytes()] == label


def test_changed_pixels_are_refused(
    place: Callable[[Contents], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    place(fabricated())
    monkeypatch.setitem(cifar10.TEST, "test_batch", "0" * 32)
    with pytest.raises(MissingRequirement, match=r"test_batch has MD5 [0-9a-f]{32}, expected 0000"):
        cifar10.load()


def test_an_archive_that_changes_is_refused(place: Callable[[Contents], Path], tmp_path: Path) -> None:
    place(fabricated())
    cifar10.load()
    for kept in (tmp_path / "cache").rglob("*.tar"):
        kept.unlink()
    place(fabricated(rows=12))
    with pytest.raises(MissingRequirement, match=r"SHA-256 .* expected"):
        cifar10.load()


def test_a_missing_file_is_named(place: Callable[[Contents], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    place(fabricated())
    monkeypatch.setitem(cifar10.TEST, "other_batch", "0" * 32)
    with pytest.raises(MissingRequirement, match="has no file cifar-10-batches-py/other_batch"):
        cifar10.load()


def test_what_is_no_archive_is_refused(place: Callable[[Contents], Path]) -> None:
    place(fabricated()).write_bytes(gzip.compress(b"no archive" * 100))
    with pytest.raises(MissingRequirement, match="is no tar archive"):
        cifar10.load()


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def test_pickles_that_name_anything_but_arrays_are_not_run(
    place: Callable[[Contents], Path], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    contents = fabricated()
    contents["data_batch_1"] = pickle.dumps({b"data": Evil(mark), b"labels": []}, protocol=2)
    place(contents)
    with pytest.raises(MissingRequirement, match="which an image file does not need"):
        cifar10.load()
    assert not mark.exists()


def test_absence_names_every_remedy(place: Callable[[Contents], Path]) -> None:
    reason = cifar10.locate()
    assert reason is not None
    for part in ("cifar-10-python.tar", "BENCH_MIRROR", "https://www.cs.toronto.edu", "--allow-download"):
        assert part in reason


def test_checksums_are_the_published_ones_and_make_the_identity() -> None:
    published = pytest.importorskip("torchvision.datasets").CIFAR10
    assert [list(item) for item in cifar10.TRAIN.items()] == published.train_list
    assert [list(item) for item in cifar10.TEST.items()] == published.test_list
    text = "\n".join(f"{name} {md5}" for name, md5 in {**cifar10.TRAIN, **cifar10.TEST}.items())
    card = next(card for card in DATASETS if card.name == "cifar10")
    assert card.sha256 == cifar10.SHA256 == hashlib.sha256(text.encode()).hexdigest()
