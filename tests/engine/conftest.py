"""One warm engine for the tests that can share it, and orders for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.engine import LocalEngine
from bench.testing import build_order
from bench.work import WorkOrder

MakeOrder = Callable[..., WorkOrder]


@pytest.fixture
def make_order(tmp_path: Path) -> MakeOrder:
    def make(name: str, /, **fields: Any) -> WorkOrder:
        return build_order(name, tmp_path, **fields)

    return make


@pytest.fixture(scope="package")
def engine() -> Iterator[LocalEngine]:
    """Two warm slots. A supervisor takes seconds to start, so tests that can share them do."""
    engine = LocalEngine(2)
    yield engine
    engine.shutdown(kill=True)
