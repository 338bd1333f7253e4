"""The sweep on the small digits of scikit-learn, with chains: what mixing both objectives does to robustness."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from bench.models.alignment._jem.chains import Sampler
from bench.models.alignment._jem.training import TrainPlan, train
from bench.tasks.alignment.readout import Probe

pytestmark = pytest.mark.slow
LAMBDAS = (0.0, 0.1, 0.5, 1.0)


@functools.cache
def digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """1,297 training and 500 test images in [-1, 1], in the order of a permutation."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x = torch.from_numpy(images[order] / 8 - 1).float().reshape(-1, 1, 8, 8)
    y = torch.from_numpy(labels[order]).long()
    return x[:1297], y[:1297], x[1297:], y[1297:]


@functools.cache
def trained(lam: float) -> nn.Sequential:
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Flatten(), nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 10)
    )
    x, y, _, _ = digits()
    found = train(
        network, x, y, TrainPlan(lam=lam, objective="marginal", iterations=700, sampler=Sampler(steps=10))
    )
    assert found.restarts == 0
    return network


def right(network: nn.Module, x: Tensor) -> float:
    with torch.no_grad():
        return float((network(x).argmax(1) == digits()[3]).float().mean())


def noisy(network: nn.Module) -> float:
    x = digits()[2]
    return right(network, x + 0.8 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0)))


def attacked(network: nn.Module) -> float:
    """Accuracy after ten steps of projected gradient ascent within 0.3."""
    x, y = digits()[2:]
    moved = x.clone()
    for _ in range(10):
        moved.requires_grad_(True)
        (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(network(moved), y), moved)
        moved = torch.clamp(moved.detach() + 0.075 * gradient.sign(), x - 0.3, x + 0.3).clamp(-1, 1)
    return right(network, moved)


def probed(network: nn.Sequential) -> float:
    x, y, x_test, y_test = digits()
    with torch.no_grad():
        known, new = (network[:-1](v).numpy() for v in (x, x_test))
    logits: Any = Probe(known, y.numpy()).logits(new)
    return float((logits.argmax(axis=1) == y_test.numpy()).mean())


def test_noise_is_stood_best_between_the_ends() -> None:
    found = {lam: noisy(trained(lam)) for lam in LAMBDAS}
    assert max(found, key=found.__getitem__) not in (0.0, 1.0), found


def test_a_generative_part_helps_under_attack() -> None:
    plain = attacked(trained(0.0))
    assert all(attacked(trained(lam)) > plain for lam in (0.1, 0.5))


def test_without_classes_the_head_is_at_chance_and_the_features_are_not() -> None:
    assert right(trained(1.0), digits()[2]) < 0.25
    assert probed(trained(1.0)) >= 0.9
    assert right(trained(0.0), digits()[2]) > 0.95
