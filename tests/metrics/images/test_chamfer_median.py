"""Chamfer ratios of medians: by hand, against plain NumPy, and what they are for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bench.metrics.images.chamfer import chamfer
from bench.metrics.images.chamfer_median import chamfer_median


def test_by_hand() -> None:
    real, generated = np.array([[0.0], [1], [3], [7], [20]]), np.array([[0.5], [2], [10], [11]])
    # To the nearest other real sample 1 1 2 4 13, real to generated .5 .5 1 3 9, generated to real .5 1 3 4.
    found = chamfer_median(real=real, generated=generated)
    assert (found.r2g_ratio, found.g2r_ratio) == (0.5, 1.0)


def test_it_is_the_ratio_of_medians() -> None:
    rng = np.random.default_rng(0)
    real, generated = rng.standard_normal((101, 5)), rng.standard_normal((101, 5)) + 0.3
    among = cdist(real, real) + np.diag(np.full(101, np.inf))
    base, across = np.median(among.min(axis=1)), cdist(real, generated)
    found = chamfer_median(real=real, generated=generated)
    assert found.r2g_ratio == pytest.approx(np.median(across.min(axis=1)) / base)
    assert found.g2r_ratio == pytest.approx(np.median(across.min(axis=0)) / base)


@pytest.mark.parametrize("distance", [10.0, 1e6])
def test_one_outlier_moves_the_mean_ratio_and_not_that_of_medians(distance: float) -> None:
    rng = np.random.default_rng(1)
    real, generated = rng.standard_normal((2, 200, 8))
    far = real.copy()
    far[0] = distance
    before, after = (chamfer_median(real=x, generated=generated) for x in (real, far))
    assert after.g2r_ratio == pytest.approx(before.g2r_ratio, abs=0.02)
    assert after.r2g_ratio == pytest.approx(before.r2g_ratio, abs=0.02)
    means = [chamfer(real=x, generated=generated).g2r_ratio for x in (real, far)]
    assert means[1] < 0.95 * means[0]


def test_equal_real_samples_have_no_ratio() -> None:
    found = chamfer_median(real=np.zeros((5, 2)), generated=np.ones((4, 2)))
    assert math.isnan(found.r2g_ratio)
    assert math.isnan(found.g2r_ratio)
