"""Built sites that several test modules look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.leaderboard.build import BuildReport, build_site
from tests.leaderboard import fabricate


@dataclass(frozen=True)
class Built:
    store: Path
    out: Path
    report: BuildReport

    def text(self, name: str) -> str:
        return (self.out / name).read_text("utf-8")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp("standard")
    store = fabricate.standard_store(root / "store")
    return Built(store, root / "site", build_site([store], root / "site", registry=fabricate.registry()))


@pytest.fixture(scope="session")
def large_site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """40 models x 60 tasks with three metrics each."""
    root = tmp_path_factory.mktemp("large")
    store = fabricate.large_store(root / "store", n_models=40, n_tasks=60, n_metrics=3)
    registry = fabricate.large_registry(60, 3)
    return Built(store, root / "site", build_site([store], root / "site", registry=registry))


@pytest.fixture(scope="session")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A thousand models on one task."""
    root = tmp_path_factory.mktemp("long")
    store = fabricate.large_store(root / "store", n_models=1040, n_tasks=1, n_metrics=1, repeats=1)
    registry = fabricate.large_registry(1, 1)
    return Built(store, root / "site", build_site([store], root / "site", registry=registry))
