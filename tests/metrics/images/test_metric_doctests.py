"""The worked examples in the docstrings hold."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "authenticity",
    "chamfer",
    "chamfer_median",
    "class_balance",
    "clipped",
    "copying",
    "curve_shapes",
    "density_coverage",
    "effective_rank",
    "fd_infinity",
    "frechet",
    "inception_score",
    "kernel",
    "memorisation",
    "precision_recall",
    "probabilistic",
    "rank_agreement",
    "rbf",
    "sliced_wasserstein",
    "straightness",
    "symmetric",
    "vendi",
    "verdicts",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"bench.metrics.images.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
