"""Built sites that several test modules look at."""

from __future__ import annotations

import re
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
        """A page, with the end tags of cells and rows that HTML lets one leave out."""
        return with_end_tags((self.out / name).read_text("utf-8"))


def with_end_tags(page: str) -> str:
    cells = re.sub(
        r"(<(t[dh])\b[^>]*>(?:(?!</?t[dhr]\b|</t(?:head|body)).)*)(?=<t[dh]\b|</tr>|<tr\b|\s*</tbody>)",
        r"\1</\2>",
        page,
        flags=re.S,
    )
    return re.sub(r"(</t[dh]>)(\s*)(?=<tr\b|</tbody>)", r"\1</tr>\2", cells)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp("standard")
    store = fabricate.standard_store(root / "store")
    return Built(store, root / "site", build_site([store], root / "site", registry=fabricate.registry()))


@pytest.fixture(scope="session")
def large_site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """40 models x 60 tasks with eight metrics each."""
    root = tmp_path_factory.mktemp("large")
    store = fabricate.large_store(root / "store", n_models=40, n_tasks=60, n_metrics=8)
    registry = fabricate.large_registry(60, 8)
    return Built(store, root / "site", build_site([store], root / "site", registry=registry))


@pytest.fixture(scope="session")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A thousand models on one task."""
    root = tmp_path_factory.mktemp("long")
    store = fabricate.large_store(root / "store", n_models=1040, n_tasks=1, n_metrics=1, repeats=1)
    registry = fabricate.large_registry(1, 1)
    return Built(store, root / "site", build_site([store], root / "site", registry=registry))


@pytest.fixture(scope="session")
def ranked_site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Four models on seven tasks: a ranking with a critical difference, samples, an older version."""
    root = tmp_path_factory.mktemp("ranked")
    store = fabricate.ranked_store(root / "store")
    report = build_site([store], root / "site", registry=fabricate.ranked_registry())
    return Built(store, root / "site", report)
