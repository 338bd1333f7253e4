"""Generated stimuli: what is promised of them, to the letter."""

from __future__ import annotations

import numpy as np
import pytest

from bench.datasets.alignment import digits, distortions, manipulations, mixture, stw, surfaces
from bench.datasets.alignment.published import ACCURACY

needs_digits = pytest.mark.skipif(digits.locate() is not None, reason=str(digits.locate()))
needs_photographs = pytest.mark.skipif(distortions.locate() is not None, reason=str(distortions.locate()))


@needs_digits
def test_training_and_test_digits_are_apart_and_prefixes_balanced() -> None:
    train, test = digits.split_rows(train=True), digits.split_rows(train=False)
    assert (len(train), len(test)) == (4_000, 1_000)
    assert not set(train) & set(test)
    _, labels = digits.load()
    assert labels[train[:20]].tolist() == list(range(10)) * 2


@needs_digits
def test_the_world_is_a_function_of_split_and_index() -> None:
    world = stw.load()
    few, more = (world.pictures(train=False, n=n) for n in (4, 12))
    assert np.array_equal(few.images, more.images[:4])
    assert not np.array_equal(few.images, world.pictures(train=True, n=4).images)
    with pytest.raises(ValueError, match="1 to 1000"):
        world.pictures(train=False, n=1_001)


@needs_digits
def test_cues_share_digit_place_and_noise() -> None:
    world = stw.load()
    made = {
        cue: world.pictures(train=False, n=30, cue=cue) for cue in ("matched", "conflict", "shape", "texture")
    }  # type: ignore[arg-type]
    assert (made["conflict"].shape != made["conflict"].texture).all()
    assert (made["matched"].shape == made["matched"].texture).all()
    for other in ("conflict", "shape", "texture"):
        assert np.array_equal(made[other].masks, made["matched"].masks)
        assert np.array_equal(made[other].shape, made["matched"].shape)
    inside = made["shape"].images[made["shape"].masks[:, None]].mean()
    outside = made["shape"].images[~made["shape"].masks[:, None]].mean()
    assert (inside - outside) / 255 > 0.2
    flat = made["texture"].images.astype(float)
    assert abs(flat[made["texture"].masks[:, None]].mean() - flat.mean()) / 255 < 0.02


def test_textures_have_the_frequency_and_orientation_of_their_class() -> None:
    white = np.random.default_rng(0).standard_normal((stw.EDGE, stw.EDGE))
    for family in range(10):
        power = np.abs(np.fft.fft2(stw.filtered(white, family))) ** 2
        fy, fx = np.meshgrid(*[np.fft.fftfreq(stw.EDGE)] * 2, indexing="ij")
        radius = float((np.hypot(fy, fx) * power).sum() / power.sum())
        assert radius == pytest.approx(0.24 if family % 2 else 0.14, abs=0.03)
        double = np.angle(((fx + 1j * fy) ** 2 * power).sum()) / 2  # orientations repeat after half a turn
        away = (double - np.deg2rad(18 * family) + np.pi / 2) % np.pi - np.pi / 2
        assert abs(away) < 0.2


@needs_photographs
def test_distortions_have_the_error_they_should() -> None:
    made = distortions.DistortionPairs().distorted(3)
    assert made.distorted.shape == (3, 8, 8, 3, 64, 64)
    assert np.abs(made.errors - np.array(distortions.SEVERITIES)).max() < distortions.TOLERANCE
    seen = made.distorted.astype(float) - made.references[:, None, None]
    rms = np.sqrt((seen**2).mean(axis=(3, 4, 5)))
    assert rms == pytest.approx(np.broadcast_to(255 * np.array(distortions.SEVERITIES), rms.shape), abs=0.35)


def test_surfaces_are_matte_and_glossy_in_turn_and_bumps_change_nothing_else() -> None:
    world = surfaces.load()
    kinds = world.two_kinds(6, train=True)
    assert kinds.reflectance.tolist() == [surfaces.MATTE, surfaces.GLOSSY] * 3
    assert ((kinds.bump >= 0.1) & (kinds.bump <= 1.4)).all()
    series = world.bump_series(2)
    assert series.images.shape == (14, 1, 64, 64)
    assert set(series.reflectance) == {surfaces.BETWEEN}
    contrast = series.images.reshape(2, 7, -1).std(axis=2)
    assert (contrast[:, 0] < contrast[:, 3]).all()
    assert np.array_equal(world.two_kinds(2, train=True).images, kinds.images[:2])


@needs_digits
def test_the_posterior_is_that_of_the_full_gaussians() -> None:
    """Woodbury against densities by full covariance matrices."""
    world = mixture.load()
    means, axes, variances, rest = world._fits
    rng = np.random.default_rng(0)
    x = means[rng.integers(0, 10, 4)] + rng.standard_normal((4, 1024))
    logs = np.empty((4, 10))
    for c in range(10):
        covariance = (axes[c].T * variances[c]) @ axes[c] + (1.0 + rest[c]) * np.eye(1024)
        d = x - means[c]
        logs[:, c] = (
            -(d * np.linalg.solve(covariance, d.T).T).sum(axis=1) / 2 - np.linalg.slogdet(covariance)[1] / 2
        )
    direct = np.exp(logs - logs.max(axis=1, keepdims=True))
    direct /= direct.sum(axis=1, keepdims=True)
    assert world.posterior(x, np.ones(4)) == pytest.approx(direct, abs=1e-8)


@needs_digits
def test_samples_are_as_uncertain_as_their_noise() -> None:
    made = mixture.load().samples(200, train=False)
    assert made.images.min() >= 0
    assert made.images.max() <= 1
    assert made.posterior.sum(axis=1) == pytest.approx(np.ones(200))
    entropy = -(made.posterior * np.log(np.maximum(made.posterior, 1e-300))).sum(axis=1)
    means = [entropy[made.scale == s].mean() for s in range(4)]
    assert means == sorted(means)
    assert means[3] > 1.0
    right = made.posterior.argmax(axis=1) == made.labels
    assert right[made.scale == 0].mean() > 0.95


def test_manipulations_do_what_their_names_say() -> None:
    images = np.random.default_rng(0).uniform(0.3, 0.7, (2, 32, 32))
    assert len(manipulations.conditions()) == sum(map(len, ACCURACY.values())) == 43

    def made(name: str, level: str) -> np.ndarray:
        return manipulations.manipulated(images, name, level, seed=1)

    for name, level in (("uniform-noise", "0.0"), ("contrast", "100"), ("low-pass", "0"), ("high-pass", "inf"),
                        ("rotation", "0"), ("phase-scrambling", "0")):  # fmt: skip
        assert made(name, level) == pytest.approx(images, abs=1e-9), name
    assert made("contrast", "10") - 0.5 == pytest.approx(0.1 * (images - 0.5))
    assert np.abs(made("uniform-noise", "0.1") - images).max() <= 0.1
    assert made("rotation", "90") == pytest.approx(np.rot90(images, axes=(1, 2)))
    assert made("low-pass", "40").std() < 0.2 * images.std()
    spectrum = [np.abs(np.fft.fft2(x)) for x in (images, made("phase-scrambling", "90"))]
    assert spectrum[1] == pytest.approx(spectrum[0], rel=0.15, abs=0.5)  # but for what was clipped
    assert np.array_equal(made("phase-scrambling", "90"), made("phase-scrambling", "90"))
