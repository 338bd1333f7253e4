"""What every registered coder must keep, whatever it is."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import sklearn.decomposition  # noqa: F401  imported here, as its first import draws random numbers
import torch

from bench.adapters.sae import Activations, SparseCoder, TrainBudget, TruthCoder, as_dense
from bench.adapters.sae_proxies import Proxy
from bench.adapters.sae_representations import Representation
from bench.catalog.sae import MODELS, TASKS
from bench.registry import resolve
from bench.tasks.sae.contract import check_decoder, check_rowwise, encode_rows

KIND = {info.name: resolve(info.entry) for info in MODELS}
CODERS = [info for info in MODELS if issubclass(KIND[info.name], SparseCoder)]
DIM, LATENTS, L0 = 8, 16, 2.0


@pytest.fixture(scope="module")
def data() -> Activations:
    rng = torch.Generator().manual_seed(0)
    atoms = torch.nn.functional.normalize(torch.randn(LATENTS, DIM, generator=rng), dim=1)
    rows = (torch.rand(600, LATENTS, generator=rng) < 0.12).float() @ atoms
    return Activations(rows=rows, mean=rows.mean(dim=0), scale=1.0)


def fitted(info: Any, data: Activations, seed: int = 1) -> SparseCoder:
    coder: SparseCoder = KIND[info.name](**info.params)
    if isinstance(coder, TruthCoder):
        rng = torch.Generator().manual_seed(0)
        coder.learn_truth(torch.nn.functional.normalize(torch.randn(LATENTS, DIM, generator=rng), dim=1))
    budget = TrainBudget(train_rows=2_560, seconds=60.0)
    coder.fit(data, n_latents=LATENTS, target_l0=L0, budget=budget, seed=seed, device="cpu")
    return coder


@pytest.mark.parametrize("info", MODELS, ids=lambda info: info.name)
def test_cards_are_complete(info: Any) -> None:
    assert info.title
    assert info.summary.endswith(".")
    assert info.license
    assert info.baseline == ("baseline" in info.tags)
    assert info.baseline or info.paper
    assert issubclass(KIND[info.name], (SparseCoder, Proxy, Representation))
    assert any(task.takes(info) for task in TASKS)
    assert info in CODERS or info.only_tasks


@pytest.mark.parametrize("info", [c for c in CODERS if c.name != "oracle-codes"], ids=lambda info: info.name)
def test_coders_keep_the_contract(info: Any, data: Activations) -> None:
    before = (torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate())  # noqa: NPY002
    rows = data.rows.clone()
    coder = fitted(info, data)
    codes = encode_rows(coder, data.rows[:100], most_latents=LATENTS)
    check_rowwise(coder, data.rows[:100], codes)
    linear = check_decoder(coder, data.rows[:100])
    assert linear is not None
    assert codes.shape == (100, len(linear[0]))
    encoder = coder.encoder()
    assert encoder is None or encoder.shape == (DIM, codes.shape[1])
    again = encode_rows(fitted(info, data), data.rows[:100], most_latents=LATENTS)
    assert (codes != again).nnz == 0
    other = encode_rows(fitted(info, data, seed=2), data.rows[:100], most_latents=LATENTS)
    differs = codes.shape != other.shape or (codes != other).nnz > 0
    assert differs != ("deterministic" in info.tags)
    assert torch.equal(rows, data.rows)
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
    assert before[2] == random.getstate()


def test_the_true_codes_are_a_side_channel(data: Activations) -> None:
    coder = fitted(next(i for i in CODERS if i.name == "oracle-codes"), data)
    assert isinstance(coder, TruthCoder)
    factors = torch.rand(5, LATENTS)
    assert coder.encode_known(data.rows[:5], factors).numpy() == pytest.approx(factors.numpy(), abs=1e-5)
    with pytest.raises(NotImplementedError, match="true factors"):
        coder.encode(data.rows)


def test_a_second_fit_starts_anew(data: Activations) -> None:
    info = next(i for i in CODERS if i.name == "sae-topk")
    coder = fitted(info, data)
    first = as_dense(coder.encode(data.rows[:20]))
    small = TrainBudget(train_rows=512, seconds=60.0)
    coder.fit(data, n_latents=4, target_l0=1, budget=small, seed=0, device="cpu")
    assert as_dense(coder.encode(data.rows[:20])).shape == (20, 4)
    budget = TrainBudget(train_rows=2_560, seconds=60.0)
    coder.fit(data, n_latents=LATENTS, target_l0=L0, budget=budget, seed=1, device="cpu")
    assert torch.equal(first, as_dense(coder.encode(data.rows[:20])))
