"""The neighbour core against a plain float64 loop over all pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.spatial.distance import cdist

from bench.metrics.neighbors import (
    Balls,
    distinct_rows,
    nearest_between,
    nearest_others,
    nearest_to,
    pair_distances,
)

Array = npt.NDArray[Any]
K = 5


def gaussian(rng: np.random.Generator, n: int, d: int = 16) -> Array:
    return rng.standard_normal((n, d)).astype(np.float32)


def relu_pair(rng: np.random.Generator) -> tuple[Array, Array]:
    weights = rng.standard_normal((8, 64))
    make = [np.maximum(rng.standard_normal((n, 8)) @ weights, 0).astype(np.float32) for n in (301, 257)]
    return make[0], make[1]


def near_copies(rng: np.random.Generator) -> tuple[Array, Array]:
    x = np.abs(gaussian(rng, 200, 128)) * 3
    return x, (x + 1e-4 * rng.standard_normal(x.shape)).astype(np.float32)


def near_duplicates_inside(rng: np.random.Generator) -> tuple[Array, Array]:
    x = np.repeat(gaussian(rng, 20, 32), 12, axis=0) + 5
    return x + 1e-5 * gaussian(rng, 240, 32), x + 1e-5 * gaussian(rng, 240, 32)


def displaced_cloud(rng: np.random.Generator) -> tuple[Array, Array]:
    return gaussian(rng, 150), gaussian(rng, 170) + np.float32(1e4)


def far_from_origin(rng: np.random.Generator) -> tuple[Array, Array]:
    return gaussian(rng, 150) + np.float32(1e4), gaussian(rng, 170) + np.float32(1e4)


def collapsed(rng: np.random.Generator) -> tuple[Array, Array]:
    x = gaussian(rng, 150)
    return x, (x.mean(0) + 0.01 * (gaussian(rng, 170) - x.mean(0))).astype(np.float32)


def lattice(rng: np.random.Generator) -> tuple[Array, Array]:
    """Whole numbers: exact ties everywhere."""
    return tuple(rng.integers(0, 3, (n, 4)).astype(np.float32) for n in (211, 190))  # type: ignore[return-value]


def one_outlier(rng: np.random.Generator) -> tuple[Array, Array]:
    x, y = gaussian(rng, 150), gaussian(rng, 150)
    x[17] = 1e6
    return x, y


def orthonormal(rng: np.random.Generator) -> tuple[Array, Array]:
    return np.eye(64, dtype=np.float32), np.eye(64, dtype=np.float32)[::-1] * np.float32(2)


def copies(rng: np.random.Generator) -> tuple[Array, Array]:
    x = gaussian(rng, 190)
    return x, x.copy()


def repeated(rng: np.random.Generator) -> tuple[Array, Array]:
    return np.repeat(gaussian(rng, 4), 40, axis=0), np.repeat(gaussian(rng, 5), 30, axis=0)


def two_points_repeated(rng: np.random.Generator) -> tuple[Array, Array]:
    """All distances are 0 or one of a few numbers, and every list of pairs is one pair over and over."""
    return np.full((300, 8), 0.3, np.float32), np.full((280, 8), 0.7, np.float32)


def fewest(rng: np.random.Generator) -> tuple[Array, Array]:
    return gaussian(rng, K + 1), gaussian(rng, K + 1)


def one_feature(rng: np.random.Generator) -> tuple[Array, Array]:
    return gaussian(rng, 300, 1), gaussian(rng, 200, 1)


def tiny_scale(rng: np.random.Generator) -> tuple[Array, Array]:
    return gaussian(rng, 100) * np.float32(1e-25), gaussian(rng, 100) * np.float32(1e-25)


def huge_scale(rng: np.random.Generator) -> tuple[Array, Array]:
    return gaussian(rng, 100) * np.float32(1e25), gaussian(rng, 100) * np.float32(1e25)


def double_near_copies(rng: np.random.Generator) -> tuple[Array, Array]:
    """Closer than float32 can tell apart."""
    x = rng.standard_normal((100, 16))
    return x, x + 1e-9 * rng.standard_normal(x.shape)


def constant_sum_rounding(rng: np.random.Generator) -> tuple[Array, Array]:
    """Multiples of one vector: rounding errors of a product all point the same way."""
    ones = np.ones((1, 512))
    return tuple(  # type: ignore[return-value]
        (rng.standard_normal((n, 1)) * ones / 3).astype(np.float32) for n in (220, 200)
    )


CASES: list[Callable[[np.random.Generator], tuple[Array, Array]]] = [
    relu_pair,
    near_copies,
    near_duplicates_inside,
    displaced_cloud,
    far_from_origin,
    collapsed,
    lattice,
    one_outlier,
    orthonormal,
    copies,
    repeated,
    two_points_repeated,
    fewest,
    one_feature,
    tiny_scale,
    huge_scale,
    double_near_copies,
    constant_sum_rounding,
]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def pair(request: pytest.FixtureRequest) -> tuple[Array, Array]:
    sets: tuple[Array, Array] = request.param(np.random.default_rng(3))
    return np.ascontiguousarray(sets[0]), np.ascontiguousarray(sets[1])


def without_self(x: Array) -> Array:
    distances = cdist(x.astype(np.float64), x.astype(np.float64))
    np.fill_diagonal(distances, np.inf)
    return distances


@pytest.mark.parametrize("limit_bytes", [256 << 20, 1 << 15])
def test_distances_within_a_set_are_those_of_the_plain_loop(
    pair: tuple[Array, Array], limit_bytes: int
) -> None:
    for points in pair:
        found = nearest_others(points=torch.from_numpy(points), k=K, limit_bytes=limit_bytes)
        plain = without_self(points)
        np.testing.assert_allclose(found.distances, np.sort(plain, axis=1)[:, :K], rtol=1e-12, atol=0)
        at_indices = np.take_along_axis(plain, found.indices.numpy(), axis=1)
        np.testing.assert_allclose(at_indices, found.distances, rtol=1e-12, atol=0)
        assert all(len(set(row.tolist())) == K for row in found.indices)


@pytest.mark.parametrize("limit_bytes", [256 << 20, 1 << 15])
def test_distances_between_sets_are_those_of_the_plain_loop(
    pair: tuple[Array, Array], limit_bytes: int
) -> None:
    x, y = (torch.from_numpy(points) for points in pair)
    found = nearest_between(real=x, generated=y, k=K, limit_bytes=limit_bytes)
    plain = cdist(pair[0].astype(np.float64), pair[1].astype(np.float64))
    for side, table in ((found.real_to_generated, plain), (found.generated_to_real, plain.T)):
        np.testing.assert_allclose(side.distances, np.sort(table, axis=1)[:, :K], rtol=1e-12, atol=0)
        at_indices = np.take_along_axis(table, side.indices.numpy(), axis=1)
        np.testing.assert_allclose(at_indices, side.distances, rtol=1e-12, atol=0)
    assert found.real_balls_holding is None
    alone = nearest_to(points=x, queries=y, k=K, limit_bytes=limit_bytes)
    assert torch.equal(alone.distances, found.generated_to_real.distances)
    assert torch.equal(alone.indices, found.generated_to_real.indices)


@pytest.mark.parametrize("closed", [True, False])
def test_ball_counts_are_those_of_direct_distances(pair: tuple[Array, Array], closed: bool) -> None:
    x, y = (torch.from_numpy(points) for points in pair)
    x_radii = nearest_others(points=x, k=K).distances[:, [0, 2, K - 1]]
    y_radii = nearest_others(points=y, k=K).distances[:, [0, 2, K - 1]]
    found = nearest_between(
        real=x, generated=y, k=1, real_balls=Balls(x_radii, closed), generated_balls=Balls(y_radii, closed)
    )
    rows, columns = np.indices((len(x), len(y))).reshape(2, -1)
    direct = pair_distances(x, y, torch.from_numpy(rows), torch.from_numpy(columns)).view(len(x), len(y))
    compare = torch.le if closed else torch.lt
    for q in range(3):
        expected = compare(direct, x_radii[:, q, None]).sum(0)
        assert found.real_balls_holding is not None
        assert torch.equal(found.real_balls_holding[:, q], expected)
        expected = compare(direct, y_radii[None, :, q]).sum(1)
        assert found.generated_balls_holding is not None
        assert torch.equal(found.generated_balls_holding[:, q], expected)


def test_pair_distances_are_accurate(pair: tuple[Array, Array]) -> None:
    x, y = (torch.from_numpy(points) for points in pair)
    rows = torch.arange(len(x)).repeat_interleave(3)
    columns = torch.arange(len(rows)) * 7 % len(y)
    expected = np.linalg.norm(pair[0][rows].astype(np.float64) - pair[1][columns], axis=1)
    np.testing.assert_allclose(pair_distances(x, y, rows, columns), expected, rtol=1e-13)


def test_a_pair_has_one_distance_wherever_and_however_it_is_computed() -> None:
    points = torch.from_numpy(np.random.default_rng(0).standard_normal((50, 999)).astype(np.float32))
    rows, columns = torch.arange(49), torch.arange(1, 50)
    together = pair_distances(points, points, rows, columns)
    assert torch.equal(together, pair_distances(points.clone(), points, columns, rows))
    alone = [pair_distances(points, points.clone(), rows[i : i + 1], columns[i : i + 1]) for i in range(49)]
    assert torch.equal(together, torch.cat(alone))


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3, 1e-4])
def test_near_copies_of_wide_features(noise: float) -> None:
    """2,000 x 1,280 features and copies with noise, where the plain float32 expansion fails at the small end."""
    rng = np.random.default_rng(0)
    x = np.maximum(rng.standard_normal((2000, 64)) @ rng.standard_normal((64, 1280)) / 8, 0).astype(
        np.float32
    )
    y = (x + noise * rng.standard_normal(x.shape)).astype(np.float32)
    found = nearest_between(real=torch.from_numpy(x), generated=torch.from_numpy(y), k=1)
    truth = np.linalg.norm(x.astype(np.float64) - y, axis=1)
    assert torch.equal(found.real_to_generated.indices[:, 0], torch.arange(2000))
    np.testing.assert_allclose(found.real_to_generated.distances[:, 0], truth, rtol=1e-12)
    np.testing.assert_allclose(found.generated_to_real.distances[:, 0], truth, rtol=1e-12)
    if noise == 1e-4:
        plain = (x**2).sum(1) + (y**2).sum(1) - 2 * np.einsum("nd,nd->n", x, y)
        assert np.abs(np.sqrt(np.maximum(plain, 0)) / truth - 1).max() > 0.5


def test_identical_rows_are_at_distance_exactly_zero() -> None:
    x = np.random.default_rng(1).standard_normal((400, 300)).astype(np.float32) + 100
    x[200:] = x[:200]
    points = torch.from_numpy(x)
    assert bool((nearest_others(points=points, k=1).distances == 0).all())
    assert bool(
        (nearest_between(real=points, generated=points.clone(), k=2).real_to_generated.distances == 0).all()
    )


def test_results_do_not_depend_on_the_blocks() -> None:
    rng = np.random.default_rng(5)
    x, y = (torch.from_numpy(gaussian(rng, n, 40)) for n in (333, 290))
    radii = nearest_others(points=x, k=K).distances[:, -1:]
    results = [
        nearest_between(real=x, generated=y, k=3, real_balls=Balls(radii), limit_bytes=limit)
        for limit in (1 << 14, 1 << 17, 1 << 28)
    ]
    for other in results[1:]:
        assert torch.equal(other.real_to_generated.distances, results[0].real_to_generated.distances)
        assert torch.equal(other.generated_to_real.indices, results[0].generated_to_real.indices)
        assert other.real_balls_holding is not None
        assert results[0].real_balls_holding is not None
        assert torch.equal(other.real_balls_holding, results[0].real_balls_holding)


@pytest.mark.parametrize("k", [0, 10])
def test_a_k_that_does_not_fit_is_refused(k: int) -> None:
    points = torch.zeros((10, 2))
    with pytest.raises(ValueError, match=f"k={k} needs at least"):
        nearest_others(points=points, k=k)
    with pytest.raises(ValueError, match=f"k={k + k // 10} needs at least"):
        nearest_between(real=points, generated=points, k=k + k // 10)
    with pytest.raises(ValueError, match=f"k={k + k // 10} needs at least"):
        nearest_to(points=points, queries=points, k=k + k // 10)


def test_distinct_rows_names_one_row_for_all_equal_ones() -> None:
    rng = np.random.default_rng(2)
    distinct = rng.integers(-2, 3, (60, 3)).astype(np.float32)
    points = torch.from_numpy(distinct[rng.integers(0, 60, 500)])
    points[points == 0] *= torch.where(torch.rand(int((points == 0).sum())) < 0.5, -1.0, 1.0)
    found = distinct_rows(points)
    assert torch.equal(points[found], points)
    assert len(torch.unique(found)) == len(np.unique(points.numpy() + 0.0, axis=0))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_agrees_with_the_cpu(pair: tuple[Array, Array]) -> None:
    results = []
    for device in ("cpu", "cuda"):
        x, y = (torch.from_numpy(points).to(device) for points in pair)
        radii = nearest_others(points=x, k=K).distances[:, -1:]
        results.append(nearest_between(real=x, generated=y, k=K, real_balls=Balls(radii)))
    cpu, cuda = results
    np.testing.assert_allclose(
        cuda.real_to_generated.distances.cpu(), cpu.real_to_generated.distances, rtol=1e-5
    )
    assert cuda.real_balls_holding is not None
    assert cpu.real_balls_holding is not None
    assert torch.equal(cuda.real_balls_holding.cpu(), cpu.real_balls_holding)
