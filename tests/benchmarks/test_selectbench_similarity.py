"""Similarities of whole sets of molecules, beside RDKit's own bulk function and MOSES's formula on top of it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from rdkit import DataStructs

from bench.datasets.selectbench.drugs import approved_drugs
from bench.metrics.selectbench.fingerprints import internal_diversity, morgan, pack, snn, tanimoto

TIMER = time.process_time
N, BITS = 2_000, 1_024


@pytest.fixture(scope="module")
def bits() -> np.ndarray:
    """As many fingerprints as drugs give, the rest of the same density."""
    known = morgan([drug.smiles for drug in approved_drugs()][:200])
    density = np.unpackbits(known.view(np.uint8), axis=1).mean(axis=0)
    drawn: np.ndarray = np.random.default_rng(0).random((N, BITS)) < density
    return drawn


def vectors(bits: np.ndarray) -> list[Any]:
    found = []
    for row in bits:
        vector = DataStructs.ExplicitBitVect(BITS)
        vector.SetBitsFromList(np.flatnonzero(row).tolist())
        found.append(vector)
    return found


def rdkit_diversity(prints: list[Any]) -> float:
    return 1.0 - float(np.mean([np.mean(DataStructs.BulkTanimotoSimilarity(one, prints)) for one in prints]))


def rdkit_snn(prints: list[Any], others: list[Any]) -> float:
    return float(np.mean([max(DataStructs.BulkTanimotoSimilarity(one, others)) for one in prints]))


@pytest.mark.benchmark(group="internal diversity, 2,000 molecules", timer=TIMER)
@pytest.mark.parametrize("whose", ["ours", "rdkit"])
def test_internal_diversity(benchmark: Any, bits: np.ndarray, whose: str) -> None:
    packed, prints = pack(bits), vectors(bits)
    functions = {"ours": lambda: internal_diversity(packed), "rdkit": lambda: rdkit_diversity(prints)}
    found = benchmark.pedantic(functions[whose], rounds=2)
    assert found == pytest.approx(1.0 - tanimoto(packed, packed).mean(), abs=1e-9)


@pytest.mark.benchmark(group="nearest neighbours, 1,000 of 1,000 molecules", timer=TIMER)
@pytest.mark.parametrize("whose", ["ours", "rdkit"])
def test_nearest(benchmark: Any, bits: np.ndarray, whose: str) -> None:
    packed, prints = pack(bits), vectors(bits)
    half = N // 2
    functions = {
        "ours": lambda: snn(packed[:half], packed[half:]),
        "rdkit": lambda: rdkit_snn(prints[:half], prints[half:]),
    }
    found = benchmark.pedantic(functions[whose], rounds=2)
    assert found == pytest.approx(rdkit_snn(prints[:half], prints[half:]), abs=1e-9)
