"""The worked examples in the docstrings hold."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ["chamfer", "density_coverage", "frechet", "kernel", "precision_recall"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"bench.metrics.images.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
