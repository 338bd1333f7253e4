"""`images.human_correlation`: the published correlations, tables of others, faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.adapters.images import MetricTable
from bench.artifacts import artifact_digest
from bench.catalog.images_human import HUMAN_DATASETS, HUMAN_TASK
from bench.errors import InvalidOutput
from bench.models.images.published import PublishedMetrics
from bench.registry import resolve
from bench.spec import Artifact, Context, TaskOutput, Unit
from bench.tasks.images.human_correlation import HumanCorrelation
from bench.validate import check_output


@pytest.fixture
def task() -> HumanCorrelation:
    made = HumanCorrelation()
    made.info = HUMAN_TASK
    return made


def load(name: str) -> Any:
    return resolve(next(card for card in HUMAN_DATASETS if card.name == name).entry)()


def unit_and_context(folder: Path, dataset: str) -> tuple[Unit, Context]:
    unit = Unit(
        task=HUMAN_TASK.name, dataset=dataset, repeat=0, size="small", seed=1, limit=None, settings={}
    )
    for name in ("artifact", "exhibits"):
        (folder / name).mkdir()
    context = Context(
        device="cpu", seed=1, size="small", limit=None, deadline=1e12, cache_dir=folder,
        artifact_dir=folder / "artifact", exhibit_dir=folder / "exhibits", load_dataset=load,
    )  # fmt: skip
    return unit, context


def run(task: HumanCorrelation, adapter: Any, folder: Path, dataset: str) -> TaskOutput:
    unit, context = unit_and_context(folder, dataset)
    notes = task.collect(adapter, unit, context)
    artifact = Artifact(
        dir=context.artifact_dir, sha256=artifact_digest(context.artifact_dir)[0], notes=notes
    )
    task.check_artifact(artifact, unit, context)
    output = task.score(artifact, unit, context)
    check_output(output, HUMAN_TASK, context.exhibit_dir)
    return output


def values(output: TaskOutput) -> dict[str, Any]:
    return {name: getattr(measure, "value", measure) for name, measure in output.metrics.items()}


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("human-cifar10", {"fd": -0.967, "precision": -0.3857, "recall": 0.9464, "coverage": 0.9725}),
        ("human-imagenet256", {"fd": -0.8364, "precision": 0.6743, "coverage": 0.8519}),
        ("human-lsun-bedroom", {"fd": -0.9762, "kd": -1.0}),
        ("human-ffhq256", {"fd": -0.3833}),
    ],
)
def test_published_correlations(
    dataset: str, expected: dict[str, float], task: HumanCorrelation, tmp_path: Path
) -> None:
    output = run(task, PublishedMetrics(), tmp_path, dataset)
    found = values(output)
    for metric, value in expected.items():
        assert found[metric] == pytest.approx(value, abs=1e-3), metric
    records = json.loads((tmp_path / "exhibits" / "models.json").read_text())
    assert len(records) == len(load(dataset).models)
    assert records[0]["fd"] == load(dataset).models[0].metrics["fd"]


def test_what_was_not_published_says_so(task: HumanCorrelation, tmp_path: Path) -> None:
    output = run(task, PublishedMetrics(), tmp_path, "human-ffhq256")
    measure: Any = output.metrics["ct"]
    assert measure.value is None
    assert "published" in measure.reason


class Mine(MetricTable):
    def __init__(self, table: Mapping[str, Sequence[float]]) -> None:
        self._table = table

    def values(self, dataset: str, models: Sequence[str]) -> Mapping[str, Sequence[float]]:
        assert models[0] == "Projected-GAN"
        return self._table


def test_a_table_of_ones_own(task: HumanCorrelation, tmp_path: Path) -> None:
    output = run(
        task, Mine({"kd": [8.0, 7, 6, 5, 4, 3, 2, 1], "recall": [0.5] * 8}), tmp_path, "human-lsun-bedroom"
    )
    found = values(output)
    assert found["kd"] < -0.9
    assert (found["recall"], found["fd"]) == (None, None)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no metric was computed"),
        ({"fd": [1.0] * 7}, r"fd: expected 8 numbers, got float64 \(7,\)"),
        ({"fd": ["a"] * 8}, "fd: expected 8 numbers"),
        ({"fd": [1.0] * 7 + [float("nan")]}, "fd: value 7 is not finite"),
        ({"fid": [1.0] * 8}, "'fid' is no metric of this task; use fd, "),
    ],
)
def test_bad_tables_are_explained(table: Any, message: str, task: HumanCorrelation, tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match=message):
        run(task, Mine(table), tmp_path, "human-lsun-bedroom")


def test_artifacts_from_elsewhere(task: HumanCorrelation, tmp_path: Path) -> None:
    unit, context = unit_and_context(tmp_path, "human-ffhq256")
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    told = task.export_inputs(unit, context, inputs)
    names = json.loads((inputs / "models.json").read_text())
    assert told["n"] == len(names) == 9
    np.savez(context.artifact_dir / "values.npz", fd=np.arange(4.0))
    artifact = Artifact(dir=context.artifact_dir, sha256="", notes={})
    with pytest.raises(InvalidOutput, match=r"values.npz: fd: expected 9 numbers"):
        task.check_artifact(artifact, unit, context)
