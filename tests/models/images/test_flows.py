"""Flows: the closed forms, the solvers, and the two models built on them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.datasets.images import ImageDataset
from bench.metrics.images import chamfer, frechet_distance
from bench.models.images import flow, ot_cfm, tpc
from bench.models.images._ode import gaussian_velocity, integrate, path_variance, unit_normal
from bench.models.images.ot_cfm import _paired

Make = Callable[..., Any]
MEAN = torch.tensor([0.5, -2.0, 3.0], dtype=torch.float64)
DEVIATION = torch.tensor([0.1, 1.0, 2.0], dtype=torch.float64)


def to_gaussian(x: Tensor, t: Tensor) -> Tensor:
    return gaussian_velocity(x, t, MEAN, DEVIATION**2)


def start(n: int) -> Tensor:
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("t", [0.0, 0.3, 0.9])
def test_gaussian_velocity_is_the_conditional_mean(t: float) -> None:
    """E[x_1 - x_0 | x_t = x] by quadrature over x_0, for x_1 ~ N(0.5, 0.1^2 ...) one dimension at a time."""
    grid = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    for i, (mean, deviation) in enumerate(zip(MEAN, DEVIATION, strict=True)):
        x = torch.tensor([0.2], dtype=torch.float64)
        if t == 0.0:
            expected = mean - x  # x_0 is x itself and x_1 independent of it
        else:
            end = (x - (1 - t) * grid) / t
            weight = torch.exp(-0.5 * grid**2 - 0.5 * ((end - mean) / deviation) ** 2)
            expected = (weight * (end - grid)).sum() / weight.sum()
        velocity = gaussian_velocity(x[:, None], torch.full((1, 1), t), mean[None], deviation[None] ** 2)
        assert float(velocity) == pytest.approx(float(expected), rel=1e-6), f"dimension {i}"


def test_gaussian_flow_map() -> None:
    """The flow carries x_0 to t m + sqrt((1 - t)^2 + t^2 s^2) x_0; at t = 1 that is m + s x_0."""
    x = start(50)
    torch.testing.assert_close(
        integrate(to_gaussian, x, nfe=4_000, solver="midpoint"), MEAN + DEVIATION * x, rtol=1e-4, atol=1e-4
    )
    t = torch.full((1, 1), 0.4, dtype=torch.float64)
    on_path = t * MEAN + path_variance(t, DEVIATION**2).sqrt() * x
    step = 1e-6
    later = (t + step) * MEAN + path_variance(t + step, DEVIATION**2).sqrt() * x
    torch.testing.assert_close((later - on_path) / step, to_gaussian(on_path, t), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("t", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("correlation", [-0.4, 0.8])
def test_gaussian_velocity_of_a_coupling_is_the_regression_on_x(t: float, correlation: float) -> None:
    """x_1 - x_0 and x_t are jointly normal, so the velocity is their regression line, from sample moments."""
    noise, other = torch.randn(2, 400_000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ends = MEAN + DEVIATION * (correlation * noise + (1 - correlation**2) ** 0.5 * other)
    x, velocity = torch.lerp(noise, ends, t), ends - noise
    at = x[:5]
    slope = ((x - x.mean(0)) * (velocity - velocity.mean(0))).mean(0) / x.var(0)
    found = gaussian_velocity(
        at, torch.full((5, 1), t, dtype=torch.float64), MEAN, DEVIATION**2, correlation * DEVIATION
    )
    torch.testing.assert_close(found, velocity.mean(0) + slope * (at - x.mean(0)), rtol=0.02, atol=0.02)


def test_perfect_coupling_of_a_gaussian_needs_one_step() -> None:
    """x_1 = m + s x_0 has straight paths: one Euler step is exact."""
    x = start(20)
    one = integrate(lambda x, t: gaussian_velocity(x, t, MEAN, DEVIATION**2, DEVIATION), x, nfe=1)
    torch.testing.assert_close(one, MEAN + DEVIATION * x)


def test_one_euler_step_ends_at_the_mean() -> None:
    ends = integrate(to_gaussian, start(20), nfe=1)
    torch.testing.assert_close(ends, MEAN.expand(20, 3), rtol=0, atol=1e-14)


def test_straight_coupling_is_exact_in_one_step() -> None:
    """x_1 = m + x_0 has the constant velocity m."""
    x = start(20)
    torch.testing.assert_close(integrate(lambda x, t: MEAN.expand_as(x), x, nfe=1), MEAN + x)


@pytest.mark.parametrize("solver", ["euler", "midpoint"])
@pytest.mark.parametrize("nfe", [1, 2, 3, 8, 9])
def test_evaluations_are_counted_exactly(solver: Any, nfe: int) -> None:
    times = []

    def velocity(x: Tensor, t: Tensor) -> Tensor:
        times.append(float(t[0]))
        return torch.ones_like(x)

    end = integrate(velocity, torch.zeros(1, 2), nfe=nfe, solver=solver)
    assert len(times) == nfe
    assert times[0] == 0.0
    assert max(times) < 1.0
    torch.testing.assert_close(end, torch.ones(1, 2))


@pytest.mark.parametrize(("solver", "order"), [("euler", 1), ("midpoint", 2)])
def test_order_of_the_solvers(solver: Any, order: int) -> None:
    """x' = (t + 1/2) x grows by the factor e from t = 0 to t = 1."""
    x = torch.ones(1, 1, dtype=torch.float64)

    def error(nfe: int) -> float:
        return abs(float(integrate(lambda x, t: (t + 0.5) * x, x, nfe=nfe, solver=solver)) - math.e)

    assert error(100) / error(200) == pytest.approx(2**order, rel=0.05)


def closed_form(images: np.ndarray, x: np.ndarray, t: float) -> np.ndarray:
    """The velocity of exact flow matching by direct differences in float64, one row at a time."""
    points = images.reshape(len(images), -1) / 127.5 - 1.0
    rows = []
    for row in x.reshape(len(x), -1):
        logits = -((row - t * points) ** 2).sum(axis=1) / (2 * (1 - t) ** 2)
        weights = np.exp(logits - logits.max())
        rows.append((weights @ points / weights.sum() - row) / (1 - t))
    return np.array(rows).reshape(x.shape)


@pytest.mark.parametrize("t", [0.0, 0.1, 0.25, 0.5, 0.9])
def test_exact_velocity(t: float, digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images[:150]
    model = fitted("exact-fm-64", images)
    x = unit_normal(9, 64, seed=1, device="cpu").reshape(9, 1, 8, 8)
    x = (1 - t) * x + t * torch.from_numpy(images[:9] / 127.5 - 1.0).float()
    velocity = model.velocity(x, torch.full((9,), t))
    np.testing.assert_allclose(
        velocity, closed_form(images, x.numpy().astype(float), t), rtol=1e-3, atol=2e-3
    )


def test_exact_flow_with_one_step_is_the_mean_image(digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images[:150]
    model = fitted("exact-fm-8", images)
    mean = images.mean(axis=0)
    for seed in (0, 1):
        sample = model.sample(20, seed=seed, nfe=1)
        assert np.abs(sample - mean).max() <= 0.5 + 1e-4
        assert (sample == sample[0]).all()


def test_exact_flow_with_many_steps_returns_training_images(digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images
    sample = fitted("exact-fm-64", images, size="full").sample(300, seed=0)
    known = {image.tobytes() for image in images}
    assert all(image.tobytes() in known for image in sample)
    assert len({image.tobytes() for image in sample}) > 150


def test_leaving_settled_paths_early_changes_nothing(digit_images: ImageDataset, fitted: Make) -> None:
    """The model stops a path once one image has all the weight; plain Euler steps end at the same bytes."""
    model = fitted("exact-fm-64", digit_images.fit.images, size="full")
    x = unit_normal(100, 64, seed=7, device="cpu")
    for nfe in (4, 16, 64):
        ends = integrate(
            lambda x, t: model.velocity(x.reshape(-1, 1, 8, 8), t[:, 0]).reshape(x.shape), x, nfe=nfe
        )
        plain = np.rint(np.clip(ends.numpy() * 0.5 + 0.5, 0, 1) * 255).reshape(-1, 1, 8, 8)
        assert np.abs(plain - model.sample(100, seed=7, nfe=nfe)).max() <= 1


def test_blocks_of_samples_change_nothing(
    digit_images: ImageDataset, fitted: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted("exact-fm-8", digit_images.fit.images, size="full")
    x = unit_normal(50, 64, seed=3, device="cpu").reshape(50, 1, 8, 8)
    whole, velocity = model.sample(50, seed=3), model.velocity(x, torch.full((50,), 0.2))
    monkeypatch.setattr("bench.models.images.exact_flow._BLOCK_NUMBERS", 7 * 598)
    assert np.abs(whole.astype(int) - model.sample(50, seed=3)).max() <= 1
    torch.testing.assert_close(velocity, model.velocity(x, torch.full((50,), 0.2)), rtol=1e-4, atol=1e-4)


def straightness(velocity: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> float:
    """Mean squared deviation of the velocity from the chord of the model's own path, over ten times."""
    path = [x]
    for step in range(100):
        path.append(path[-1] + velocity(path[-1], torch.full((len(x),), step / 100)) / 100)
    chord = path[-1] - path[0]
    bends = [
        (velocity(path[step], torch.full((len(x),), step / 100)) - chord) ** 2 for step in range(0, 100, 10)
    ]
    return float(torch.stack(bends).mean() / (chord**2).mean())


def test_exact_flow_to_two_separated_points_is_bent(fitted: Make) -> None:
    images = np.stack([np.zeros((1, 1, 2), np.uint8), np.full((1, 1, 2), 255, np.uint8)])
    model = fitted("exact-fm-64", images)
    x = unit_normal(500, 2, seed=0, device="cpu").reshape(500, 1, 1, 2)
    assert straightness(model.velocity, x) > 0.1


def test_exact_flow_to_one_point_is_straight(fitted: Make) -> None:
    model = fitted("exact-fm-64", np.full((1, 1, 1, 2), 200, np.uint8))
    x = unit_normal(500, 2, seed=0, device="cpu").reshape(500, 1, 1, 2)
    assert straightness(model.velocity, x) < 1e-6


def test_pairing_has_the_least_total_distance() -> None:
    noise = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))
    targets = 2.0 * torch.randn(6, 3, generator=torch.Generator().manual_seed(2))
    totals = [
        float(((noise[list(order)] - targets) ** 2).sum()) for order in itertools.permutations(range(6))
    ]
    assert float(((_paired(noise, targets) - targets) ** 2).sum()) == pytest.approx(min(totals))


def test_pairing_leaves_the_distribution_of_noise_alone() -> None:
    noise = torch.randn(128, 3, generator=torch.Generator().manual_seed(1))
    paired = _paired(noise, torch.randn(128, 3, generator=torch.Generator().manual_seed(2)))
    assert torch.equal(paired.sort(dim=0).values, noise.sort(dim=0).values)


_BRIEF = flow._Plan(steps=200, width=128, blocks=1, rate=6e-3)
_SEEDS, _FEW = (0, 1, 2), (1, 2, 4)


@pytest.fixture(scope="module")
def brief(digit_images: ImageDataset) -> dict[str, dict[str, list[float]]]:
    """Straightness and Frechet distance at few steps of three flows that differ in one thing, for three seeds."""
    real = digit_images.ref.images.reshape(598, -1) / 255.0
    found: dict[str, dict[str, list[float]]] = {}
    for name, cls in (
        ("flow", flow.FlowMatching),
        ("ot-cfm", ot_cfm.OptimalTransportFlow),
        ("tpc", tpc.PairedFlow),
    ):
        for seed in _SEEDS:
            model = cls()
            model._plan = _BRIEF
            model.fit(digit_images.fit.images, None, seed=seed, device="cpu", budget_s=60.0)
            x = unit_normal(200, 64, seed=seed, device="cpu").reshape(200, 1, 8, 8)
            row = {"straightness": straightness(model.velocity, x)}
            for nfe in _FEW:
                generated = model.sample(598, seed=seed, nfe=nfe).reshape(598, -1) / 255.0
                row[f"fd {nfe}"] = frechet_distance(real=real, generated=generated).distance
                row[f"chamfer {nfe}"] = chamfer(real=real, generated=generated, k=1).deviation
            for key, value in row.items():
                found.setdefault(name, {}).setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize(
    "measure", ["straightness", *(f"{m} {nfe}" for m in ("fd", "chamfer") for nfe in _FEW)]
)
def test_optimal_coupling_is_straighter_and_better_at_few_steps(
    measure: str, brief: dict[str, dict[str, list[float]]]
) -> None:
    """The worst of three seeds beats the best of the plain flow: same network, steps, batches and loss."""
    assert max(brief["ot-cfm"][measure]) < min(brief["flow"][measure])


@pytest.mark.parametrize("measure", ["straightness", "fd 1", "chamfer 1", "chamfer 2"])
def test_consistent_velocities_are_straighter(measure: str, brief: dict[str, dict[str, list[float]]]) -> None:
    assert max(brief["tpc"][measure]) < min(brief["flow"][measure])


@pytest.mark.parametrize("name", ["flow", "ot-cfm", "tpc"])
@pytest.mark.parametrize(("solver", "nfe"), [("euler", 6), ("midpoint", 7)])
def test_flow_samples_follow_its_velocity(
    name: str, solver: Any, nfe: int, colour_images: np.ndarray, fitted: Make
) -> None:
    """`sample` works in rotated coordinates; integrating `velocity` over images ends at the same bytes."""
    model = fitted(name, colour_images, solver=solver)
    noise = unit_normal(10, 768, seed=4, device="cpu") @ model.rotation.T
    ends = integrate(
        lambda x, t: model.velocity(x.reshape(-1, 3, 16, 16), t[:, 0]).reshape(x.shape),
        noise,
        nfe=nfe,
        solver=solver,
    )
    plain = np.rint(np.clip(ends.numpy() * 0.5 + 0.5, 0, 1) * 255).reshape(-1, 3, 16, 16)
    assert np.abs(plain - model.sample(10, seed=4, nfe=nfe)).max() <= 1


def test_one_step_of_the_flow_is_near_the_mean_image(digit_images: ImageDataset, fitted: Make) -> None:
    images = digit_images.fit.images
    sample = fitted("flow", images).sample(50, seed=0, nfe=1)
    spread = images.std(axis=0).mean()
    assert np.abs(sample - images.mean(axis=0)).mean() < 0.1 * spread
