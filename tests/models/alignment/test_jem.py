"""Training of joint energy-based models: objectives, chains, divergence, what one seed fixes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from bench.models.alignment._autoencoder import train_autoencoder
from bench.models.alignment._jem.chains import HIGH, LOW, Chains, Sampler, langevin
from bench.models.alignment._jem.objectives import contrastive, denoising, energies, reference_of
from bench.models.alignment._jem.training import Diagnosis, JEMDiverged, TrainPlan, one_cycle, train
from bench.models.alignment._network import EnergyCnn
from bench.models.alignment._robust import EPSILON, attacked, train_robust

FEW = Sampler(steps=2, buffer=60)


def small(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 3))


def data(n: int = 90) -> tuple[Tensor, Tensor]:
    """Three classes of bars in 4 x 4 images."""
    generator, y = torch.Generator().manual_seed(0), torch.arange(n) % 3
    x = 0.1 * torch.randn(n, 1, 4, 4, generator=generator)
    x[torch.arange(n), 0, y] += 0.8
    return x.clamp(-1, 1), y


def accuracy(network: nn.Module) -> float:
    x, y = data()
    with torch.no_grad():
        return float((network(x).argmax(1) == y).float().mean())


@pytest.mark.parametrize("objective", ["marginal", "conditional", "dsm"])
def test_every_objective_learns_classes_beside_images(objective: str) -> None:
    network = small()
    found = train(
        network, *data(), TrainPlan(lam=0.3, objective=objective, iterations=150, batch=30, sampler=FEW)
    )  # type: ignore[arg-type]
    assert accuracy(network) > 0.9
    assert found.restarts == 0
    assert (len(found.gaps) == 150) == (objective != "dsm")


@pytest.mark.parametrize("lam", [-0.1, 1.1, float("nan")])
def test_lambda_outside_its_range_is_refused_before_training(lam: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        TrainPlan(lam=lam)


def test_unknown_objectives_are_refused() -> None:
    with pytest.raises(ValueError, match="use one of marginal, conditional, dsm"):
        TrainPlan(lam=0.5, objective="diffusion")  # type: ignore[arg-type]


def test_too_few_chains_are_refused() -> None:
    with pytest.raises(ValueError, match="buffer of 20 chains"):
        TrainPlan(lam=0.5, sampler=Sampler(buffer=20))


def test_one_seed_one_network_and_the_same_batches_for_every_lambda() -> None:
    twice = []
    for _ in range(2):
        network = small()
        train(
            network, *data(), TrainPlan(lam=0.5, objective="marginal", iterations=12, batch=30, sampler=FEW)
        )
        twice.append(network.state_dict())
    assert all(torch.equal(twice[0][name], twice[1][name]) for name in twice[0])
    seen: dict[float, list[Tensor]] = {}
    for lam in (0.0, 0.5):
        kept: list[Tensor] = seen.setdefault(lam, [])

        def look(x: Tensor, generator: torch.Generator, kept: list[Tensor] = kept) -> Tensor:
            kept.append(x.clone())
            return x

        train(small(), *data(), TrainPlan(lam=lam, iterations=5, batch=30, sampler=FEW), augment=look)
    assert all(torch.equal(a, b) for a, b in zip(seen[0.0], seen[0.5], strict=True))


class Exploding(nn.Module):
    """Becomes useless at a call, for a number of times."""

    def __init__(self, at: int, times: int) -> None:
        super().__init__()
        self.inner, self.calls, self.at, self.left = small(), 0, at, times

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        logits: Tensor = self.inner(x)
        if self.calls >= self.at and self.left:
            self.left -= 1
            return logits * math.nan
        return logits


def test_divergence_goes_back_and_is_counted() -> None:
    network = Exploding(at=8, times=2)
    found = train(network, *data(), TrainPlan(lam=0.0, iterations=20, batch=30, every=5))
    assert found.restarts == 2
    assert accuracy(network) > 0.3
    assert all(bool(p.isfinite().all()) for p in network.parameters())


def test_a_diverged_model_is_never_returned() -> None:
    with pytest.raises(JEMDiverged, match="diverged at iteration 0 after 3 restarts"):
        train(Exploding(at=1, times=100), *data(), TrainPlan(lam=0.5, iterations=20, batch=30, sampler=FEW))


def test_energies_that_run_away_are_divergence() -> None:
    network = small()
    with torch.no_grad():
        list(network.parameters())[-1].fill_(1e5)
    with pytest.raises(JEMDiverged):
        train(network, *data(), TrainPlan(lam=0.0, iterations=3, batch=30))


def test_a_gap_far_beyond_its_median_is_worth_a_warning() -> None:
    found = Diagnosis()
    for _ in range(101):
        found.note_chains(0.1, 0.0)
    found.note_chains(0.5, 0.0)
    assert not found.warnings
    found.note_chains(5.0, 0.2)
    assert len(found.warnings) == 1
    assert found.summary()["warnings"] == 1


def test_energies_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)]])
    assert energies(logits, None).item() == pytest.approx(-math.log(4))
    assert energies(logits, torch.tensor([1])).item() == pytest.approx(-math.log(3))
    assert contrastive(torch.tensor([1.0]), torch.tensor([3.0])).item() == pytest.approx(-2 + 0.05 * (1 + 9))


class Gaussian(nn.Module):
    """One logit: the log density of a normal distribution of variance `v`."""

    def __init__(self, v: float) -> None:
        super().__init__()
        self.v = v

    def forward(self, x: Tensor) -> Tensor:
        return -x.flatten(1).square().sum(dim=1, keepdim=True) / (2 * self.v)


def test_denoising_is_least_for_the_true_density() -> None:
    """Data of variance 1 with noise of variance 1: the score is that of variance 2, and the loss is then 1 / 2."""
    x = torch.randn(4_000, 1, 2, 2, generator=torch.Generator().manual_seed(1))
    losses = {
        v: denoising(Gaussian(v), x, scales=(1.0, 1.0), generator=torch.Generator().manual_seed(2)).item()
        for v in (1.5, 2.0, 3.0)
    }
    assert min(losses, key=losses.__getitem__) == 2.0
    assert losses[2.0] == pytest.approx(0.5, abs=0.02)


def test_a_reference_alone_is_a_density_too() -> None:
    x = torch.randn(4_000, 1, 2, 2, generator=torch.Generator().manual_seed(1))
    flat = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    for p in flat.parameters():
        nn.init.zeros_(p)
    found = denoising(
        flat,
        x,
        scales=(1.0, 1.0),
        generator=torch.Generator().manual_seed(2),
        reference=reference_of(x, scales=(1, 1)),
    )
    assert found.item() == pytest.approx(0.5, abs=0.02)


def test_langevin_goes_downhill_and_stays_in_range() -> None:
    start = torch.full((8, 1, 2, 2), 0.9)
    sampler = Sampler(size=1.0, clip=0.05, noise=0.0)
    moved = langevin(
        lambda x: x.square().flatten(1).sum(1), start, sampler, steps=10, generator=torch.Generator()
    )
    assert torch.allclose(moved, torch.full_like(moved, 0.4), atol=1e-5)  # ten steps of the clipped 0.05
    away = langevin(lambda x: -9 * x.flatten(1).sum(1), start, sampler, steps=50, generator=torch.Generator())
    assert bool(((away <= HIGH) & (away >= LOW)).all())


def test_chains_of_classes_keep_them_and_a_checkpoint_brings_them_back() -> None:
    chains = Chains((1, 4, 4), FEW, torch.Generator().manual_seed(0), classes=3)
    before = chains.state()
    x, labels = chains.draw(small(), 10, steps=2)
    assert labels is not None
    assert (x.shape, labels.shape) == ((10, 1, 4, 4), (10,))
    assert not torch.equal(chains.state(), before)
    chains.restore(before)
    assert torch.equal(chains.state(), before)


def test_the_schedule_rises_and_falls() -> None:
    assert one_cycle(0.3) == pytest.approx(1.0)
    assert one_cycle(0.0) < 0.05
    assert one_cycle(1.0) == pytest.approx(0.0)


def test_robust_and_autoencoder_training() -> None:
    torch.manual_seed(0)
    network, x, y = EnergyCnn(), torch.rand(8, 1, 32, 32) * 2 - 1, torch.arange(8)
    moved = attacked(network, x, y, generator=torch.Generator().manual_seed(0))
    assert float((moved - x).abs().max()) <= EPSILON + 1e-6
    loss = nn.functional.cross_entropy
    with torch.no_grad():
        assert float(loss(network(moved), y)) > float(loss(network(x), y))
    train_robust(network, x, y, iterations=2, rate=1e-3, seed=0)
    first = train_autoencoder(EnergyCnn().features, x, iterations=2, rate=1e-3, seed=0)
    later = train_autoencoder(EnergyCnn().features, x, iterations=25, rate=5e-3, seed=0)
    assert later < first
