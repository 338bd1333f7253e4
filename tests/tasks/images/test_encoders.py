"""Encoders: shapes, pinned weights, independence of the batch."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.datasets.images import fashion, mnist5k
from bench.errors import MissingRequirement, UsageError
from bench.tasks.images.encoders import load_encoder, small_cnn
from bench.tasks.images.encoding import encode_cached

IMAGES = np.random.default_rng(0).integers(0, 256, (70, 1, 28, 28), dtype=np.uint8)
CNNS = ("fashion-cnn", "mnist-cnn")
LIGHT = ("pixels", *CNNS)  # always here; the others are in test_encoder_networks.py


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    load_encoder.cache_clear()
    yield
    load_encoder.cache_clear()


@pytest.mark.parametrize("name", LIGHT)
def test_features_are_finite_float32_rows(name: str) -> None:
    features = load_encoder(name).encode(IMAGES)
    assert features.dtype == np.float32
    assert features.shape == (70, 784 if name == "pixels" else 128)
    assert load_encoder(name).width((1, 28, 28)) == features.shape[1]
    assert np.isfinite(features).all()


@pytest.mark.parametrize("name", LIGHT)
def test_features_of_an_image_do_not_depend_on_its_batch(name: str) -> None:
    encoder = load_encoder(name)
    alone = encoder.encode(IMAGES, batch_size=1)
    together = encoder.encode(IMAGES, batch_size=64)
    assert np.abs(alone - together).max() <= 1e-4 * np.abs(alone).max()
    assert np.array_equal(encoder.encode(IMAGES[:5]), encoder.encode(IMAGES)[:5])


def test_pixels_are_values_over_255() -> None:
    features = load_encoder("pixels").encode(IMAGES)
    assert np.array_equal(features, IMAGES.reshape(70, 784).astype(np.float32) / 255)


def test_small_cnn_has_the_stated_parameters() -> None:
    assert sum(p.numel() for p in small_cnn.SmallCnn().parameters()) == 155_786


@pytest.mark.parametrize("name", CNNS)
def test_weights_are_the_pinned_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = small_cnn.WEIGHTS / f"{name}.safetensors"
    changed = bytearray(original.read_bytes())
    changed[-1] ^= 1
    (tmp_path / original.name).write_bytes(changed)
    monkeypatch.setattr(small_cnn, "WEIGHTS", tmp_path)
    with pytest.raises(MissingRequirement, match="expected " + load_sha(name)):
        load_encoder(name)
    (tmp_path / original.name).unlink()
    with pytest.raises(MissingRequirement, match="no encoder weights"):
        load_encoder(name)


def load_sha(name: str) -> str:
    return {"fashion-cnn": small_cnn.FASHION_SHA256, "mnist-cnn": small_cnn.MNIST_SHA256}[name]


@pytest.mark.parametrize(
    ("name", "module", "accuracy"), [("fashion-cnn", fashion, 0.89), ("mnist-cnn", mnist5k, 0.96)]
)
def test_networks_classify_images_they_have_not_seen(name: str, module: object, accuracy: float) -> None:
    if reason := module.locate():  # type: ignore[attr-defined]
        pytest.skip(reason)
    hold = module.load().hold  # type: ignore[attr-defined]
    encoder = load_encoder(name)
    assert isinstance(encoder, small_cnn.SmallCnnEncoder)
    with torch.inference_mode():
        logits = encoder._network.classifier(torch.from_numpy(encoder.encode(hold.images)))
    assert np.mean(logits.argmax(1).numpy() == hold.labels) >= accuracy


def test_other_image_sizes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"takes images \(n, 1, 28, 28\), got \(2, 3, 32, 32\)"):
        load_encoder("mnist-cnn").encode(np.zeros((2, 3, 32, 32), np.uint8))


def test_unknown_encoder_names_the_known() -> None:
    with pytest.raises(UsageError, match="pixels, fashion-cnn, mnist-cnn"):
        load_encoder("inception")


class Counting:
    name, weights_sha256, resize_mode = "counting", "", "none"
    calls = 0

    def width(self, image_shape: tuple[int, int, int]) -> int:
        return 784

    def encode(self, images: np.ndarray, *, device: str = "cpu", batch_size: int = 250) -> np.ndarray:
        self.calls += 1
        return images.reshape(len(images), -1).astype(np.float32)


def test_cache_is_used_checked_and_optional(tmp_path: Path) -> None:
    encoder = Counting()
    first = encode_cached(encoder, IMAGES, device="cpu", cache_dir=tmp_path)
    again = encode_cached(encoder, IMAGES, device="cpu", cache_dir=tmp_path)
    assert np.array_equal(first, again)
    assert encoder.calls == 1
    encode_cached(encoder, IMAGES[:60], device="cpu", cache_dir=tmp_path)
    assert encoder.calls == 2
    for stored in tmp_path.rglob("*.npy"):
        stored.write_bytes(stored.read_bytes()[:100])
    assert np.array_equal(encode_cached(encoder, IMAGES, device="cpu", cache_dir=tmp_path), first)
    assert encoder.calls == 3
    assert not list(tmp_path.rglob("*.part"))
    (tmp_path / "file").write_text("not a folder")
    assert np.array_equal(encode_cached(encoder, IMAGES, device="cpu", cache_dir=tmp_path / "file"), first)
