"""What the finished family must show on real images (V2 to V12 of its plan), at reduced size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bench.datasets import packaged
from bench.datasets.images import ImageDataset, damage, digits, fashion
from bench.metrics.images import (
    Chamfer,
    authenticity,
    chamfer,
    density_coverage,
    frechet_distance,
    memorisation_ratio,
    precision_recall,
)
from bench.models.images import flow
from bench.tasks.images.encoders import efflite, load_encoder

Make = Callable[..., Any]
N, N_EFFLITE, N_DROP = 1_500, 800, 900


@pytest.fixture(scope="module")
def clothes() -> ImageDataset:
    if reason := fashion.locate():
        pytest.skip(reason)
    return fashion.load()


def features(images: np.ndarray) -> np.ndarray:
    return load_encoder("fashion-cnn").encode(images)


@pytest.fixture(scope="module")
def real(clothes: ImageDataset) -> np.ndarray:
    return features(clothes.ref.images[:N])


@pytest.fixture(scope="module")
def held_out(clothes: ImageDataset) -> np.ndarray:
    return features(clothes.hold.images[:N])


@pytest.fixture(scope="module")
def efflite_pair(clothes: ImageDataset) -> tuple[np.ndarray, np.ndarray]:
    """Reference and held-out features of EfficientNet-lite0."""
    if reason := packaged.absence(*efflite.FILE):
        pytest.skip(reason)
    encoder = load_encoder("efflite0-64")
    return encoder.encode(clothes.ref.images[:N_EFFLITE]), encoder.encode(clothes.hold.images[:N_EFFLITE])


def ratios(real: np.ndarray, generated: np.ndarray, k: int = 1) -> Chamfer:
    return chamfer(real=real, generated=generated.astype(np.float32), k=k)


def precision(real: np.ndarray, generated: np.ndarray, k: int = 5) -> float:
    return precision_recall(real=real, generated=generated.astype(np.float32), k=k).precision


def recall(real: np.ndarray, generated: np.ndarray) -> float:
    return precision_recall(real=real, generated=generated.astype(np.float32), k=5).recall


def test_v2_mean_image_has_perfect_precision(clothes: ImageDataset, real: np.ndarray, fitted: Make) -> None:
    sample = features(fitted("mean-image", clothes.fit.images[:10_000]).sample(N, seed=0))
    assert precision(real, sample) == 1.0
    assert recall(real, sample) <= 0.01
    assert ratios(real, sample).r2g_ratio >= 3.0
    assert ratios(real, sample).self_ratio == 0.0


def test_v3_blur_keeps_precision(
    clothes: ImageDataset, real: np.ndarray, held_out: np.ndarray, fitted: Make
) -> None:
    sample = features(fitted("held-out-blur", clothes.hold.images[:N]).sample(N, seed=0))
    assert precision(real, sample) == pytest.approx(precision(real, held_out), abs=0.04)
    assert ratios(real, sample).g2r_ratio >= 1.15
    assert ratios(real, sample).r2g_ratio >= 1.4


def test_v4_noise_has_perfect_recall(real: np.ndarray, held_out: np.ndarray) -> None:
    noisy = held_out + np.random.default_rng(0).standard_normal(held_out.shape) * real.std(axis=0)
    assert recall(real, noisy) >= 0.99
    assert precision(real, noisy) <= 0.01
    assert ratios(real, noisy).r2g_ratio >= 1.5


def test_v5_midpoints_are_more_precise_than_real_images(
    efflite_pair: tuple[np.ndarray, np.ndarray],
) -> None:
    real, held_out = efflite_pair
    middle = (held_out + held_out[np.random.default_rng(0).permutation(len(held_out))]) / 2
    contracted = held_out.mean(axis=0) + 0.05 * (held_out - held_out.mean(axis=0))
    assert precision(real, middle) > precision(real, held_out) + 0.03
    assert precision(real, contracted) == 1.0
    assert ratios(real, contracted).r2g_ratio > 1.2


def test_v6_precision_depends_on_k_and_chamfer_does_not(efflite_pair: tuple[np.ndarray, np.ndarray]) -> None:
    real, held_out = efflite_pair
    ks = (1, 5, 20)
    precisions = [precision(real, held_out, k) for k in ks]
    found = [ratios(real, held_out, k) for k in ks]
    assert max(precisions) - min(precisions) >= 0.4
    for name in ("r2g_ratio", "g2r_ratio"):
        values = [getattr(result, name) for result in found]
        assert max(values) - min(values) <= 0.01


def test_v7_frechet_depends_on_n_and_chamfer_does_not(efflite_pair: tuple[np.ndarray, np.ndarray]) -> None:
    real, held_out = efflite_pair
    few = N_EFFLITE // 4
    assert frechet_distance(real=real[:few], generated=held_out[:few]).distance > (
        2.0 * frechet_distance(real=real, generated=held_out).distance
    )
    for n, chance in ((few, 0.04), (2 * few, 0.03), (N_EFFLITE, 0.02)):  # about two standard errors
        result = ratios(real[:n], held_out[:n])
        assert result.r2g_ratio == pytest.approx(1.0, abs=chance)
        assert result.g2r_ratio == pytest.approx(1.0, abs=chance)


@pytest.mark.slow
def test_v10_exact_flow_passes_every_metric_but_those_of_copying(clothes: ImageDataset, fitted: Make) -> None:
    """Reference images are half of the training images, as where a model is judged by what it was trained on.

    At the size of the plan: with fewer images the samples repeat one another, which the Frechet distance sees.
    """
    n = 2_000
    train, hold = clothes.fit.images[: 2 * n], clothes.hold.images[: 2 * n]
    sample = features(fitted("exact-fm-64", train, size="full").sample(n, seed=0))
    known, unseen = features(train), features(hold)
    reference, held_out = known[:n], unseen[:n]
    floor = frechet_distance(real=reference, generated=held_out).distance
    assert frechet_distance(real=reference, generated=sample).distance < 1.1 * floor
    assert precision(reference, sample) >= precision(reference, held_out)
    assert authenticity(train=known, generated=sample).share <= 0.01
    assert memorisation_ratio(train=known, held_out=unseen, generated=sample).ratio <= 0.6


def test_v11_precision_does_not_see_too_few_steps(clothes: ImageDataset, real: np.ndarray) -> None:
    model = flow.FlowMatching()
    model._plan = flow._Plan(steps=250, width=256, blocks=1, rate=5e-3)
    model.fit(clothes.fit.images[:10_000], None, seed=0, device="cpu", budget_s=600.0)
    samples = [features(model.sample(N, seed=0, nfe=nfe)) for nfe in (1, 2, 4, 8)]
    distances = [frechet_distance(real=real, generated=sample).distance for sample in samples]
    reached = [ratios(real, sample).r2g_ratio for sample in samples]
    assert distances == sorted(distances, reverse=True)
    assert reached == sorted(reached, reverse=True)
    precisions = [precision(real, sample) for sample in samples]
    assert precisions != sorted(precisions)


def test_v12_chamfer_is_fooled_by_contraction_and_says_so(
    efflite_pair: tuple[np.ndarray, np.ndarray],
) -> None:
    real, held_out = efflite_pair
    centre = real.mean(axis=0)
    result = ratios(real, centre + 0.9 * (held_out - centre))
    assert result.r2g_ratio < 1.0
    assert result.g2r_ratio < 1.0
    assert result.self_ratio < 0.97
    assert "contraction" in result.flags


@pytest.fixture(scope="module")
def dropping(clothes: ImageDataset) -> list[np.ndarray]:
    """Features of 900 images each with the first 1, 3, 5, 7 and 9 classes missing."""
    images = np.concatenate([clothes.hold.images, clothes.fit.images[:5_000]])
    labels = np.concatenate([clothes.hold.labels, clothes.fit.labels[:5_000]])
    found = features(images)
    return [found[labels >= dropped][:N_DROP] for dropped in (1, 3, 5, 7, 9)]


def test_v8_dropped_classes_are_seen_as_lost_coverage_only(
    real: np.ndarray, held_out: np.ndarray, dropping: list[np.ndarray]
) -> None:
    x = real[:N_DROP]
    reached = [ratios(x, sample).r2g_ratio for sample in dropping]
    covered = [density_coverage(real=x, generated=sample, k=5).coverage for sample in dropping]
    assert reached == sorted(reached)
    assert reached[-1] > 2.0
    assert covered == sorted(covered, reverse=True)
    floor = precision(x, held_out[:N_DROP])
    assert all(precision(x, sample) == pytest.approx(floor, abs=0.03) for sample in dropping[:4])


def test_v9_invented_images_are_seen_as_lost_fidelity_only(real: np.ndarray, held_out: np.ndarray) -> None:
    strangers = features(damage.resized(digits.load().ref.images, (1, 28, 28)))
    mixed = [
        np.concatenate([strangers[: round(share * 1_400)], held_out[round(share * 1_400) : 1_400]])
        for share in (0.02, 0.05, 0.1, 0.2, 0.4)
    ]
    found = [ratios(real[:1_400], sample).g2r_ratio for sample in mixed]
    assert found == sorted(found)
    assert found[-1] > 1.2
    floor = recall(real[:1_400], held_out[:1_400])
    assert all(recall(real[:1_400], sample) == pytest.approx(floor, abs=0.02) for sample in mixed)
