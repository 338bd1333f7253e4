"""Conversions and draws shared by the models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bench.models.images._arrays import draw_rows, to_images, to_unit
from bench.models.images._pca import principal_components
from bench.models.images._training import linear, schedule, step_count


@given(total=st.integers(1, 40), n=st.integers(0, 130), seed=st.integers(0, 2**63 - 1))
def test_rows_are_used_equally_often(total: int, n: int, seed: int) -> None:
    rows = draw_rows(total, n, seed)
    counts = np.bincount(rows, minlength=total)
    assert len(rows) == n
    assert len(counts) == total
    assert counts.max() - counts.min() <= 1
    assert np.array_equal(rows, draw_rows(total, n, seed))


def test_bytes_survive_the_round_trip() -> None:
    images = np.arange(256, dtype=np.uint8).reshape(4, 1, 8, 8)
    assert np.array_equal(to_images(to_unit(images), (1, 8, 8)), images)


def test_rounding_and_clipping() -> None:
    values = np.array([[-0.5, 0.499 / 255, 0.501 / 255, 254.4 / 255, 1.0, 7.0]])
    assert to_images(values, (1, 2, 3)).ravel().tolist() == [0, 0, 1, 254, 255, 255]


def test_principal_components_diagonalise_the_covariance() -> None:
    values = np.random.default_rng(0).standard_normal((50, 6)) * [3, 1, 4, 1, 5, 0]
    parts = principal_components(values.astype(np.float32))
    covariance = np.cov(values.T, bias=True)
    rebuilt = (parts.directions * parts.variances) @ parts.directions.T
    np.testing.assert_allclose(rebuilt, covariance, atol=1e-5)
    np.testing.assert_allclose(parts.directions.T @ parts.directions, np.eye(6), atol=1e-12)
    assert (np.diff(parts.variances) <= 0).all()
    assert (parts.variances >= 0).all()
    np.testing.assert_allclose(parts.restore(parts.project(values.astype(np.float32), 6)), values, atol=1e-5)


def test_schedule_warms_up_and_ends_near_zero() -> None:
    rates = [schedule(step, 1_000, peak=2.0) for step in range(1_000)]
    assert rates[0] == pytest.approx(2.0 / 50)
    assert max(rates) == pytest.approx(2.0, rel=0.01)
    assert rates.index(max(rates)) == pytest.approx(49, abs=1)
    assert rates[-1] < 1e-4


@pytest.mark.parametrize(("limit", "images", "steps"), [(100, 10_000, 100), (100, 10, 3), (100, 65, 6)])
def test_step_count(limit: int, images: int, steps: int) -> None:
    assert step_count(limit, 3, images, 64) == steps


def test_layers_are_drawn_from_their_generator() -> None:
    one, two = (linear(100, 50, torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(one.weight, two.weight)
    assert float(one.weight.detach().abs().max()) <= 0.1
    assert float(one.weight.detach().std()) == pytest.approx(0.1 / 3**0.5, rel=0.05)
