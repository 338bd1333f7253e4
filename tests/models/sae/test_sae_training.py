"""The shared trainer: gradients against autograd, sparse against dense, what each coder promises."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget, as_dense
from bench.models.sae import _sparse
from bench.models.sae._pursuit import pursue
from bench.models.sae._training import Schedule, Weights, dense_gradients, initial, preactivations, train
from bench.models.sae.batchtopk import BatchTopK, Cut, shared_top
from bench.models.sae.controls import FrozenDecoder, FrozenEncoder, SoftFrozen
from bench.models.sae.gated import _gated
from bench.models.sae.jumprelu import JumpReLU
from bench.models.sae.matryoshka import Matryoshka, group_ends
from bench.models.sae.padl import shrink_columns
from bench.models.sae.relu_l1 import ReluL1
from bench.models.sae.topk import Silence, TopK, add_auxiliary

B, D, M, K = 40, 7, 24, 3


def batch(seed: int = 0) -> Tensor:
    return torch.randn(B, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights(seed: int = 1) -> Weights:
    rng = torch.Generator().manual_seed(seed)
    return {
        "enc": torch.randn(M, D, generator=rng, dtype=torch.float64),
        "b_enc": torch.randn(M, generator=rng, dtype=torch.float64) / 3,
        "dec": torch.randn(M, D, generator=rng, dtype=torch.float64),
        "b_dec": torch.randn(D, generator=rng, dtype=torch.float64) / 3,
    }


def check(found: dict[str, Tensor], loss: Tensor, w: Weights) -> None:
    """`found` must be what autograd says of `loss`."""
    for name, gradient in zip(w, torch.autograd.grad(loss, list(w.values())), strict=True):
        torch.testing.assert_close(found[name], gradient, rtol=1e-9, atol=1e-9, msg=name)


def required(w: Weights) -> Weights:
    return {name: value.clone().requires_grad_() for name, value in w.items()}


def rebuilt(codes: Tensor, w: Weights) -> Tensor:
    return codes @ w["dec"] + w["b_dec"]


def test_sparse_gradients_are_those_of_autograd() -> None:
    rows, w = batch(), weights()
    centred, pre = preactivations(rows, w)
    values, indices = _sparse.top(pre, K)
    residual = _sparse.decode(values, indices, w) - rows
    found = _sparse.gradients(values, indices, centred, residual * (2 / B), w)
    g = required(w)
    top = preactivations(rows, g)[1].topk(K, dim=1)
    codes = torch.zeros(B, M, dtype=torch.float64).scatter(1, top.indices, top.values.relu())
    check(found, (rebuilt(codes, g) - rows).square().sum() / B, g)
    dense = torch.zeros(B, M, dtype=torch.float64).scatter_(1, indices, values)
    d_codes = (residual * (2 / B) @ w["dec"].T) * (dense > 0)
    for name, gradient in dense_gradients(dense, d_codes, centred, residual * (2 / B), w).items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("together", [0.0, 0.7])
def test_gradients_of_the_penalised_coder(together: float) -> None:
    rows, w = batch(), weights()
    coder = ReluL1(together=together)
    centred, pre = preactivations(rows, w)
    _, found = coder._objective(rows, centred, pre.relu(), w, 0.3)
    g = required(w)
    codes = preactivations(rows, g)[1].relu() * 1.0
    lengths = g["dec"].norm(dim=1)
    penalty = 0.3 * ((codes * lengths).sum() / B + together * (codes.max(dim=0).values * lengths).sum())
    check(found, (rebuilt(codes, g) - rows).square().sum() / B + penalty, g)


def test_gradients_of_the_gated_coder() -> None:
    rows, w = batch(), weights()
    w |= {
        "r_mag": torch.full((M,), 0.2, dtype=torch.float64),
        "b_mag": torch.full((M,), 0.1, dtype=torch.float64),
    }
    loss, found, _ = _gated(rows, w, 0.4)
    g = required(w)
    products = (rows - g["b_dec"]) @ g["enc"].T
    gate = products + g["b_enc"]
    codes = (gate > 0) * (products * g["r_mag"].exp() + g["b_mag"]).relu()
    second = gate.relu() @ w["dec"] + w["b_dec"]
    expected = (
        (rebuilt(codes, g) - rows).square().sum() + (second - rows).square().sum() + 0.4 * gate.relu().sum()
    ) / B
    check(found, expected, g)
    assert float(loss) == pytest.approx(float(expected))


def test_gradients_of_prefixes() -> None:
    rows, w = batch(), weights()
    objective = Matryoshka()._objective(
        K, Silence(M, TrainBudget(train_rows=10**9, seconds=1), rows.device), Cut()
    )
    loss, found = objective(rows, w, 0.5)
    g = required(w)
    codes = shared_top(preactivations(rows, g)[1], K)[0]
    expected = (
        sum((codes[:, :e] @ g["dec"][:e] + g["b_dec"] - rows).square().sum() for e in group_ends(M)) / B
    )
    check(found, torch.as_tensor(expected), g)
    assert float(loss) == pytest.approx(float(expected))


def test_groups_of_prefixes_cover_every_latent_once() -> None:
    assert group_ends(128) == [4, 12, 28, 60, 128]
    assert group_ends(3)[-1] == 3


def test_thresholds_learn_by_the_rectangle() -> None:
    rows, w = batch(), weights()
    w["threshold"] = torch.full((M,), 0.4, dtype=torch.float64)
    coder = JumpReLU(width=0.5)
    _, found = coder._objective(rows, w, 0.2, 2.0)
    _, pre = preactivations(rows, w)
    active = pre > w["threshold"]
    codes = torch.where(active, pre, 0.0)
    push = (codes @ w["dec"] + w["b_dec"] - rows) * (2 / B) @ w["dec"].T
    near = ((pre - 0.4).abs() < 0.25) / 0.5
    gap = float(active.sum()) / B - 2.0
    expected = (-(0.4) * near * push).sum(dim=0) - 0.2 * 2 * gap * near.sum(dim=0) / B
    torch.testing.assert_close(found["threshold"], expected)


def test_the_auxiliary_loss_rebuilds_the_error_without_bias_and_leaves_the_rest_alone() -> None:
    rows, w = batch(), weights()
    dead = torch.tensor([1, 5, 8, 20])
    centred, pre = preactivations(rows, w)
    values, indices = _sparse.top(pre, K)
    residual = _sparse.decode(values, indices, w) - rows
    found = {name: torch.zeros_like(value) for name, value in w.items()}
    add_auxiliary(found, dead, centred, pre, residual, w)
    g = required(w)
    again = ((rows - w["b_dec"]) @ g["enc"].T + g["b_enc"])[:, dead]
    top = again.topk(D // 2, dim=1)
    codes = torch.zeros(B, 4, dtype=torch.float64).scatter(1, top.indices, top.values.relu())
    scale = 1 / 32 * min(1.0, 4 / (D // 2))
    loss = scale * (codes @ g["dec"][dead] + residual).square().sum() / B
    names = ["enc", "b_enc", "dec"]
    for name, gradient in zip(names, torch.autograd.grad(loss, [g[n] for n in names]), strict=True):
        torch.testing.assert_close(found[name], gradient, rtol=1e-9, atol=1e-9)
    assert not found["b_dec"].any()


def data(n: int = 3_000) -> Activations:
    """Sparse sums of 16 directions in 8 dimensions."""
    rng = torch.Generator().manual_seed(3)
    atoms = torch.randn(16, 8, generator=rng)
    rows = (torch.rand(n, 16, generator=rng) < 0.12).float() @ (atoms / atoms.norm(dim=1, keepdim=True))
    rows *= math.sqrt(8) / float(rows.norm(dim=1).mean())
    return Activations(rows=rows, mean=rows.mean(dim=0), scale=1.0)


BUDGET = TrainBudget(train_rows=60_000, seconds=100.0)


@pytest.mark.parametrize(
    "coder", [TopK(), BatchTopK(), ReluL1(), JumpReLU(), Matryoshka()], ids=lambda c: type(c).__name__
)
def test_training_explains_the_rows_at_the_wanted_sparsity(coder: TopK) -> None:
    rows = data()
    coder.fit(rows, n_latents=16, target_l0=2, budget=BUDGET, seed=0, device="cpu")
    codes = as_dense(coder.encode(rows.rows))
    error = (coder.decode(codes) - rows.rows).square().sum() / (rows.rows - rows.mean).square().sum()
    assert float(error) < 0.6
    assert float((codes != 0).sum(dim=1).float().mean()) == pytest.approx(2, abs=1.2)
    atoms = coder.decoder()
    assert atoms is not None
    if not isinstance(coder, ReluL1):
        assert atoms[0].norm(dim=1).numpy() == pytest.approx(1.0, abs=1e-5)


def test_batchtopk_encodes_rows_one_by_one() -> None:
    rows, coder = data(), BatchTopK()
    coder.fit(rows, n_latents=16, target_l0=2, budget=BUDGET, seed=0, device="cpu")
    together = as_dense(coder.encode(rows.rows[:50]))
    alone = torch.cat([as_dense(coder.encode(row[None])) for row in rows.rows[:50]])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


def test_controls_keep_what_they_freeze() -> None:
    rows = data(500)
    small = TrainBudget(train_rows=5_000, seconds=100.0)
    start = initial(rows, 16, torch.Generator().manual_seed(0))["dec"]
    for coder, name in ((FrozenDecoder(), "dec"), (FrozenEncoder(), "enc")):
        coder.fit(rows, n_latents=16, target_l0=2, budget=small, seed=0, device="cpu")
        assert torch.equal(coder._weights[name], start)
    soft = SoftFrozen()
    soft.fit(rows, n_latents=16, target_l0=2, budget=small, seed=0, device="cpu")
    assert float((soft._weights["dec"] * start).sum(dim=1).min()) >= 0.8 - 1e-4
    assert not torch.equal(soft._weights["dec"], start)


def test_more_latents_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="asks for k=20 of 16 latents"):
        TopK().fit(data(50), n_latents=16, target_l0=20, budget=BUDGET, seed=0, device="cpu")


def test_training_stops_where_the_loss_is_no_number() -> None:
    rows = data(100)
    w = initial(rows, 4, torch.Generator().manual_seed(0))

    def objective(x: Tensor, now: Weights, done: float) -> tuple[Tensor, Weights]:
        value = math.nan if done >= 0.5 else 1.0
        return torch.tensor(value), {name: torch.zeros_like(v) for name, v in now.items()}

    budget = TrainBudget(train_rows=2_560, seconds=100.0)
    with torch.no_grad():
        ended = train(objective, w, rows, budget=budget, schedule=Schedule(batch=256), seed=0)
    assert (ended.diverged, ended.steps, ended.loss) == (True, 5, 1.0)
    with torch.no_grad():
        hurried = train(
            lambda x, now, d: (torch.tensor(1.0), {n: torch.zeros_like(v) for n, v in now.items()}),
            w, rows, budget=TrainBudget(train_rows=2_560, seconds=0.0), schedule=Schedule(batch=256), seed=0,
        )  # fmt: skip
    assert hurried.out_of_time


def test_columns_shrink_as_the_definition_of_the_proximal_map_says() -> None:
    codes = torch.tensor([[3.0, 0.2], [-1.0, 0.1], [0.5, -0.1]])
    found = shrink_columns(codes, 1.0)
    assert found[:, 0].tolist() == pytest.approx([2.0, -1.0, 0.5])
    assert found[:, 1].tolist() == [0.0, 0.0, 0.0]

    def cost(r: Tensor) -> Tensor:
        return 0.5 * (r - codes).square().sum() + r.abs().max(dim=0).values.sum()

    rng = torch.Generator().manual_seed(0)
    nearby = [cost(found + 0.05 * torch.randn(3, 2, generator=rng)) for _ in range(200)]
    assert min(nearby) >= cost(found) - 1e-6


def test_pursuit_finds_a_sparse_code() -> None:
    rng = torch.Generator().manual_seed(0)
    atoms = torch.linalg.qr(torch.randn(8, 8, generator=rng))[0]
    truth = torch.zeros(20, 8).scatter_(1, torch.randint(8, (20, 1), generator=rng), -2.0)
    values, indices = pursue(truth @ atoms, atoms, 1)
    assert torch.zeros(20, 8).scatter_(1, indices, values).numpy() == pytest.approx(truth.numpy(), abs=1e-4)
