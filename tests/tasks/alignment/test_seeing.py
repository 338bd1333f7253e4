"""How a model is shown images, what a probe learns, and how attributions are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from bench.adapters.alignment import VisionModel
from bench.tasks.alignment.attributing import (
    METHODS,
    SAMPLES,
    STEPS,
    completeness_error,
    gradient,
    integrated_gradients,
    maps_of,
    native_score,
    probe_score,
)
from bench.tasks.alignment.readout import Probe
from bench.tasks.alignment.seeing import MAX_FEATURES, PROJECTED, features_of, prepared


class Eye(VisionModel):
    def __init__(self, channels: Any = 3, size: tuple[int, int] | None = (32, 32)) -> None:
        self.channels, self.input_hw = channels, size

    def features(self, x: Tensor) -> Tensor:
        return x.flatten(1)


class Quadratic(Eye):
    """Logits 0 and the sum of squares: attributions are known."""

    def __init__(self) -> None:
        super().__init__(1, (8, 8))
        self.largest = 0

    def logits(self, x: Tensor) -> Tensor:
        self.largest = max(self.largest, len(x))
        total = x.flatten(1).square().sum(dim=1)
        return torch.stack([0 * total, total], dim=1)


def pictures(n: int = 3, channels: int = 3, edge: int = 32) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (n, channels, edge, edge), dtype=np.uint8)


def test_images_of_the_right_size_are_left_as_they_are() -> None:
    x = prepared(pictures(), Eye(), "cpu")
    assert np.array_equal((255 * x).round().numpy(), pictures())
    assert prepared(pictures(), Eye(size=(16, 20)), "cpu").shape == (3, 3, 16, 20)


def test_a_model_of_any_size_is_shown_at_least_64_pixels() -> None:
    assert prepared(pictures(), Eye(size=None), "cpu").shape[2:] == (64, 64)
    assert prepared(pictures(edge=100), Eye(size=None), "cpu").shape[2:] == (100, 100)


def test_colour_becomes_gray_by_its_weights_and_gray_is_repeated() -> None:
    green = np.zeros((1, 3, 32, 32), dtype=np.uint8)
    green[:, 1] = 255
    assert float(prepared(green, Eye(1), "cpu").mean()) == pytest.approx(0.587, abs=1e-6)
    repeated = prepared(pictures(channels=1), Eye(3), "cpu")
    assert torch.equal(repeated[:, 0], repeated[:, 2])


def test_resizing_stays_in_range() -> None:
    steps = np.zeros((1, 1, 32, 32), dtype=np.uint8)
    steps[..., 16:] = 255
    x = prepared(steps, Eye(1, (80, 80)), "cpu")
    assert (float(x.min()), float(x.max())) == (0.0, 1.0)


@pytest.mark.parametrize("scale", [255.0, -1.0, float("nan")])
def test_images_out_of_range_are_refused(scale: float) -> None:
    with pytest.raises(ValueError, match=r"expected \[0, 1\], or uint8"):
        prepared((scale * np.ones((1, 3, 32, 32))).astype(np.float32), Eye(), "cpu")


def test_too_many_features_are_projected_alike_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_FEATURES == 100_000
    monkeypatch.setattr("bench.tasks.alignment.seeing.MAX_FEATURES", 1_000)
    once, again = (features_of(Eye(), pictures(), "cpu") for _ in range(2))
    assert once.shape == (3, PROJECTED)
    assert np.array_equal(once, again)
    plain = pictures().reshape(3, -1) / 255
    assert np.linalg.norm(once, axis=1) == pytest.approx(np.linalg.norm(plain, axis=1), rel=0.1)


def test_a_probe_is_logistic_regression_on_standardised_features() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 150)
    x = rng.standard_normal((150, 4)) * (1, 10, 0.1, 1) + labels[:, None]
    constant = np.concatenate([x, np.full((150, 1), 7.0)], axis=1)
    ours = Probe(constant.astype(np.float32), labels).logits(constant.astype(np.float32))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    theirs = LogisticRegression(C=1.0, max_iter=2_000, tol=1e-8).fit(z, labels)
    p = np.exp(ours - ours.max(axis=1, keepdims=True))
    assert p / p.sum(axis=1, keepdims=True) == pytest.approx(theirs.predict_proba(z), abs=2e-4)
    with pytest.raises(ValueError, match="at least two classes"):
        Probe(x.astype(np.float32), np.zeros(150, dtype=np.int64))


def test_attributions_of_a_known_function() -> None:
    model = Quadratic()
    images, labels = pictures(2, 1, 8), np.array([1, 1])
    x, y = prepared(images, model, "cpu"), torch.tensor([1, 1])
    score = native_score(model)
    assert torch.allclose(gradient(score, x, y), 2 * x)
    assert torch.allclose(integrated_gradients(score, x, y), (x - 0.5) * (x + 0.5), atol=1e-5)
    assert float(completeness_error(score, x, y).max()) < 1e-4
    for method in METHODS:
        found = maps_of(method, model, score, images, labels, "cpu")
        assert found.shape == (2, 8, 8)
        assert (found >= 0).all()


def test_copies_of_an_image_never_share_a_batch() -> None:
    """Memory does not grow with the number of noisy or interpolated copies."""
    model = Quadratic()
    for method in ("smoothgrad", "integrated_gradients"):
        maps_of(method, model, native_score(model), pictures(5, 1, 8), np.ones(5, dtype=np.int64), "cpu")
    assert SAMPLES + STEPS > 50
    assert model.largest == 5


def test_the_score_of_a_probe_is_its_logit_but_for_a_constant() -> None:
    rng = np.random.default_rng(1)
    model = Eye(1, (4, 4))
    images = rng.integers(0, 256, (60, 1, 4, 4), dtype=np.uint8)
    labels = (images[:, 0, 0, 0] > 127).astype(np.int64)
    features = features_of(model, images, "cpu")
    probe = Probe(features, labels)
    x, y = prepared(images, model, "cpu"), torch.from_numpy(labels)
    ours = probe_score(model, probe, "cpu")(x, y).numpy()
    logits = probe.logits(features)[np.arange(60), labels]
    for c in (0, 1):
        assert np.ptp((ours - logits)[labels == c]) < 1e-4
