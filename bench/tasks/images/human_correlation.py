"""Task `images.human_correlation`: do published metrics rank published models as people do?

What takes part is a table of metric values, made in the feature space of one encoder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.artifacts import load_npz
from bench.datasets.images.human import PublishedModels
from bench.errors import InvalidOutput
from bench.metrics.images.rank_agreement import rank_agreement
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit

VALUES_FILE = "values.npz"
METHOD = "Fisher's z, standard error of Bonett & Wright (2000), over models"


class HumanCorrelation(Task):
    """Correlates metric values of published models with human error rates.

    Artifact: `values.npz` with one float64 (models,) array for each metric that was computed, in the order of the
    unit's models.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Ask for the values of every metric; `published` adapters take those of the published table."""
        models: PublishedModels = ctx.load_dataset(unit.dataset)
        names = [metric.name for metric in self.info.metrics]
        if getattr(adapter, "published", False):
            given = {name: found for name in names if (found := models.values(name)) is not None}
        else:
            given = adapter.values(unit.dataset, [model.name for model in models.models])
        np.savez(ctx.artifact_dir / VALUES_FILE, **_checked(given, names, len(models.models)))  # type: ignore[arg-type]
        return {"models": len(models.models)}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`models.json`: names of the models whose samples are to be measured."""
        models: PublishedModels = ctx.load_dataset(unit.dataset)
        names = [model.name for model in models.models]
        (folder / "models.json").write_text(json.dumps(names), encoding="utf-8")
        return {
            "n": len(names),
            "files": {"models.json": "names of the published models, in order"},
            "output": {VALUES_FILE: f"for each metric that you computed an array float64 ({len(names)},)"},
            "metrics": [metric.name for metric in self.info.metrics],
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite numbers, one for each model."""
        self._read(artifact, ctx.load_dataset(unit.dataset))

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Spearman correlations, and the values behind them as a table."""
        models: PublishedModels = ctx.load_dataset(unit.dataset)
        given = self._read(artifact, models)
        measures = {
            metric.name: _measure(given.get(metric.name), models.rates()) for metric in self.info.metrics
        }
        return TaskOutput(
            metrics=measures,
            exhibits=(_table(models, given, ctx.exhibit_dir),),
            notes={"models": len(models.models), "people": models.title},
        )

    def _read(self, artifact: Artifact, models: PublishedModels) -> dict[str, list[float]]:
        names = [metric.name for metric in self.info.metrics]
        arrays = load_npz(artifact.path(VALUES_FILE), [], optional=names)
        try:
            found = _checked(arrays, names, len(models.models))
        except InvalidOutput as error:
            raise InvalidOutput(f"{VALUES_FILE}: {error}") from None
        return {name: [float(value) for value in values] for name, values in found.items()}


def _checked(given: Mapping[str, Any], names: Sequence[str], count: int) -> dict[str, np.ndarray]:
    """Arrays float64 (count,) by metric; else `InvalidOutput`."""
    strangers = sorted(set(given) - set(names))
    if strangers:
        raise InvalidOutput(f"{strangers[0]!r} is no metric of this task; use {', '.join(names)}")
    if not given:
        raise InvalidOutput("no metric was computed")
    found = {}
    for name, values in given.items():
        array = np.asarray(values)
        if array.dtype.kind not in "fiu" or array.shape != (count,):
            raise InvalidOutput(f"{name}: expected {count} numbers, got {array.dtype} {array.shape}")
        if not np.isfinite(array).all():
            raise InvalidOutput(f"{name}: value {int(np.flatnonzero(~np.isfinite(array))[0])} is not finite")
        found[name] = array.astype(np.float64)
    return found


def _measure(values: Sequence[float] | None, rates: Sequence[float]) -> Measure:
    if values is None:
        return Measure(value=None, reason="no value was published for all of these models")
    if min(values) == max(values):
        return Measure(value=None, n=len(values), reason="all models have the same value")
    found = rank_agreement(metric=values, rates=rates)
    if found.low is None:
        return Measure(value=found.value, n=found.n, reason="no interval: the orders agree completely")
    return Measure(value=found.value, ci_low=found.low, ci_high=found.high, ci_method=METHOD, n=found.n)


def _table(models: PublishedModels, given: Mapping[str, Sequence[float]], folder: Path) -> Exhibit:
    records = [
        {
            "model": model.name,
            "human_error_rate": model.human_error_rate,
            **{name: values[row] for name, values in given.items()},
        }
        for row, model in enumerate(models.models)
    ]
    (folder / "models.json").write_text(json.dumps(records, allow_nan=False), encoding="utf-8")
    caption = "Metric values of the published models, and the share of their images that people took for real"
    return Exhibit(name="models", kind="table", file="models.json", caption=caption)
