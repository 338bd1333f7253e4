"""Runs the two halves of a task of the family `alignment` in this process, as an engine would."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.artifacts import artifact_digest
from bench.catalog.alignment import DATASETS, MODELS, TASKS
from bench.registry import resolve
from bench.spec import Artifact, Context, Measure, TaskInfo, TaskOutput, Unit
from bench.validate import check_output

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


@functools.cache
def load(name: str) -> Any:
    return resolve(next(card for card in DATASETS if card.name == name).entry)()


@dataclass
class Lab:
    """Collects and scores in `folder`; the cache is shared by all tests."""

    folder: Path
    cache: Path
    runs: int = 0

    def info(self, task: str) -> TaskInfo:
        return next(t for t in TASKS if t.name == f"alignment.{task}")

    def unit(self, task: str, dataset: str = "", **settings: Any) -> Unit:
        info = self.info(task)
        plan = info.sizes["tiny"]
        return Unit(
            task=info.name, dataset=dataset or plan.datasets[0], repeat=0, size="tiny", seed=5, limit=None,
            settings={**plan.settings, **settings},
        )  # fmt: skip

    def context(self, unit: Unit) -> Context:
        self.runs += 1
        home = self.folder / f"job{self.runs}"
        for name in ("artifact", "exhibits"):
            (home / name).mkdir(parents=True)
        return Context(
            device="cpu", seed=unit.seed, size=unit.size, limit=None, deadline=time.monotonic() + 600,
            cache_dir=self.cache, artifact_dir=home / "artifact", exhibit_dir=home / "exhibits", load_dataset=load,
        )  # fmt: skip

    def task(self, unit: Unit) -> Any:
        info = self.info(unit.task.partition(".")[2])
        task = resolve(info.entry)()
        task.info = info
        return task

    def collect(self, adapter: Any, unit: Unit) -> tuple[Artifact, Context]:
        ctx = self.context(unit)
        if hasattr(adapter, "setup"):
            adapter.setup(ctx)
        notes = self.task(unit).collect(adapter, unit, ctx)
        return Artifact(dir=ctx.artifact_dir, sha256=artifact_digest(ctx.artifact_dir)[0], notes=notes), ctx

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        task = self.task(unit)
        task.check_artifact(artifact, unit, ctx)
        output: TaskOutput = task.score(artifact, unit, ctx)
        check_output(output, task.info, ctx.exhibit_dir)
        return output

    def run(self, adapter: Any, unit: Unit) -> TaskOutput:
        artifact, ctx = self.collect(adapter, unit)
        return self.score(artifact, unit, ctx)


def values(measures: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: m.value if isinstance(m, Measure) else m for name, m in measures.items()}


def model(name: str) -> Any:
    """A reference model, as the catalogue makes it."""
    card = next(m for m in MODELS if m.name == name)
    made = resolve(card.entry)(**card.params)
    made.info = card
    return made


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("alignment-cache")


@pytest.fixture
def lab(tmp_path: Path, kept: Path) -> Lab:
    torch.manual_seed(0)
    return Lab(tmp_path, kept)


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of people, served as a mirror; skips where they are not."""
    if not (SHARED / "human_alignment" / "human_trials_17datasets.parquet").exists():
        pytest.skip("human data not found in ../shared/data/human_alignment beside the repository")
    monkeypatch.setenv("BENCH_MIRROR", str(SHARED))
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD", raising=False)
