"""Training steps of a TopK coder: ours, the same with dense autograd, and peers that are installed, in one run.

    pytest tests/benchmarks/test_sae_training.py --benchmark-only

Peers are the packages `eai-sparsify`, `dictionary-learning` and `sae-lens`; what is not installed is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from bench.adapters.sae import Activations, TrainBudget
from bench.models.sae.topk import TopK

pytest.importorskip("pytest_benchmark")

D, M, K, BATCH, STEPS = 576, 4_608, 32, 1_024, 3


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def rows() -> Tensor:
    return torch.randn(8 * BATCH, D, generator=torch.Generator().manual_seed(0))


def measured(benchmark: Any, train: Callable[[], None]) -> None:
    benchmark.pedantic(train, rounds=3, warmup_rounds=1)
    if benchmark.enabled:  # in parallel it only shows that it runs
        benchmark.extra_info["rows_per_s"] = round(STEPS * BATCH / benchmark.stats["min"])


def test_ours(benchmark: Any, rows: Tensor) -> None:
    data = Activations(rows=rows, mean=rows.mean(dim=0), scale=1.0)
    budget = TrainBudget(train_rows=STEPS * BATCH, seconds=1e9)
    coder = TopK(aux=False, batch=BATCH)
    measured(
        benchmark,
        lambda: coder.fit(data, n_latents=M, target_l0=K, budget=budget, seed=0, device="cpu"),
    )


def test_dense_autograd(benchmark: Any, rows: Tensor) -> None:
    """What a plain implementation does: dense codes, gradients by autograd."""
    rng = torch.Generator().manual_seed(0)
    dec = torch.nn.functional.normalize(torch.randn(M, D, generator=rng), dim=1)
    weights = [t.requires_grad_() for t in (dec.clone(), torch.zeros(M), dec, torch.zeros(D))]
    enc, b_enc, dec, b_dec = weights
    optimizer = torch.optim.Adam(weights, fused=True)

    def train() -> None:
        for batch in rows.split(BATCH)[:STEPS]:
            top = ((batch - b_dec) @ enc.T + b_enc).topk(K, dim=1)
            codes = torch.zeros(BATCH, M).scatter(1, top.indices, top.values.relu())
            loss = (codes @ dec + b_dec - batch).square().sum() / BATCH
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward([loss])
            optimizer.step()

    measured(benchmark, train)


def test_sparsify(benchmark: Any, rows: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSIFY_DISABLE_TRITON", "1")  # its kernels need a GPU; without them it is eager
    sparsify = pytest.importorskip("sparsify", reason="eai-sparsify is not installed")
    config = sparsify.SparseCoderConfig(num_latents=M, k=K)
    coder = sparsify.SparseCoder(D, config)
    optimizer = torch.optim.Adam(coder.parameters(), fused=True)

    def train() -> None:
        for batch in rows.split(BATCH)[:STEPS]:
            loss = coder(batch).fvu
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    measured(benchmark, train)


def test_dictionary_learning(benchmark: Any, rows: Tensor) -> None:
    top_k = pytest.importorskip(
        "dictionary_learning.trainers.top_k",
        reason="dictionary-learning is not installed",
        exc_type=ImportError,
    )
    coder = top_k.AutoEncoderTopK(D, M, K)
    optimizer = torch.optim.Adam(coder.parameters(), fused=True)

    def train() -> None:
        for batch in rows.split(BATCH)[:STEPS]:
            loss = (coder(batch) - batch).square().sum() / BATCH
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    measured(benchmark, train)


def test_saelens(benchmark: Any, rows: Tensor) -> None:
    saes = pytest.importorskip(
        "sae_lens.saes.topk_sae", reason="sae-lens is not installed", exc_type=ImportError
    )
    config = saes.TopKTrainingSAEConfig(d_in=D, d_sae=M, k=K)
    coder = saes.TopKTrainingSAE(config)
    optimizer = torch.optim.Adam(coder.parameters(), fused=True)

    def train() -> None:
        for batch in rows.split(BATCH)[:STEPS]:
            loss = (coder(batch) - batch).square().sum() / BATCH
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    measured(benchmark, train)
